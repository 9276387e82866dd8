"""A training sent to another machine and started there."""

from __future__ import annotations

import shlex
import subprocess
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from pathlib import Path

import sciextract
from sciextract.codec import convert
from sciextract.errors import MissingExtraError, RemoteError, as_command
from sciextract.retraining.remote import jobs
from sciextract.retraining.remote.jobs import ssh_of
from sciextract.retraining.remote.ssh import FIRST_CONTACT_SECONDS, Ssh
from sciextract.retraining.run_folder import JobLocation, Run

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


def probe(ssh: Ssh) -> Machine:
    """Look at a machine; one attempt, which fails within 15 seconds.

    Raises:
        RemoteError: It does not answer, or has no Python under that name.
    """
    values = ssh.ask("probe", seconds=FIRST_CONTACT_SECONDS)
    return convert(values, Machine, f"{ssh.host}: answer to the test command", error=RemoteError)


MAX_FILE_BYTES = 4 << 30
"""A file from another machine that is larger stays there; models take far less."""
_PRIVATE = ("--archive", "--chmod=go=", "--rsync-path=umask 077 && rsync", "--mkpath")
_PLAIN = (
    "--recursive",
    "--times",
    "--no-links",
    "--chmod=D755,F644",
    f"--max-size={MAX_FILE_BYTES}",
)
_HINTS = {
    11: "free some space on the receiving machine",
    12: "is the disk there full, or rsync missing?",
    255: "the connection failed: repeat the command to resume",
}


def push(ssh: Ssh, sources: Sequence[Path], folder: str, exclude: Sequence[str] = ()) -> None:
    """Copy folders and files into a folder of the other machine, where nobody but their owner may read them.

    Files that are there already are not sent again.

    Args:
        ssh: The machine.
        sources: What to copy; each keeps its name.
        folder: Where to, absolute; made if it is not there.
        exclude: Patterns of names that are left out.

    Raises:
        RemoteError: The line broke, or there is no room.
    """
    target = f"{ssh.rsync_host}:{folder}/"
    leave_out = [f"--exclude={pattern}" for pattern in exclude]
    _rsync(ssh, [*_PRIVATE, *leave_out, "--", *map(_local, sources), target])


def fetch(ssh: Ssh, path: str, into: Path) -> None:
    """Copy a folder or file of the other machine into a folder here: plain files with plain permissions.

    Links, devices and files of more than ``MAX_FILE_BYTES`` stay there.

    Raises:
        RemoteError: The line broke, it is not there, or there is no room here.
    """
    into.mkdir(parents=True, exist_ok=True)
    _rsync(ssh, [*_PLAIN, "--", f"{ssh.rsync_host}:{path}", f"{_local(into)}/"])


def _local(path: Path) -> str:
    """A path that rsync takes for no host: absolute, so that a colon in it means nothing."""
    return str(path.absolute())


def _rsync(ssh: Ssh, words: Sequence[str]) -> None:
    command = ["rsync", "--partial", "--secluded-args", "--no-specials",
               "--no-devices", "--timeout=60", f"--rsh={shlex.join(ssh.command())}", *words]  # fmt: skip
    try:
        ended = subprocess.run(command, capture_output=True, check=False)
    except FileNotFoundError as error:
        raise RemoteError("rsync: no such command", "install rsync on this machine") from error
    if ended.returncode:
        lines = ended.stderr.decode("utf-8", "replace").strip().splitlines()
        reason = next((line for line in lines if line), f"exit code {ended.returncode}")
        raise RemoteError(f"{ssh.host}: {reason[-500:]}", _HINTS.get(ended.returncode, ""))


ROOM_FOR_RESULTS = 600 << 20
"""Checkpoints, graphs and the model folder of a compact encoder take about 400 MiB."""
# Bundled models are most of the package, and the start model is sent by itself.
_LEFT_OUT = ("__pycache__", "*.pyc", "bundled")
_JOB = """\
#!/bin/sh
{header}umask 077
cd "$HOME"/{folder} || exit 1
PYTHONPATH="$PWD/package" SCIEXTRACT_HOME="$PWD/home" PYTHONUNBUFFERED=1
export PYTHONPATH SCIEXTRACT_HOME PYTHONUNBUFFERED
trap : INT
{command}
echo $? >exit.part && mv exit.part exit
"""
# An interrupt reaches the whole process group: the training stops, this shell waits and notes its exit code.
_SLURM = """\
#SBATCH --job-name=sciextract
#SBATCH --output=log
#SBATCH --open-mode=append
#SBATCH --signal=INT@120
{gpu}"""


