"""A retraining from its start to the decision: snapshot and starting model, events and status, promotion."""

from __future__ import annotations

import platform
import re
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sciextract import __version__
from sciextract.documents.schema import LabelSchema
from sciextract.documents.schema_file import parse_schema, schema_to_mapping
from sciextract.errors import (
    JobStoppedError,
    ModelMismatchError,
    ProjectError,
    SciextractError,
    as_command,
)
from sciextract.inference.batching import usable_cores
from sciextract.inference.extractor import Extractor
from sciextract.inference.model_folder import MANIFEST, ModelFolder, open_folder
from sciextract.metrics.promotion import GateReport
from sciextract.retraining.curves import draw_curves, figure_of
from sciextract.retraining.request import Ending, Order, ending_of
from sciextract.retraining.run_folder import MODEL, SNAPSHOT, Run, Status
from sciextract.retraining.snapshot import Manifest, Snapshot, build_snapshot, read_snapshot
from sciextract.store import open_project
from sciextract.workflows.events import Report
from sciextract.workflows.models import current, find_model, register, use
from sciextract.workflows.models.compare import gate

SHARES: Mapping[str, tuple[float, float]] = {
    "preparing": (0.0, 0.1),
    "training": (0.1, 0.8),
    "exporting": (0.8, 0.9),
    "gating": (0.9, 1.0),
}
"""Where in the whole job each state begins and ends, roughly as its time goes."""

_STEP_SECONDS = 0.5
_LEAST_SHARE = 0.12
"""Below, nothing can be said of the remaining time."""


class Narrator:
    """Keeps ``status.json`` and ``metrics.jsonl`` and passes events on.

    Args:
        run: The run folder.
        listener: Gets every event.
    """

    def __init__(self, run: Run, listener: Report) -> None:
        self._run = run
        self._listener = listener
        self._began = time.monotonic()
        self._stepped = 0.0
        self._values: dict[str, Any] = {}
        self._state = "preparing"

    @contextmanager
    def telling(
        self,
        interrupted: Callable[[], tuple[str, str]] | None = None,
        begins: str = "reading the project",
    ) -> Iterator[None]:
        """Writes how the block ended, whichever way it does.

        Args:
            interrupted: What an interrupt means, and the command that goes on after it; when ``None``, a training
                of this machine stops.
            begins: What is done first.
        """
        self.state("preparing", begins)
        try:
            yield
        except SciextractError as error:
            stopped = isinstance(error, JobStoppedError)
            self._end("stopped" if stopped else "failed", error.message, error.hint)
            self.event({"event": "error", "message": error.message, "hint": error.hint})
            raise
        except KeyboardInterrupt:
            message, hint = (interrupted or self._kept)()
            self._end("stopped", message, hint)
            self.event({"event": "stopped", "message": message, "hint": hint})
            draw_curves(self._run)  # last: whoever interrupts this, too, has lost nothing
            raise
        except BaseException as error:
            kind = type(error).__name__
            self._end("failed", f"failed unexpectedly ({kind})", "the whole log is in the file log")
            raise

    def state(self, state: str, message: str, **values: Any) -> None:
        """Enters a state."""
        self._state = state
        self._values |= {"message": message, "share": SHARES[state][0], **values}
        self._write()

    def lost(self, why: str) -> None:
        """The line to another machine is down; the next event says that it is up again."""
        self._values |= {"lost": why}
        self._write()
        self._listener({"event": "warning", "message": why})

    def done(self, message: str, hint: str, **values: Any) -> None:
        """The round is over."""
        self._values |= values
        self._end("done", message, hint)

    def event(self, event: dict[str, Any]) -> None:
        """Passes an event on; of steps the run folder gets some, and the last of each epoch."""
        if event["event"] == "step":
            last = event["documents"] == event["of"]
            if not last and time.monotonic() - self._stepped < _STEP_SECONDS:
                return
            self._stepped = time.monotonic()
            self.reached(event)
        if self._values.pop("lost", ""):
            self._write()
        self._listener(event)
        self._run.append(event)

    def reached(self, step: Mapping[str, Any]) -> None:
        """The training is at this step."""
        epochs = max(1, int(self._values.get("epochs", 1)))
        start, end = SHARES["training"]
        done = (step["epoch"] - 1 + step["documents"] / max(1, step["of"])) / epochs
        self._values |= {"epoch": step["epoch"], "share": start + (end - start) * done}
        self._write()

    def _kept(self) -> tuple[str, str]:
        """What an interrupt means on this machine."""
        hint = as_command("sciextract", "retrain", "--run", self._run.folder)
        return "stopped; what is finished is kept", hint

    def _end(self, state: str, message: str, hint: str) -> None:
        self._state = state
        self._values.pop("lost", "")
        share = 1.0 if state == "done" else self._values.get("share", 0.0)
        self._values |= {"message": message, "hint": hint, "share": share}
        self._write()

    def _write(self) -> None:
        seconds, share = time.monotonic() - self._began, float(self._values.get("share", 0.0))
        running = self._state in SHARES and share >= _LEAST_SHARE
        remaining = seconds * (1 - share) / share if running else None
        times = {"seconds": round(seconds, 1), "remaining_seconds": remaining}
        self._run.write_status(Status.of_this_process(self._state, **{**self._values, **times}))


