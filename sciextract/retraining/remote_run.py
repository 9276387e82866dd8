"""A correction round that is trained on another machine: begun and judged here, where the project is."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sciextract.errors import JobStoppedError, RemoteError, SciextractError, UsageError, as_command
from sciextract.formats.base import shown
from sciextract.inference.model_folder import ModelFolder
from sciextract.retraining.curves import FIGURES, draw_curves, figure_of
from sciextract.retraining.remote import jobs, results
from sciextract.retraining.remote.jobs import THERE, Place, Standing
from sciextract.retraining.remote.results import follow
from sciextract.retraining.remote.start import Machine, Task, fetch, inspected, start, start_again
from sciextract.retraining.request import Ending, Order, is_begun, open_run, stored_order
from sciextract.retraining.run import Narrator, judge, opened_snapshot, start_model, take_snapshot
from sciextract.retraining.run_folder import RUN, SNAPSHOT, Run, Status
from sciextract.workflows.events import Report

MODULE = "sciextract_trainer.remote_job"
_ENDS = frozenset({"error", "stopped"})
"""Events of the job that are told in this machine's own words."""

_WHOLE, _NUMBER = (int,), (int, float)
_FIELDS: Mapping[str, Mapping[str, tuple[type, ...]]] = {
    "start": {"epochs": _WHOLE, "device": (str,)},
    "step": {
        "epoch": _WHOLE,
        "documents": _WHOLE,
        "of": _WHOLE,
        "loss": (dict,),
        "documents_per_second": _NUMBER,
    },
    "dev": {"epoch": _WHOLE},
    "snapshot": dict.fromkeys(("train", "dev", "gate", "undecided", "share_of_base"), _NUMBER),
    "labelled": {"documents": _WHOLE, "of": _WHOLE},
    "resumed": {"epoch": _WHOLE},
    "memory": {"device": (str,), "documents": _WHOLE},
    "warning": {"message": (str,)},
    "forgetting": {"message": (str,)},
    "export": {},
    "error": {"message": (str,)},
    "stopped": {"message": (str,)},
}
"""What a job may send, and what each kind must hold at least."""
_LARGEST = 1e15
_SCORES = ("entity", "relation", "unordered", "strict", "coreference")
_LOSSES = ("entity", "relation", "coreference")

_NOTES = ("config", "device", "hardware", "versions", "forgetting")


@dataclass(frozen=True, slots=True)
class Where:
    """The other machine.

    Attributes:
        host: ``HOST`` or ``USER@HOST``.
        python: Its Python.
        device: What trains there.
        slurm: Whether the job goes through SLURM.
    """

    host: str
    python: str = "python3"
    device: str = "auto"
    slurm: bool = False


def retrain_elsewhere(
    order: Order, folder: Path | None, where: Where, listener: Report, *, detach: bool = False
) -> Ending | Run:
    """Begin a round, train it on another machine, and judge its model here.

    Args:
        order: What is wanted.
        folder: The run folder; a new one when ``None``.
        where: The machine.
        listener: Gets every event.
        detach: Whether to come back as soon as the job runs.

    Returns:
        The end of the round, or the run whose job goes on when detached.

    Raises:
        UsageError: The host is no host.
        RemoteError: The machine cannot be reached or lacks something, or the job failed.
        TrainingDataError: There is nothing to train on.
    """
    machine = _looked_at(where, folder, listener)
    run, agreed = open_run(folder, order)
    narrator = Narrator(run, listener)
    jobs.new_place(run, where.host, where.python, where.slurm, where.device)
    with narrator.telling(_left(run)):
        place = _send(run, agreed, where, machine, narrator)
        if detach:
            narrator.state("training", f"on {place.host}; {_watching(run)}")
            return run
        return _attend(run, place, narrator)


def attach(run: Run, listener: Report, *, again: bool = False) -> Ending:
    """Follow a job of an earlier command to its end, bring its model here and judge it.

    Args:
        run: The local run.
        listener: Gets every event from now on.
        again: Whether a job that was stopped shall go on.

    Raises:
        UsageError: The run is none of another machine.
        RemoteError: The machine cannot be reached at first, or the job failed.
    """
    place = jobs.place_of(run)
    if place is None:
        raise UsageError(f"{run.name} is no job on another machine", "sciextract jobs list")
    narrator = Narrator(run, listener)
    with narrator.telling(_left(run), f"asking {place.host}"):
        if place.state == "sending":
            if not again:
                why = f"{run.name} was not wholly sent to {place.host}"
                raise RemoteError(why, f"send the rest: {_going_on(run)}")
            where = Where(place.host, place.python, place.device, place.slurm)
            place = _send(run, stored_order(run), where, _inspected(where), narrator)
        elif place.state == "started":
            found = jobs.standing(place)
            if again and found.there and not found.runs and found.exit != 0:
                place = start_again(run, place)
        return _attend(run, place, narrator)


