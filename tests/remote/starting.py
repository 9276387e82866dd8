"""A job sent and started, as the command does it."""

from __future__ import annotations

from sciextract.retraining.remote import start as starting
from sciextract.retraining.remote.start import RemoteTask
from sciextract.retraining.run_folder import JobLocation, Run


def start(run: Run, task: RemoteTask) -> JobLocation:
    """Look at the machine, send everything, start."""
    return starting.start(run, task, task.target.inspect())