def start_model(run: Run, order: Order) -> ModelFolder:
    """The model to start from: the one of the run's beginning, whatever is in use now.

    Raises:
        ModelNotFoundError: There is no such model.
        ModelMismatchError: Another model lies where the run began with one.
    """
    stored = run.run().get("start_model")
    if stored is not None:
        return same_model(run, Path(stored["folder"]))
    with open_project(order.path, read=True) as project:
        known = current(project) if order.model is None else find_model(order.model)
    folder = known.open()
    stored = {"id": known.id, "hash": folder.hash, "folder": str(folder.path)}
    run.write_run(start_model=stored, command=sys.argv[1:], started=now(), **circumstances())
    return folder


def same_model(run: Run, path: Path) -> ModelFolder:
    """The model in a folder, if it is the one that the run began with.

    Raises:
        ModelMismatchError: It is another one.
    """
    folder = open_folder(path)
    if folder.hash != run.run()["start_model"]["hash"]:
        raise ModelMismatchError(
            f"{path} is another model now than the one that {run.name} began with",
            "begin a new run: sciextract retrain --project DB",
        )
    return folder


def circumstances() -> dict[str, Any]:
    """The machine and the program of a run."""
    return {
        "hardware": f"{platform.machine()}, {usable_cores()} cores, {platform.system()}",
        "versions": {"sciextract": __version__},
    }


def now() -> str:
    """The time, UTC."""
    return time.strftime("%FT%TZ", time.gmtime())


def take_snapshot(run: Run, order: Order, narrator: Narrator) -> None:
    """Take the snapshot of a project, once: what is decided meanwhile belongs to the next round.

    Raises:
        TrainingDataError: There is nothing to train on.
    """
    folder = run.folder / SNAPSHOT
    if run.run().get("schema") is not None and (folder / MANIFEST).is_file():
        return
    narrator.state("preparing", "taking a snapshot of the project")
    with open_project(order.path) as project:
        if project.mode == "write":
            project.backup("before retraining")
        schema = project.schema
        base, gate = (Path(word) if word else None for word in (order.base, order.gate))
        manifest = build_snapshot(project, folder, base=base, gate=gate)
    run.write_run(schema=schema_to_mapping(schema), snapshot=_hashes(manifest))


def opened_snapshot(run: Run) -> tuple[LabelSchema, Snapshot]:
    """The schema and the snapshot of a run, each file held against its hash."""
    schema = parse_schema(run.run()["schema"], str(run.folder))
    return schema, read_snapshot(run.folder / SNAPSHOT)


def _hashes(manifest: Manifest) -> dict[str, str]:
    return {name: entry.sha256 for name, entry in manifest.files.items()}


def judge(run: Run, order: Order, narrator: Narrator, before: Path, snapshot: Snapshot) -> Ending:
    """Compare the model of a run with the one before on the gate; register it, use it where it may be used.

    Args:
        run: The run; its model is in ``model/``.
        order: What was wanted.
        narrator: Told what happens.
        before: The folder of the model that the run started from.
        snapshot: Holds the gate.
    """
    told = f"comparing both models on {len(snapshot.gate)} held-out abstracts"
    narrator.state("gating", told)
    threads = usable_cores()
    models = [Extractor.load(folder, threads=threads) for folder in (before, run.folder / MODEL)]
    report = gate(snapshot.gate, *models, blind=bool(order.blind_gate))
    run.write_run(gate=report.to_json())
    narrator.event({"event": "gate", **report.to_json()})
    return _settle(run, order, narrator, report)


def model_name(order: Order) -> str:
    """What the new model is called: what was wished, else as the project."""
    stem = re.sub(r"[^A-Za-z0-9._-]+", "-", order.name or order.path.stem)
    return stem.strip("._-")[:48] or "model"


def _settle(run: Run, order: Order, narrator: Narrator, report: GateReport) -> Ending:
    """Registers the model and lets it predict where the gate says so."""
    model = register(run.folder / MODEL, model_name(order))
    promoted, problem = report.verdict == "promote", ""
    if promoted:
        try:
            with open_project(order.path) as project:
                use(model.id, project)
        except ProjectError as error:
            promoted, problem = False, error.message
    ending = ending_of(model, report, promoted, problem, order.path)
    result = {"model": model.id, "folder": str(model.folder), "promoted": promoted}
    run.write_run(result=result, finished=now())
    result |= figure_of(run)
    narrator.event({"event": "done", **result, "message": ending.told, "hint": ending.hint})
    values = {"model": model.id, "verdict": report.verdict, "promoted": promoted}
    narrator.done(ending.told, ending.hint, **values)
    return ending