@dataclass(frozen=True, slots=True)
class RemoteTarget:
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

    def inspect(self) -> Machine:
        """What the machine has, which is what a training needs.

        Raises:
            UsageError: The host name is not valid.
            RemoteError: It cannot be reached within 15 seconds, or lacks something.
        """
        machine = probe(Ssh(self.host, self.python))
        self.require(machine)
        return machine

    def require(self, machine: Machine, needed_bytes: int = ROOM_FOR_RESULTS) -> None:
        """Refuse a machine that lacks something, before any work.

        Args:
            machine: What it has.
            needed_bytes: Room that the job takes.

        Raises:
            RemoteError: Names what is lacking and how to get it.
        """
        host = self.host
        if machine.python < LEAST_PYTHON:
            version = ".".join(map(str, machine.python))
            least = ".".join(map(str, LEAST_PYTHON))
            raise RemoteError(
                f"{host}: {machine.executable} is Python {version}, {least} or newer is needed",
                "name another one with --remote-python",
            )
        if machine.missing:
            raise RemoteError(
                f"{host}: {machine.executable} lacks {', '.join(machine.missing)}",
                f"on {host}: {as_command(machine.executable, '-m', 'pip', 'install', 'sciextract[train]')}; "
                "or name another Python with --remote-python",
            )
        if not machine.writable:
            raise RemoteError(f"{host}: {machine.home} takes no files", "make it writable")
        if machine.free_bytes < needed_bytes:
            raise RemoteError(
                f"{host}: {machine.free_bytes // _MIB} MiB are free in {machine.home}, the job needs "
                f"{-(-needed_bytes // _MIB)} MiB",
                "free some space there; sciextract jobs clean removes old jobs",
            )
        if not machine.rsync:
            raise RemoteError(f"{host} has no rsync", "install it there")
        if self.slurm and not machine.sbatch:
            raise RemoteError(f"{host} has no sbatch", "omit --slurm, or use the login node")
        # With SLURM the login node need not have one.
        if self.device == "cuda" and not self.slurm and not machine.gpus:
            raise RemoteError(f"{host} shows no NVIDIA GPU", "omit --gpu to train on the CPU")


@dataclass(frozen=True, slots=True)
class RemoteTask:
    """What is wanted of another machine.

    Attributes:
        target: The machine.
        model: The folder of the model to start from, which the job finds under its name.
        run_files: What goes into the job's run folder ``run``.
        words: The command after ``python``.
    """

    target: RemoteTarget
    model: Path
    run_files: Sequence[Path]
    words: Sequence[str]


def start(run: Run, task: RemoteTask, machine: Machine) -> JobLocation:
    """Send everything, and start the job apart from the connection.

    Called again after a broken line it sends only what is missing; a job is never started twice.

    Args:
        run: The local run.
        task: What is wanted.
        machine: What the other machine has, see :meth:`RemoteTarget.inspect`.

    Raises:
        RemoteError: There is too little room, or the line broke.
        MissingExtraError: The trainer is not installed here.
    """
    location = jobs.location_of(run) or jobs.new_location(run, **asdict(task.target))
    if location.state != "sending":
        return location
    # The folders of the package that runs here, so that both machines run the same version.
    core, trainer = Path(sciextract.__file__).parent, find_spec("sciextract_trainer")
    if trainer is None or trainer.submodule_search_locations is None:
        raise MissingExtraError("training", "train")
    # In a checkout the schemas lie beside the package.
    data = [] if (core / "_data").is_dir() else [core.parent / "schemas"]
    package = [core, Path(trainer.submodule_search_locations[0]), *data]
    sent = [task.model, *task.run_files]
    files = [file for path in sent for file in (path, *path.rglob("*")) if file.is_file()]
    needed = ROOM_FOR_RESULTS + sum(file.stat().st_size for file in files)
    ssh = ssh_of(location)
    task.target.require(machine, needed)
    location = jobs.note(run, location, home=machine.home)
    push(ssh, package, f"{location.path}/package", _LEFT_OUT)
    script = run.folder / "job.sh"
    script.write_text(job_script(location, task), encoding="utf-8")
    push(ssh, [script, task.model], location.path)
    push(ssh, task.run_files, f"{location.path}/run")
    ssh.run("start", location.folder, "slurm" if location.slurm else "process")
    return jobs.note(run, location, state="started")


def job_script(location: JobLocation, task: RemoteTask) -> str:
    """What ``sh``, or SLURM, runs in the job's folder."""
    launcher = "srun --ntasks=1 " if location.slurm else ""
    command = f"{launcher}{location.python} {shlex.join(task.words)}"
    gpu = "#SBATCH --gres=gpu:1\n" if location.device == "cuda" else ""
    header = _SLURM.format(gpu=gpu) if location.slurm else ""
    return _JOB.format(header=header, folder=shlex.quote(location.folder), command=command)


def start_again(run: Run, location: JobLocation) -> JobLocation:
    """Let a job that was stopped, or whose process died, go on from its last checkpoint.

    Raises:
        RemoteError: The machine cannot be reached.
    """
    how = "slurm" if location.slurm else "process"
    ssh_of(location).run("start", location.folder, how, "again")
    return jobs.note(run, location, state="started")
