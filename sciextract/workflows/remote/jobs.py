"""Trainings on other machines: where each one is, kept in its local run folder."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from typing import Any

from sciextract.errors import RemoteError, UsageError
from sciextract.workflows.remote.ssh import Ssh
from sciextract.workflows.runs import RUN, Run, runs_folder

JOBS = ".cache/sciextract/jobs"
"""Below the home folder of the other machine."""
KEY = "remote"
THERE = "there"
"""Folder in the local run folder for what came from the other machine: events, log, notes."""


@dataclass(frozen=True, slots=True)
class Place:
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
class Standing:
    """What the other machine says about a job.

    Attributes:
        there: Whether its folder is there.
        exit: Its exit code, ``None`` before its end.
        runs: Whether it runs, or waits in the queue of a cluster.
        log: The end of its log.
    """

    there: bool
    exit: int | None
    runs: bool
    log: str


def new_place(run: Run, host: str, python: str, slurm: bool, device: str = "auto") -> Place:
    """The place of a new job; its folder there has the run's name, as far as no shell reads it as more than a word.

    Raises:
        UsageError: The host is no host.
    """
    ssh = Ssh(host, python)
    place = Place(ssh.host, ssh.python, f"{JOBS}/{_name_there(run)}", slurm=slurm, device=device)
    note(run, place)
    return place


def _name_there(run: Run) -> str:
    """The run's name where it holds ``[A-Za-z0-9_.-]`` only and names a folder, else one that comes of its path."""
    name = re.sub(r"^\.+|[^\w.-]+", "-", run.name, flags=re.ASCII)
    if run.name and name == run.name:
        return name
    return f"{name}-{hashlib.sha256(os.fsencode(run.folder.resolve())).hexdigest()[:8]}"


def note(run: Run, place: Place, **changes: Any) -> Place:
    """Keep where a job is; gives the changed place."""
    changed = replace(place, **changes)
    run.write_run(**{KEY: asdict(changed)})
    return changed


def place_of(run: Run) -> Place | None:
    """Where the job of a run is; ``None`` for runs on this machine."""
    values = run.run().get(KEY)
    if not isinstance(values, dict):
        return None
    try:
        return Place(**values)
    except TypeError:
        return None


def name_of(run: Run) -> str:
    """The run's name, also on the other machine, where its folder has another one."""
    place = place_of(run)
    return run.name if place is None else place.folder.rpartition("/")[2]


def jobs() -> Iterator[tuple[Run, Place]]:
    """All jobs on other machines that this one knows, newest first."""
    for file in sorted(runs_folder().glob(f"*/{RUN}"), reverse=True):
        run = Run(file.parent)
        place = place_of(run)
        if place is not None:
            yield run, place


def find_job(name: str) -> tuple[Run, Place]:
    """A job by its name or how that begins or ends.

    Raises:
        UsageError: None or several fit; names those that there are.
    """
    known = list(jobs())
    fitting = [
        (run, place) for run, place in known if run.name.startswith(name) or run.name.endswith(name)
    ]
    if len(fitting) != 1:
        names = ", ".join(run.name for run, _ in (fitting or known)) or "none"
        what = "several jobs fit" if fitting else "no job is called"
        raise UsageError(f"{what} {name!r}", f"jobs: {names}")
    return fitting[0]


def standing(place: Place) -> Standing:
    """How a job stands on its machine.

    Raises:
        RemoteError: The machine cannot be reached.
    """
    values = place.ssh.ask("state", place.folder)
    try:
        return Standing(**values)
    except TypeError as error:
        raise RemoteError(f"{place.host} answers {values!r}") from error
