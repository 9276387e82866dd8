"""Trainings on other machines: where each one is, kept in its local run folder."""

from __future__ import annotations

import glob
import hashlib
import os
import re
import shlex
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

from sciextract.codec import convert
from sciextract.errors import RemoteError, UsageError
from sciextract.retraining.remote.ssh import SSH_VARIABLE, Ssh, check_host
from sciextract.retraining.run_folder import RUN, Run, runs_folder

JOBS = ".cache/sciextract/jobs"
"""Below the home folder of the other machine."""
KEY = "remote"
REMOTE_FILES = "there"
"""Folder in the local run folder for what came from the other machine: events, log, notes."""


@dataclass(frozen=True, slots=True)
class JobLocation:
    """Where a job is.

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
    def ssh(self) -> Ssh:
        """The machine."""
        return Ssh(self.host, self.python)


@dataclass(frozen=True, slots=True)
class JobState:
    """The state of a job, as its machine reports it.

    Attributes:
        exists: Whether its folder is on that machine.
        exit: Its exit code, ``None`` before its end.
        runs: Whether it runs, or waits in the queue of a cluster.
        log: The end of its log.
    """

    exists: bool
    exit: int | None
    runs: bool
    log: str


def new_location(
    run: Run, host: str, python: str, slurm: bool, device: str = "auto"
) -> JobLocation:
    """The location of a new job; its folder on the other machine has the run's name, as far as no shell reads it as more than a word.

    Raises:
        UsageError: The host name is not valid.
    """
    ssh = Ssh(host, python)
    location = JobLocation(
        ssh.host, ssh.python, f"{JOBS}/{_folder_name(run)}", slurm=slurm, device=device
    )
    note(run, location)
    return location


def _folder_name(run: Run) -> str:
    """The run's name where it holds ``[A-Za-z0-9_.-]`` only and names a folder, else one that comes of its path."""
    name = re.sub(r"^\.+|[^\w.-]+", "-", run.name, flags=re.ASCII)
    if run.name and name == run.name:
        return name
    return f"{name}-{hashlib.sha256(os.fsencode(run.folder.resolve())).hexdigest()[:8]}"


def note(run: Run, location: JobLocation, **changes: Any) -> JobLocation:
    """Keep where a job is; gives the changed location."""
    changed = replace(location, **changes)
    run.write_run(**{KEY: asdict(changed)})
    return changed


def location_of(run: Run) -> JobLocation | None:
    """Where the job of a run is; ``None`` for runs on this machine."""
    values = run.run().get(KEY)
    if not isinstance(values, dict):
        return None
    try:
        return JobLocation(**values)
    except TypeError:
        return None


def name_of(run: Run) -> str:
    """The run's name, also on the other machine, where its folder has another one."""
    location = location_of(run)
    return run.name if location is None else location.folder.rpartition("/")[2]


def jobs() -> Iterator[tuple[Run, JobLocation]]:
    """All jobs on other machines that this one knows, newest first."""
    for file in sorted(runs_folder().glob(f"*/{RUN}"), reverse=True):
        run = Run(file.parent)
        location = location_of(run)
        if location is not None:
            yield run, location


def find_job(name: str) -> tuple[Run, JobLocation]:
    """A job by its name or how that begins or ends.

    Raises:
        UsageError: None or several fit; names those that there are.
    """
    known = list(jobs())
    fitting = [
        (run, location)
        for run, location in known
        if run.name.startswith(name) or run.name.endswith(name)
    ]
    if len(fitting) != 1:
        names = ", ".join(run.name for run, _ in (fitting or known)) or "none"
        what = "several jobs fit" if fitting else "no job is called"
        raise UsageError(f"{what} {name!r}", f"jobs: {names}")
    return fitting[0]


def job_state(location: JobLocation) -> JobState:
    """The state of a job, asked of its machine.

    Raises:
        RemoteError: The machine cannot be reached.
    """
    values = location.ssh.ask("state", location.folder)
    return convert(values, JobState, f"{location.host}: state of the job", error=RemoteError)


AT_ONCE = 8


