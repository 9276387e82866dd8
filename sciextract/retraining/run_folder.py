"""Run folders of trainings: written by the trainer, read by whoever watches, also while they grow.

A run folder holds ``run.json`` (what was asked and the outcome), ``status.json`` (where it is now,
always whole), ``metrics.jsonl`` (one event a line), ``log``, ``snapshot/``, ``model/`` and checkpoints.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import socket
import time
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from sciextract import atomic
from sciextract.codec import decode, encode, plain
from sciextract.errors import (
    InputMissingError,
    OutputError,
    SciextractError,
    UsageError,
    explain_write_errors,
)
from sciextract.retraining.run_record import RetrainRequest, RunRecord

Kind = TypeVar("Kind")

RUN, STATUS, METRICS, LOG, SNAPSHOT, MODEL = (
    "run.json", "status.json", "metrics.jsonl", "log", "snapshot", "model",
)  # fmt: skip
STATES = ("preparing", "training", "exporting", "validating", "gating", "done", "failed", "stopped")
FINISHED = frozenset({"done", "failed", "stopped"})
"""States that a process has left behind; a stopped run can be taken up again."""

_STEM_CHARACTERS = 40


@dataclass(frozen=True, slots=True)
class RunStatus:
    """Where a run is.

    Attributes:
        state: One of ``STATES``.
        pid: The process that works on it.
        host: The machine of that process.
        process: When that process started, as the machine counts it; tells a reused pid. May be empty.
        epoch: Epochs begun.
        epochs: Epochs there will be at most.
        share: Of the whole job, 0 to 1.
        seconds: Since the process began to work on it.
        remaining_seconds: Estimate, ``None`` as long as there is none.
        message: What happens now, or what went wrong.
        hint: The next step, when there is one to take.
        model: Name of the model that came of it, once registered.
        verdict: What the gate says: ``promote``, ``keep``, ``worse`` or ``too few``.
        promoted: Whether the new model is in use now; ``None`` before the gate.
        lost: Why the line to the other machine is down and when it is tried again; empty while it is up.
    """

    state: str
    pid: int
    host: str
    process: str = ""
    epoch: int = 0
    epochs: int = 0
    share: float = 0.0
    seconds: float = 0.0
    remaining_seconds: float | None = None
    message: str = ""
    hint: str = ""
    model: str = ""
    verdict: str = ""
    promoted: bool | None = None
    lost: str = ""

    @classmethod
    def of_this_process(cls, state: str, **values: Any) -> RunStatus:
        """A status that the running process writes."""
        pid = os.getpid()
        return cls(state, pid, socket.gethostname(), _started(pid), **values)


@dataclass(frozen=True, slots=True)
class Run:
    """A run folder. Reading never fails on what is missing, torn or foreign; writing is atomic.

    Attributes:
        folder: The folder; it need not exist yet.
    """

    folder: Path

    @property
    def name(self) -> str:
        """The folder's name, which is the id of the run."""
        return self.folder.name

    def record(self) -> RunRecord:
        """``run.json``; nothing is known when there is none that can be understood."""
        return self._read(RUN, RunRecord) or RunRecord()

    def status(self) -> RunStatus | None:
        """``status.json``; ``None`` when there is none that can be understood."""
        status = self._read(STATUS, RunStatus)
        return status if status is not None and status.state in STATES else None

    def _read(self, name: str, kind: type[Kind]) -> Kind | None:
        try:
            return decode((self.folder / name).read_bytes(), kind, self.folder / name)
        except (OSError, SciextractError):
            return None

    def metrics(self, after: int = 0) -> list[dict[str, Any]]:
        """Events of ``metrics.jsonl``: complete lines only, a line that is being written comes later.

        Args:
            after: Lines that the caller has seen already.
        """
        try:
            data = (self.folder / METRICS).read_bytes()
        except OSError:
            return []
        events = []
        for line in data.split(b"\n")[:-1][after:]:
            try:
                values = json.loads(line)
            except (ValueError, RecursionError):
                values = {}  # a damaged line counts, so that the numbers of those behind it stay
            events.append(values if isinstance(values, dict) else {})
        return events

    def is_alive(self) -> bool:
        """Whether the process that wrote the status still runs on this machine."""
        status = self.status()
        if (
            status is None
            or status.host != socket.gethostname()
            or status.pid <= 0
            or os.name == "nt"
        ):
            return False
        try:
            os.kill(status.pid, 0)
        except PermissionError:
            pass  # there is such a process, of another user
        except (ProcessLookupError, OverflowError):
            return False
        return not status.process or status.process == _started(status.pid)

    def note(self, **changes: Any) -> RunRecord:
        """Changes fields of ``run.json``; gives the whole record.

        Raises:
            OutputError: It cannot be written.
        """
        record = replace(self.record(), **changes)
        known = {key: value for key, value in plain(record).items() if value not in _UNKNOWN}
        self._write(RUN, known)
        return record

    def write_status(self, status: RunStatus) -> None:
        """Replaces ``status.json``.

        Raises:
            OutputError: It cannot be written.
        """
        self._write(STATUS, status)

    def _write(self, name: str, value: object) -> None:
        with explain_write_errors(self.folder / name, _WRITABLE, when_full=_WRITABLE):
            atomic.write(self.folder / name, encode(value))

    def append(self, event: dict[str, Any]) -> None:
        """Adds an event to ``metrics.jsonl``, after cutting off a line that a killed process left torn.

        Raises:
            OutputError: It cannot be written.
        """
        line = json.dumps(event, allow_nan=False).encode() + b"\n"
        path = self.folder / METRICS
        with (
            explain_write_errors(path, _WRITABLE, when_full=_WRITABLE),
            path.open("a+b") as stream,
        ):
            size = stream.seek(0, os.SEEK_END)
            stream.seek(max(0, size - 1))
            # A whole file is not read to see that it is whole.
            if stream.read(1) not in (b"", b"\n"):
                stream.seek(0)
                stream.truncate(stream.read().rfind(b"\n") + 1)
            stream.write(line)


