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
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, BinaryIO

from sciextract import atomic
from sciextract.errors import OutputError

RUN, STATUS, METRICS, LOG, SNAPSHOT, MODEL = (
    "run.json", "status.json", "metrics.jsonl", "log", "snapshot", "model",
)  # fmt: skip
STATES = ("preparing", "training", "exporting", "validating", "gating", "done", "failed", "stopped")
FINISHED = frozenset({"done", "failed", "stopped"})
"""States that a process has left behind; a stopped run can be taken up again."""

_STEM_CHARACTERS = 40


@dataclass(frozen=True, slots=True)
class Status:
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
    def of_this_process(cls, state: str, **values: Any) -> Status:
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

    def run(self) -> dict[str, Any]:
        """``run.json``; empty when there is none."""
        return _read_object(self.folder / RUN)

    def status(self) -> Status | None:
        """``status.json``; ``None`` when there is none that can be understood."""
        values = _read_object(self.folder / STATUS)
        known = {field.name for field in fields(Status)}
        try:
            status = Status(**{key: value for key, value in values.items() if key in known})
        except TypeError:
            return None
        return status if status.state in STATES else None

    def metrics(self, after: int = 0) -> list[dict[str, Any]]:
        """Events of ``metrics.jsonl``: complete lines only, a line that is being written comes later.

        Args:
            after: Lines that the caller has seen already.
        """
        try:
            data = (self.folder / METRICS).read_bytes()
        except OSError:
            return []
        return [_object(line) for line in data.split(b"\n")[:-1][after:]]

    def is_alive(self) -> bool:
        """Whether the process that wrote the status still runs on this machine."""
        status = self.status()
        if status is None or status.host != socket.gethostname() or not _runs(status.pid):
            return False
        return not status.process or status.process == _started(status.pid)

    def write_run(self, **values: Any) -> None:
        """Adds values to ``run.json``.

        Raises:
            OutputError: It cannot be written.
        """
        _write_object(self.folder / RUN, {**self.run(), **values})

    def write_status(self, status: Status) -> None:
        """Replaces ``status.json``.

        Raises:
            OutputError: It cannot be written.
        """
        _write_object(self.folder / STATUS, asdict(status))

    def append(self, event: dict[str, Any]) -> None:
        """Adds an event to ``metrics.jsonl``, after cutting off a line that a killed process left torn.

        Raises:
            OutputError: It cannot be written.
        """
        line = json.dumps(event, allow_nan=False).encode() + b"\n"
        try:
            with (self.folder / METRICS).open("a+b") as stream:
                _cut_torn_line(stream)
                stream.write(line)
        except OSError as error:
            raise _not_written(self.folder / METRICS, error) from error


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
    try:
        folder.mkdir(parents=True)
    except FileExistsError:
        return new_run(project)
    except OSError as error:
        raise _not_written(folder, error) from error
    run = Run(folder)
    run.write_run(project=project and _whole(project), created_ns=time.time_ns())
    return run


def runs_of(project: Path) -> list[Run]:
    """The runs of a project, newest first."""
    wanted = _whole(project)
    runs = [Run(file.parent) for file in runs_folder().glob(f"*/{RUN}")]
    notes = [(run, run.run()) for run in runs]
    dated = [(_created(note), run) for run, note in notes if note.get("project") == wanted]
    return [run for _, run in sorted(dated, key=lambda each: (each[0], each[1].name), reverse=True)]


def _created(note: dict[str, Any]) -> int:
    value = note.get("created_ns")
    return value if isinstance(value, int) else 0


def _whole(path: Path) -> str:
    return str(path.resolve())


def _runs(pid: int) -> bool:
    """Whether there is such a process; one of another user counts."""
    if not isinstance(pid, int) or pid <= 0 or os.name == "nt":
        return False
    try:
        os.kill(pid, 0)
    except PermissionError:
        return True
    except (ProcessLookupError, OverflowError):
        return False
    return True


def _started(pid: int) -> str:
    """Start of a process in clock ticks since the boot, where the system tells it.

    A process that has ended and was not waited for yet (state Z) counts as ended: empty.
    """
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    state, *rest = text.rpartition(")")[2].split()
    return "ended" if state == "Z" else rest[18]


def _cut_torn_line(stream: BinaryIO) -> None:
    """Cuts what follows the last line feed; a whole file is not read to see that it is whole."""
    size = stream.seek(0, os.SEEK_END)
    if size:
        stream.seek(size - 1)
        if stream.read(1) != b"\n":
            stream.seek(0)
            stream.truncate(stream.read().rfind(b"\n") + 1)


def _read_object(path: Path) -> dict[str, Any]:
    try:
        return _object(path.read_bytes())
    except OSError:
        return {}


def _object(data: bytes) -> dict[str, Any]:
    """A JSON object; empty for anything else."""
    try:
        values = json.loads(data)
    except (ValueError, RecursionError):
        return {}
    return values if isinstance(values, dict) else {}


def _write_object(path: Path, values: dict[str, Any]) -> None:
    try:
        atomic.write(path, json.dumps(values, indent=2) + "\n")
    except OSError as error:
        raise _not_written(path, error) from error


def _not_written(path: Path, error: OSError) -> OutputError:
    return OutputError(
        f"{path} cannot be written: {error.strerror}",
        "free some space or set SCIEXTRACT_HOME to a writable folder",
    )
