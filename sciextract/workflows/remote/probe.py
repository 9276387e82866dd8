"""Whether another machine can do a training, before anything is sent to it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sciextract.errors import RemoteError, as_command
from sciextract.workflows.remote.ssh import FIRST_CONTACT_SECONDS, Ssh

LEAST_PYTHON = (3, 11)
_MIB = 1 << 20


@dataclass(frozen=True, slots=True)
class Machine:
    """What the other machine has.

    Attributes:
        python: Version of its Python.
        executable: Its Python.
        missing: Packages that a training needs and it lacks.
        gpus: Names of its NVIDIA cards.
        free_bytes: Room in the home folder.
        home: The home folder.
        writable: Whether the home folder takes files.
        rsync: Whether it has rsync.
        sbatch: Whether it has SLURM.
        system: Operating system and processor.
    """

    python: tuple[int, ...]
    executable: str
    missing: tuple[str, ...]
    gpus: tuple[str, ...]
    free_bytes: int
    home: str
    writable: bool
    rsync: bool
    sbatch: bool
    system: str

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> Machine:
        """What the probe printed."""
        lists = {name: tuple(values[name]) for name in ("python", "missing", "gpus")}
        return cls(**{**values, **lists})


def probe(ssh: Ssh) -> Machine:
    """Look at a machine; one attempt, which fails within 15 seconds.

    Raises:
        RemoteError: It does not answer, or has no Python under that name.
    """
    values = ssh.ask("probe", seconds=FIRST_CONTACT_SECONDS)
    try:
        return Machine.from_json(values)
    except (KeyError, TypeError) as error:
        raise RemoteError(f"{ssh.host} answers a probe with {values!r}") from error


def require(ssh: Ssh, machine: Machine, *, needed_bytes: int, gpu: bool, slurm: bool) -> None:
    """Refuse a machine that lacks something, before any work.

    Args:
        ssh: The machine.
        machine: What it has.
        needed_bytes: Room that the job takes.
        gpu: Whether a GPU was asked for.
        slurm: Whether the job goes through SLURM.

    Raises:
        RemoteError: Names what is lacking and how to get it.
    """
    host = ssh.host
    if machine.python < LEAST_PYTHON:
        found = ".".join(map(str, machine.python))
        least = ".".join(map(str, LEAST_PYTHON))
        raise RemoteError(
            f"{host}: {machine.executable} is Python {found}, {least} or newer is needed",
            "name another one with --remote-python",
        )
    if machine.missing:
        raise RemoteError(
            f"{host}: {machine.executable} lacks {', '.join(machine.missing)}",
            f"on {host}: {as_command(machine.executable, '-m', 'pip', 'install', 'sciextract[train]')}; "
            "or name another Python with --remote-python",
        )
    _require_room(host, machine, needed_bytes)
    _require_tools(host, machine, gpu and not slurm, slurm)


def _require_room(host: str, machine: Machine, needed_bytes: int) -> None:
    if not machine.writable:
        raise RemoteError(f"{host}: {machine.home} takes no files", "make it writable")
    if machine.free_bytes < needed_bytes:
        raise RemoteError(
            f"{host}: {machine.free_bytes // _MIB} MiB are free in {machine.home}, the job needs "
            f"{-(-needed_bytes // _MIB)} MiB",
            "make room there; old jobs go with: sciextract jobs clean",
        )


def _require_tools(host: str, machine: Machine, gpu: bool, slurm: bool) -> None:
    if not machine.rsync:
        raise RemoteError(f"{host} has no rsync", "install it there")
    if slurm and not machine.sbatch:
        raise RemoteError(f"{host} has no sbatch", "leave --slurm out, or name the login node")
    if gpu and not machine.gpus:
        raise RemoteError(
            f"{host} shows no NVIDIA GPU", "leave --gpu out to train on its processor"
        )