_WRITABLE = "free some space or set SCIEXTRACT_HOME to a writable folder"
_UNKNOWN: tuple[object, ...] = (None, "", (), [], {})
"""What ``run.json`` leaves out."""


def now() -> str:
    """The time, UTC, as ``run.json`` holds it."""
    return time.strftime("%FT%TZ", time.gmtime())


def runs_folder() -> Path:
    """``$SCIEXTRACT_HOME/runs``, else where the platform keeps data of programs; it need not exist."""
    home = os.environ.get("SCIEXTRACT_HOME")
    if home:
        return Path(home) / "runs"
    from platformdirs import user_data_path

    return user_data_path("sciextract", appauthor=False) / "runs"


def new_run(project: Path | None) -> Run:
    """Makes the folder of a new run and notes the project in its ``run.json``.

    Raises:
        OutputError: The folder cannot be made.
    """
    stem = re.sub(r"[^\w-]+", "-", project.stem if project else "files")[:_STEM_CHARACTERS]
    stamp = time.strftime("%Y%m%d-%H%M%S", time.gmtime())
    folder = runs_folder() / f"{stamp}-{stem}-{secrets.token_hex(2)}"
    with explain_write_errors(folder, _WRITABLE, when_full=_WRITABLE):
        try:
            folder.mkdir(parents=True)
        except FileExistsError:
            return new_run(project)
    run = Run(folder)
    run.note(project=project and str(project.resolve()), created_ns=time.time_ns())
    return run


def known_runs() -> list[Run]:
    """All runs on this machine, newest first by their names."""
    files = sorted(runs_folder().glob(f"*/{RUN}"), reverse=True)
    return [Run(file.parent) for file in files]


def runs_of(project: Path) -> list[Run]:
    """The runs of a project, newest first."""
    wanted = str(project.resolve())
    records = [(run, run.record()) for run in known_runs()]
    # Names hold seconds; two runs of one second are told apart by the nanoseconds of their records.
    dated = [
        (record.created_ns, run.name, run) for run, record in records if record.project == wanted
    ]
    return [run for *_, run in sorted(dated, key=lambda each: each[:2], reverse=True)]


def is_begun(folder: Path) -> bool:
    """Whether a folder holds a run that was begun, so that nothing else need be named."""
    return Run(folder).record().request is not None


def stored_request(run: Run) -> RetrainRequest:
    """The request that a run was begun with.

    Raises:
        InputMissingError: It was not begun.
    """
    request = run.record().request
    if request is None:
        raise InputMissingError(f"{run.folder} is not an existing run")
    return request


def open_run(folder: Path | None, request: RetrainRequest) -> tuple[Run, RetrainRequest]:
    """The run folder, and the request that holds for it: its own one when it was begun before.

    Args:
        folder: A run folder, begun or not; a new one when ``None``.
        request: What the command says; where a run is taken up, it may repeat it or leave it out.

    Raises:
        UsageError: The run was begun with something else, or another process works on it.
        InputMissingError: There is nothing to take up and no project is named, or it does not exist.
        OutputError: The folder cannot be made.
    """
    if folder is not None and is_begun(folder):
        run = Run(folder)
        status = run.status()
        alive = status is not None and status.state not in FINISHED and run.is_alive()
        if status is not None and alive and status.pid != os.getpid():
            raise UsageError(
                f"process {status.pid} works on {run.folder}", "wait for it, or stop it first"
            )
        stored = stored_request(run)
        for key, value in asdict(_absolute(request)).items():
            kept = getattr(stored, key)
            if value is not None and value != kept:
                raise UsageError(
                    f"{run.folder} was begun with {key} {kept!r}, the command says {value!r}",
                    "omit the option to resume, or start another run",
                )
        return run, stored
    if request.project is None:
        raise InputMissingError(
            f"{folder} is not an existing run, and no project is named",
            "sciextract retrain --project DB begins one",
        )
    request = _absolute(request)
    run = new_run(request.path) if folder is None else Run(folder)
    try:
        run.folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"{run.folder}: cannot be created: {error.strerror}") from error
    run.note(request=request, project=str(request.path.resolve()))
    return run, request


def _absolute(request: RetrainRequest) -> RetrainRequest:
    """The request with paths that hold in any folder; model and recipe may be names.

    Raises:
        InputMissingError: A file does not exist.
    """
    changes: dict[str, Any] = {}
    for key in ("project", "base", "gate", "model", "recipe"):
        word = getattr(request, key)
        if word is not None and Path(word).exists():
            changes[key] = os.path.abspath(word)
        elif word is not None and key not in ("model", "recipe"):
            raise InputMissingError(f"{word}: no such file")
    return replace(request, **changes)


def _started(pid: int) -> str:
    """Start of a process in clock ticks since the boot, where the system tells it.

    A process that has ended and was not waited for yet (state Z) counts as ended: empty.
    """
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    # Fields are counted behind the name of the program, which may hold blanks and brackets itself.
    state, *rest = text.rpartition(")")[2].split()
    return "ended" if state == "Z" else rest[18]
