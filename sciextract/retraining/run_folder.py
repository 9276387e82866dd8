"""Run folders of trainings, ``run.json`` among their files: written by the trainer, read by whoever watches, also while they grow.

A run folder holds ``run.json`` (what was asked, what it is made of, and what came of it), ``status.json`` (where it is now,
always whole), ``metrics.jsonl`` (one event a line), ``log``, ``snapshot/``, ``model/`` and checkpoints.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import secrets
import socket
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
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
from sciextract.resources import user_runs

RANGES = {"epochs": (1, 1_000_000), "seed": (0, 2**32 - 1)}
"""The least and the most that these settings may be, here and in recipes."""

JOBS = ".cache/sciextract/jobs"
"""Folder of jobs below the home folder of another machine."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RetrainRequest:
    """What the user asks for.

    Attributes:
        project: The project file.
        base: The user's copy of a published set, for replay.
        gate: Further held-out gold.
        model: The model to start from; the one that predicts in the project when ``None``.
        recipe: Name of a packaged recipe, or a TOML file.
        epochs: Instead of the recipe's.
        seed: Instead of the recipe's.
        name: Name of the new model; after the project when ``None``.
        no_cross_validation: Whether to compare on the held-out abstracts alone, however few they are.
    """

    project: str | None = None
    base: str | None = None
    gate: str | None = None
    model: str | None = None
    recipe: str | None = None
    epochs: int | None = None
    seed: int | None = None
    name: str | None = None
    no_cross_validation: bool | None = None

    def __post_init__(self) -> None:
        """Refuses settings out of range, before anything is done here or elsewhere.

        Raises:
            UsageError: Names the option, the value and the range.
        """
        for key, (least, most) in RANGES.items():
            value = getattr(self, key)
            if value is not None and not least <= value <= most:
                raise UsageError(f"--{key} {value} is not possible", f"use {least} to {most}")

    @property
    def path(self) -> Path:
        """The project file.

        Raises:
            UsageError: None is named.
        """
        if self.project is None:
            raise UsageError("no project is named", "name one with --project DB")
        return Path(self.project)

    @property
    def changes(self) -> dict[str, Any]:
        """Settings that replace the recipe's."""
        settings = {"epochs": self.epochs, "seed": self.seed}
        return {key: value for key, value in settings.items() if value is not None}


@dataclass(frozen=True, slots=True)
class JobLocation:
    """Where a job on another machine is.

    Attributes:
        host: The machine, as the person named it.
        python: Its Python.
        folder: The job's folder there, relative to the home folder.
        home: The home folder, empty before the first contact.
        slurm: Whether it went through SLURM.
        state: ``sending``, ``started``, ``fetched`` or ``cleaned``.
        device: What trains there.
    """

    host: str
    python: str
    folder: str
    home: str = ""
    slurm: bool = False
    state: str = "sending"
    device: str = "auto"

    @property
    def path(self) -> str:
        """The job's folder there, absolute."""
        return f"{self.home}/{self.folder}"

    @property
    def name(self) -> str:
        """The job's name there, which is the run's where that is a plain word."""
        return self.folder.rpartition("/")[2]


def job_folder(run: Path) -> str:
    """The folder of a run's job on another machine: no shell reads its name as more than a word.

    A name with other signs than ``[A-Za-z0-9_.-]`` gets a hash of the run's path, so that two never share one.
    """
    name = re.sub(r"^\.+|[^\w.-]+", "-", run.name, flags=re.ASCII)
    if not run.name or name != run.name:
        name = f"{name}-{hashlib.sha256(os.fsencode(run.resolve())).hexdigest()[:8]}"
    return f"{JOBS}/{name}"


@dataclass(frozen=True, slots=True)
class StartModelRecord:
    """The model that is trained on: its id, the hash of its folder, where that is, and why it was taken where nobody said."""

    id: str
    hash: str
    folder: str
    why: str = ""