def _looked_at(where: Where, folder: Path | None, listener: Report) -> Machine:
    """What the machine has; a run folder that waits for it keeps the reason where it will not do."""
    if folder is None or not folder.is_dir() or is_begun(folder):
        return _inspected(where)
    with Narrator(Run(folder), listener).telling(begins=f"looking at {where.host}"):
        return _inspected(where)


def _inspected(where: Where) -> Machine:
    gpu = where.device == "cuda"
    return inspected(where.host, where.python, gpu=gpu, slurm=where.slurm)


def _send(run: Run, order: Order, where: Where, machine: Machine, narrator: Narrator) -> Place:
    """Everything that the job needs, and its start; what has arrived is not sent again."""
    model = start_model(run, order)
    take_snapshot(run, order, narrator)
    narrator.state("preparing", f"sending to {where.host}")
    return start(run, _task(run, model, where), machine)


def _left(run: Run) -> Callable[[], tuple[str, str]]:
    """What an interrupt means: a job that runs goes on, nothing else does."""

    def told() -> tuple[str, str]:
        place = jobs.place_of(run)
        if place is not None and place.state == "started":
            return f"not watching any more; the job goes on on {place.host}", _watching(run)
        return "stopped; what is finished is kept", _going_on(run)

    return told


def _going_on(run: Run) -> str:
    return as_command("sciextract", "retrain", "--run", run.folder)


def _watching(run: Run) -> str:
    return as_command("sciextract", "jobs", "attach", run.name)


def _task(run: Run, model: ModelFolder, where: Where) -> Task:
    words = ["-m", MODULE, "run", model.path.name, "--device", where.device]
    files = [run.folder / RUN, run.folder / SNAPSHOT]
    gpu = where.device == "cuda"
    return Task(where.host, where.python, where.slurm, gpu, model.path, files, words)


def _attend(run: Run, place: Place, narrator: Narrator) -> Ending:
    """From a job that runs to the end of the round."""
    if place.state == "started":
        there = Run(run.folder / THERE)
        there.folder.mkdir(exist_ok=True)
        teller = _Teller(run, there, place, narrator)
        teller.tell()
        ended = follow(there, place, teller.tell, teller.lost)
        teller.tell()
        _check(run, place, ended)
        narrator.state("exporting", f"fetching the model from {place.host}")
        results.fetch_model(run, place)
        _take_notes(run, place)
        _draw(run, place, narrator)
    model = start_model(run, stored_order(run))
    _, snapshot = opened_snapshot(run)
    ending = judge(run, stored_order(run), narrator, model.path, snapshot)
    with suppress(SciextractError):  # what stays there is found by `jobs clean`
        results.clean(run, jobs.place_of(run) or place)
    return ending


def _take_notes(run: Run, place: Place) -> None:
    notes = results.fetch_notes(run, place)
    run.write_run(**{key: notes[key] for key in _NOTES if key in notes})


def _draw(run: Run, place: Place, narrator: Narrator) -> None:
    """Learning curves, drawn here, else brought from there."""
    drawn = draw_curves(run)
    if drawn.figure is None:
        with suppress(RemoteError):
            for name in FIGURES:
                fetch(place.ssh, f"{place.path}/run/{name}", run.folder)
        if not figure_of(run):
            narrator.event({"event": "warning", "message": drawn.told})


def _check(run: Run, place: Place, ended: Standing) -> None:
    """Refuse a job without a model, with the reason that it gave itself."""
    if ended.exit == 0:
        return
    told = [event for event in Run(run.folder / THERE).metrics() if event.get("event") == "error"]
    if told:
        raise RemoteError(f"{place.host}: {told[-1].get('message')}", str(told[-1].get("hint", "")))
    if ended.exit == 130:
        raise JobStoppedError(f"{run.name} was stopped on {place.host}", f"go on: {_going_on(run)}")
    last = ended.log.strip().splitlines()[-1:] or [f"exit code {ended.exit}"]
    raise RemoteError(f"{place.host}: {last[0]}", f"its log: {place.host}:{place.path}/log")


