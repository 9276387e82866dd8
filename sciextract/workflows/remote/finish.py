"""What comes back from another machine, and what is removed there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sciextract.errors import ModelDamagedError, ModelNotFoundError, RemoteError, as_command
from sciextract.inference.folder import open_folder
from sciextract.workflows.remote import jobs
from sciextract.workflows.remote.jobs import JOBS, THERE, Place
from sciextract.workflows.remote.transfer import fetch
from sciextract.workflows.runs import LOG, MODEL, RUN, Run


def fetch_model(run: Run, place: Place) -> Path:
    """Bring the trained model into the local run folder; every file's hash is checked.

    Raises:
        RemoteError: The line broke, there is no model, or a file arrived changed.
    """
    fetch(place.ssh, f"{place.path}/{LOG}", run.folder / THERE)
    fetch(place.ssh, f"{place.path}/run/{MODEL}", run.folder)
    try:
        open_folder(run.folder / MODEL)
    except (ModelDamagedError, ModelNotFoundError) as error:
        raise RemoteError(
            f"the model from {place.host} did not arrive whole: {error.message}",
            f"fetch it again: {as_command('sciextract', 'jobs', 'fetch', run.name)}",
        ) from error
    jobs.note(run, place, state="fetched")
    return run.folder / MODEL


def fetch_notes(run: Run, place: Place) -> dict[str, Any]:
    """What the other machine has noted in its ``run.json``: settings, device, versions.

    Raises:
        RemoteError: The line broke.
    """
    fetch(place.ssh, f"{place.path}/run/{RUN}", run.folder / THERE)
    return Run(run.folder / THERE).run()


def cancel(place: Place) -> None:
    """Stop a job at a point from which it can go on.

    Raises:
        RemoteError: The machine cannot be reached.
    """
    place.ssh.run("cancel", place.folder)


def clean(run: Run, place: Place) -> None:
    """Remove a job's folder on its machine; the local run folder stays.

    Raises:
        RemoteError: It still runs, or the machine cannot be reached.
    """
    if jobs.standing(place).runs:
        raise RemoteError(
            f"{run.name} still runs on {place.host}",
            f"first: {as_command('sciextract', 'jobs', 'cancel', run.name)}",
        )
    place.ssh.run("clean", place.folder, JOBS)
    jobs.note(run, place, state="cleaned")