@dataclass(frozen=True, slots=True)
class ListedJob:
    """One job.

    Attributes:
        name: Its name.
        host: Its machine.
        project: The project that it trains for, empty for none.
        state: ``sending``, ``running``, ``finished``, ``failed``, ``stopped``, ``gone``, ``unreachable``,
            ``fetched``, ``cleaned``; ``started`` when its machine was not asked.
        epoch: Epochs begun, as far as events have come.
        epochs: Epochs there will be at most, 0 while unknown.
        problem: Why its machine does not answer, empty when it does.
    """

    name: str
    host: str
    project: str
    state: str
    epoch: int
    epochs: int
    problem: str = ""

    def to_json(self) -> dict[str, Any]:
        """The line as one JSON object."""
        return asdict(self)


def overview(*, ask: bool = True) -> list[ListedJob]:
    """All jobs, newest first; machines are asked side by side, one that is silent holds up no other.

    Args:
        ask: Whether to ask the machines of jobs that were started and not fetched.
    """
    known = list(jobs())
    with ThreadPoolExecutor(AT_ONCE) as pool:
        return list(pool.map(lambda each: _listed_job(*each, ask=ask), known))


def _listed_job(run: Run, location: JobLocation, *, ask: bool) -> ListedJob:
    state, problem = location.state, ""
    if ask and location.state == "started":
        try:
            state = _word(job_state(location))
        except RemoteError as error:
            state, problem = "unreachable", error.message
    status, project = run.status(), run.run().get("project")
    epochs = (status.epoch, status.epochs) if status else (0, 0)
    return ListedJob(run.name, location.host, str(project or ""), state, *epochs, problem)


def _word(state: JobState) -> str:
    if not state.exists:
        return "gone"
    if state.runs:
        return "running"
    return {0: "finished", 130: "stopped", None: "failed"}.get(state.exit, "failed")


_PATTERN = frozenset("*?!")
_DEEPEST = 4
"""Files that include files that include files: enough for people, and an end where they do so in a circle."""
_FILE_BYTES = 1 << 20


def known_hosts() -> list[str]:
    """Hosts to offer: those of earlier trainings first, newest first, then those of the configuration.

    What ``--remote`` would refuse is left out, and so are patterns such as ``*.example.org``.
    """
    used = [location.host for _, location in jobs()]
    return [host for host in dict.fromkeys([*used, *configured_hosts()]) if _is_host(host)]


def configured_hosts() -> list[str]:
    """The names behind ``Host`` in the configuration that ``ssh`` reads, in its order.

    A file that cannot be read names none: ``ssh`` itself will say what is wrong with it.
    """
    return list(dict.fromkeys(_hosts_of(_configuration(), _DEEPEST)))


def _configuration() -> Path:
    """The file that ``ssh`` reads: that of its option ``-F`` where the person gives one."""
    try:
        words = shlex.split(os.environ.get(SSH_VARIABLE, ""))
    except ValueError:
        words = []
    named = [after for word, after in pairwise(words) if word == "-F"]
    return Path(named[-1]) if named else _own_folder() / "config"


def _own_folder() -> Path:
    return Path(os.path.expanduser("~")) / ".ssh"


def _hosts_of(path: Path, depth: int) -> Iterator[str]:
    for key, values in _settings(path):
        if key == "host":
            yield from (value for value in values if not _PATTERN & set(value))
        elif key == "include" and depth:
            for value in values:
                pattern = os.path.join(_own_folder(), os.path.expanduser(value))
                for each in sorted(glob.glob(pattern)):
                    yield from _hosts_of(Path(each), depth - 1)


def _settings(path: Path) -> Iterator[tuple[str, list[str]]]:
    """Keywords in lower case with their values; ``Host=a b`` is ``Host a b``."""
    try:
        with path.open("rb") as stream:
            text = stream.read(_FILE_BYTES).decode("utf-8", "replace")
    except OSError:
        return
    for line in text.splitlines():
        try:
            words = shlex.split(line.replace("=", " ", 1), comments=True)
        except ValueError:
            continue
        if words:
            yield words[0].lower(), words[1:]


def _is_host(host: str) -> bool:
    try:
        check_host(host)
    except UsageError:
        return False
    return True
