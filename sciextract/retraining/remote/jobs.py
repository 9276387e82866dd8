"""Trainings on other machines: where each one is, kept in its local run folder."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

from sciextract.codec import convert
from sciextract.errors import RemoteError, UsageError
from sciextract.retraining.remote.ssh import Ssh
from sciextract.retraining.run_folder import JobLocation, Run, job_folder, known_runs

REMOTE_FILES = "there"
"""Folder in the local run folder for what came from the other machine: events, log, notes."""


def ssh_of(location: JobLocation) -> Ssh:
    return Ssh(location.host, location.python)


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
    """The location of a new job, noted in its run.

    Raises:
        UsageError: The host name is not valid.
    """
    ssh = Ssh(host, python)
    folder = job_folder(run.folder)
    return note(run, JobLocation(ssh.host, ssh.python, folder, slurm=slurm, device=device))


def note(run: Run, location: JobLocation, **changes: Any) -> JobLocation:
    """Keep where a job is; gives the changed location."""
    changed = replace(location, **changes)
    run.note(remote=changed)
    return changed


def location_of(run: Run) -> JobLocation | None:
    """Where the job of a run is; ``None`` for runs on this machine."""
    return run.record().remote


def jobs() -> Iterator[tuple[Run, JobLocation]]:
    """All jobs on other machines that this one knows, newest first."""
    for run in known_runs():
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
    values = ssh_of(location).ask("state", location.folder)
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


def overview(*, ask: bool = True) -> list[ListedJob]:
    """All jobs, newest first; machines are asked side by side, one that is silent holds up no other.

    Args:
        ask: Whether to ask the machines of jobs that were started and not fetched.
    """

    def look_at(job: tuple[Run, JobLocation]) -> ListedJob:
        run, location = job
        state, problem = location.state, ""
        if ask and state == "started":
            try:
                found = job_state(location)
            except RemoteError as error:
                state, problem = "unreachable", error.message
            else:
                ended = {0: "finished", 130: "stopped"}.get(found.exit or 0, "failed")
                ended = "failed" if found.exit is None else ended
                state = "gone" if not found.exists else "running" if found.runs else ended
        status, project = run.status(), run.record().project or ""
        epochs = (status.epoch, status.epochs) if status else (0, 0)
        return ListedJob(run.name, location.host, project, state, *epochs, problem)

    known = list(jobs())
    # Side by side: a silent machine takes 60 seconds to be given up.
    with ThreadPoolExecutor(AT_ONCE) as pool:
        return list(pool.map(look_at, known))


def known_hosts() -> list[str]:
    """The machines of earlier trainings, the newest first."""
    return list(dict.fromkeys(location.host for _, location in jobs()))