def _problem(event: Mapping[str, Any]) -> str:
    """What is wrong with an event from another machine; empty for one that can be passed on."""
    kind = event.get("event")
    fields = _FIELDS.get(kind) if isinstance(kind, str) else None
    if fields is None:
        return f"{shown(kind)} found, allowed are {', '.join(_FIELDS)}"
    try:
        json.dumps(event, allow_nan=False)
    except ValueError:
        return f"{kind}: it holds a number that JSON does not have"
    values = {name: (event.get(name), allowed) for name, allowed in fields.items()}
    if kind == "step" and isinstance(event.get("loss"), dict):
        values |= {f"loss {name}": (event["loss"].get(name), _NUMBER) for name in _LOSSES}
    if kind == "dev":
        values |= {name: (event[name], _NUMBER) for name in _SCORES if event.get(name) is not None}
    for name, (value, allowed) in values.items():
        if not isinstance(value, allowed) or isinstance(value, bool) or not _is_usable(value):
            words = " or ".join(each.__name__ for each in allowed)
            return f"{kind}: {name} is {shown(value)}, allowed is {words}"
    return ""


def _is_usable(value: object) -> bool:
    """Whether a number is finite and small enough to be reckoned with."""
    return not isinstance(value, int | float) or abs(value) < _LARGEST


class _Teller:
    """Passes the job's events on, each one once, also over several commands.

    Every event is kept with its number among the job's, so that a command which was killed in between
    leaves no gap and the next one no double.
    """

    def __init__(self, run: Run, there: Run, place: Place, narrator: Narrator) -> None:
        self._run = run
        self._there = there
        self._place = place
        self._narrator = narrator
        told = [event for event in run.metrics() if isinstance(event.get(THERE), int)]
        self._seen = max((event[THERE] for event in told), default=-1) + 1
        self._go_on_after(told)

    def tell(self) -> None:
        """Pass on what has come."""
        for event in self._there.metrics(self._seen):
            if problem := _problem(event):
                raise RemoteError(
                    f"{self._place.host}: event {self._seen + 1} of the job cannot be used: {problem}",
                    "is the machine the one that is meant? jobs are sent the version that runs here",
                )
            if event["event"] not in _ENDS:
                self._enter(event)
                folder = {"folder": str(self._run.folder)} if "folder" in event else {}
                self._narrator.event({**event, **folder, THERE: self._seen})
            self._seen += 1

    def lost(self, why: str, seconds: float) -> None:
        """The line is down for a while; the job goes on."""
        self._narrator.lost(f"{why}; next try in {seconds:g} seconds, the job goes on")

    def _go_on_after(self, told: list[dict[str, Any]]) -> None:
        """To where an earlier command saw the job."""
        for event in told:
            self._enter(event)
        steps = [event for event in told if event["event"] == "step"]
        if steps:
            self._narrator.reached(steps[-1])

    def _enter(self, event: dict[str, Any]) -> None:
        if event["event"] == "start":
            epochs = int(event.get("epochs", 0))
            told = f"training on {self._place.host}, {event.get('device')}"
            self._narrator.state("training", told, epochs=epochs)
        elif event["event"] == "export":
            self._narrator.state("exporting", f"exporting on {self._place.host}")


def cancel_job(run: Run, place: Place) -> None:
    """Stop a job at a point from which it can go on, and note that where nobody follows it.

    Args:
        run: Its local run.
        place: Where it is.

    Raises:
        RemoteError: The machine cannot be reached.
    """
    results.cancel(place)
    status = run.status()
    if place.state != "started" or status is None or _is_told(run, status):
        return
    message = f"{run.name} was stopped on {place.host}"
    hint = f"go on: {as_command('sciextract', 'retrain', '--run', run.folder)}"
    run.append({"event": "error", "message": message, "hint": hint})
    run.write_status(replace(status, state="stopped", message=message, hint=hint, lost=""))


def _is_told(run: Run, status: Status) -> bool:
    """Whether the run has come to another end, or somebody follows the job and sees that it stops."""
    return status.state in ("done", "failed") or (status.state != "stopped" and run.is_alive())
