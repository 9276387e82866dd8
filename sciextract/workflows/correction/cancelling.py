"""A training on another machine is stopped there."""

from __future__ import annotations

from dataclasses import replace

from sciextract.errors import as_command
from sciextract.workflows.remote import finish
from sciextract.workflows.remote.jobs import Place
from sciextract.workflows.runs import Run, Status


def cancel_job(run: Run, place: Place) -> None:
    """Stop a job at a point from which it can go on, and note that where nobody follows it.

    Args:
        run: Its local run.
        place: Where it is.

    Raises:
        RemoteError: The machine cannot be reached.
    """
    finish.cancel(place)
    status = run.status()
    if place.state != "started" or status is None or _is_told(run, status):
        return
    message = f"{run.name} was stopped on {place.host}"
    hint = f"go on: {as_command('sciextract', 'retrain', '--run', run.folder)}"
    run.append({"event": "error", "message": message, "hint": hint})
    run.write_status(replace(status, state="stopped", message=message, hint=hint, lost=""))


def _is_told(run: Run, status: Status) -> bool:
    """Whether the run has come to another end, or somebody follows the job and sees that it stops."""
    return status.state in ("done", "failed") or (status.state != "stopped" and run.is_alive())
