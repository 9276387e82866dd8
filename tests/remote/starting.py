"""A job sent and started, as the command does it."""

from __future__ import annotations

from sciextract.workflows.remote import start as starting
from sciextract.workflows.remote.jobs import Place
from sciextract.workflows.remote.start import Task
from sciextract.workflows.runs import Run


def start(run: Run, task: Task) -> Place:
    """Look at the machine, send everything, start."""
    machine = starting.inspected(task.host, task.python, gpu=task.gpu, slurm=task.slurm)
    return starting.start(run, task, machine)
