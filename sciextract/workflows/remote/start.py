"""A training sent to another machine and started there."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import sciextract
from sciextract.errors import MissingExtraError
from sciextract.workflows.remote import jobs
from sciextract.workflows.remote.jobs import Place
from sciextract.workflows.remote.probe import Machine, probe, require
from sciextract.workflows.remote.ssh import Ssh
from sciextract.workflows.remote.transfer import push
from sciextract.workflows.runs import Run

ROOM_FOR_RESULTS = 600 << 20
"""Checkpoints, graphs and the model folder of a compact encoder take about 400 MiB."""
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
class Task:
    """What is wanted of another machine.

    Attributes:
        host: ``HOST`` or ``USER@HOST``.
        python: Its Python.
        slurm: Whether it goes through SLURM.
        gpu: Whether there must be a GPU.
        model: The folder of the model to start from, which the job finds under its name.
        run_files: What goes into the job's run folder ``run``.
        words: The command after ``python``.
    """

    host: str
    python: str
    slurm: bool
    gpu: bool
    model: Path
    run_files: Sequence[Path]
    words: Sequence[str]


def inspected(host: str, python: str, *, gpu: bool, slurm: bool) -> Machine:
    """Look at a machine before any work: it answers, and has what a training needs.

    Raises:
        UsageError: The host is no host.
        RemoteError: It cannot be reached within 15 seconds, or lacks something.
    """
    ssh = Ssh(host, python)
    machine = probe(ssh)
    require(ssh, machine, needed_bytes=ROOM_FOR_RESULTS, gpu=gpu, slurm=slurm)
    return machine


def start(run: Run, task: Task, machine: Machine) -> Place:
    """Send everything, and start the job apart from the connection.

    Called again after a broken line it sends only what is missing; a job is never started twice.

    Args:
        run: The local run.
        task: What is wanted.
        machine: What the other machine has, see :func:`inspected`.

    Raises:
        RemoteError: There is too little room, or the line broke.
        MissingExtraError: The trainer is not installed here.
    """
    place = jobs.place_of(run) or jobs.new_place(run, task.host, task.python, task.slurm)
    if place.state != "sending":
        return place
    package = _package()
    needed = ROOM_FOR_RESULTS + sum(map(_size, [task.model, *task.run_files]))
    require(place.ssh, machine, needed_bytes=needed, gpu=task.gpu, slurm=task.slurm)
    place = jobs.note(run, place, home=machine.home)
    push(place.ssh, package, f"{place.path}/package", _LEFT_OUT)
    script = run.folder / "job.sh"
    script.write_text(_script(place, task), encoding="utf-8")
    push(place.ssh, [script, task.model], place.path)
    push(place.ssh, task.run_files, f"{place.path}/run")
    place.ssh.run("start", place.folder, "slurm" if place.slurm else "process")
    return jobs.note(run, place, state="started")


def start_again(run: Run, place: Place) -> Place:
    """Let a job that was stopped, or whose process died, go on from its last checkpoint.

    Raises:
        RemoteError: The machine cannot be reached.
    """
    how = "slurm" if place.slurm else "process"
    place.ssh.run("start", place.folder, how, "again")
    return jobs.note(run, place, state="started")


def _script(place: Place, task: Task) -> str:
    launcher = "srun --ntasks=1 " if task.slurm else ""
    command = f"{launcher}{place.python} {shlex.join(task.words)}"
    gpu = "#SBATCH --gres=gpu:1\n" if task.gpu else ""
    header = _SLURM.format(gpu=gpu) if task.slurm else ""
    return _JOB.format(header=header, folder=shlex.quote(place.folder), command=command)


def _package() -> list[Path]:
    """The folders of the package that runs here, so that both machines run the same version.

    Raises:
        MissingExtraError: There is no trainer.
    """
    core = Path(sciextract.__file__).parent
    trainer = find_spec("sciextract_trainer")
    if trainer is None or trainer.submodule_search_locations is None:
        raise MissingExtraError("training", "train")
    beside = core.parent / "schemas"
    data = [] if (core / "_data").is_dir() else [beside]
    return [core, Path(trainer.submodule_search_locations[0]), *data]


def _size(path: Path) -> int:
    files = [path] if path.is_file() else [each for each in path.rglob("*") if each.is_file()]
    return sum(each.stat().st_size for each in files)
