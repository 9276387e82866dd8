"""Stopping a job on another machine, which may take its time to answer."""

from __future__ import annotations

from textual.message import Message

from sciextract.errors import SciextractError
from sciextract.workflows.correction.cancelling import cancel_job
from sciextract.workflows.remote.jobs import place_of
from sciextract.workflows.runs import Run


class JobCancelled(Message):
    """The machine was asked.

    Attributes:
        host: The machine.
        error: Why the job could not be stopped, ``None`` where it was.
    """

    def __init__(self, host: str, error: SciextractError | None = None) -> None:
        super().__init__()
        self.host = host
        self.error = error


def cancelled(run: Run) -> JobCancelled:
    """Stop the job of a run on its machine, and say how that went."""
    place = place_of(run)
    if place is None:
        return JobCancelled("")
    try:
        cancel_job(run, place)
    except SciextractError as error:
        return JobCancelled(place.host, error)
    return JobCancelled(place.host)