@dataclass(frozen=True, slots=True)
class WorkSession:
    """What one process worked on a run."""

    started: str
    seconds: float
    device: str
    processes: int


@dataclass(frozen=True, slots=True)
class RunOutcome:
    """The registered model, its folder, and whether it predicts in the project now."""

    model: str
    folder: str
    promoted: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRecord:
    """Everything that is noted of a run; what is not known yet has its default.

    Attributes:
        project: The project file, resolved; ``None`` for a training from files.
        created_ns: When the folder was made, in nanoseconds since 1970.
        request: What was asked for; only a retraining of a project has it.
        start_model: The model that is trained on.
        command: The words of the command.
        started: When that was, UTC.
        device: Where the network is trained.
        hardware: The machine.
        versions: Of the package and of torch.
        schema: The project's label schema when the snapshot was taken; of a training from files its name.
        snapshot: Hashes of the snapshot's files.
        folds: Places in ``train.jsonl`` that each training of a cross-validation leaves out; ``None`` for none.
        config: The recipe with all changes.
        forgetting: What was done against forgetting.
        origin: What the model card says of a training from files.
        remote: Where the job is that trains on another machine.
        sessions: The processes that worked on it.
        seconds: What they took together.
        gate: The comparison of both models.
        scores: Scores of the model that was trained from files.
        result: The outcome of a retraining.
        finished: When that was, UTC.
    """

    project: str | None = None
    created_ns: int = 0
    request: RetrainRequest | None = None
    start_model: StartModelRecord | None = None
    command: tuple[str, ...] = ()
    started: str = ""
    device: str = ""
    hardware: str = ""
    versions: Mapping[str, str] = field(default_factory=dict)
    schema: Mapping[str, Any] | str | None = None
    snapshot: Mapping[str, str] = field(default_factory=dict)
    folds: tuple[tuple[int, ...], ...] | None = None
    config: Mapping[str, Any] | None = None
    forgetting: str = ""
    origin: Mapping[str, Any] = field(default_factory=dict)
    remote: JobLocation | None = None
    sessions: tuple[WorkSession, ...] = ()
    seconds: float = 0.0
    gate: Mapping[str, Any] | None = None
    scores: Mapping[str, Any] | None = None
    result: RunOutcome | None = None
    finished: str = ""


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
        return cls(state, pid, socket.gethostname(), _start_time(pid), **values)


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
        return not status.process or status.process == _start_time(status.pid)

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
        """Append an event to ``metrics.jsonl``, after cutting off a torn line of a killed process.

        Raises:
            OutputError: It cannot be written.
        """
        line = json.dumps(event, allow_nan=False).encode() + b"\n"
        path = self.folder / METRICS
        with explain_write_errors(path, _WRITABLE, when_full=_WRITABLE), path.open("a+b") as stream:
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


def new_run(project: Path | None) -> Run:
    """Makes the folder of a new run and notes the project in its ``run.json``.

    Raises:
        OutputError: The folder cannot be made.
    """
    stem = re.sub(r"[^\w-]+", "-", project.stem if project else "files")[:_STEM_CHARACTERS]
    stamp = time.strftime("%Y%m%d-%H%M%S", time.gmtime())
    folder = user_runs() / f"{stamp}-{stem}-{secrets.token_hex(2)}"
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
    return [Run(file.parent) for file in sorted(user_runs().glob(f"*/{RUN}"), reverse=True)]


def runs_of(project: Path) -> list[Run]:
    wanted = str(project.resolve())
    records = [(run, run.record()) for run in known_runs()]
    # Names hold seconds; two runs of one second are told apart by the nanoseconds of their records.
    dated = [
        (record.created_ns, run.name, run) for run, record in records if record.project == wanted
    ]
    return [run for *_, run in sorted(dated, key=lambda entry: entry[:2], reverse=True)]


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


def _start_time(pid: int) -> str:
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
