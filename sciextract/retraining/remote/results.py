"""The events of a job on another machine as they come, and what is fetched and removed at its end."""

from __future__ import annotations

import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from sciextract.errors import ModelDamagedError, ModelNotFoundError, RemoteError, as_command
from sciextract.inference.model_folder import open_folder
from sciextract.retraining.remote import jobs
from sciextract.retraining.remote.jobs import REMOTE_FILES, JobState, ssh_of
from sciextract.retraining.remote.ssh import script
from sciextract.retraining.remote.start import fetch
from sciextract.retraining.run_folder import (
    JOBS,
    LOG,
    METRICS,
    MODEL,
    RUN,
    JobLocation,
    Run,
    RunRecord,
)
from sciextract.workflows.models.compare import FOLDER

WAITS = (1.0, 2.0, 5.0, 10.0, 30.0)
"""Seconds before the line is tried again; the last one again and again."""
QUIET_SECONDS = 20.0
"""After so long without an event the machine is asked whether the job still runs."""
MAX_EVENT_BYTES = 64 << 20
"""A training of many hours sends a tenth of that."""
_CHUNK = 1 << 16


def follow(
    run: Run,
    location: JobLocation,
    on_event: Callable[[], object],
    on_lost: Callable[[str, float], object],
    sleep: Callable[[float], object] = time.sleep,
) -> JobState:
    """Copy the job's events into a folder of this machine until the job ends; gives how it ended.

    The local file of events holds exactly the bytes that have come, so that whoever follows next, after a broken
    line or a closed laptop, continues behind them.

    Args:
        run: The folder, which nothing else writes to.
        location: Where the job is.
        on_event: Called when there is something new in it.
        on_lost: Called with the reason and the seconds until the next try when the line is down.
        sleep: Waits.

    Raises:
        RemoteError: The job's folder is gone, its process ended without leaving an exit code, or it sent more than
            ``MAX_EVENT_BYTES``.
    """
    tries = 0
    while True:
        before = _size(run)
        try:
            _copy(run, location, on_event)
            state = jobs.job_state(location)
        except RemoteError as error:
            # Events came before the line broke: the first wait is short again.
            tries = 0 if _size(run) > before else tries
            seconds = WAITS[min(tries, len(WAITS) - 1)]
            on_lost(error.message, seconds)
            sleep(seconds)
            tries += 1
            continue
        if _size(run) > MAX_EVENT_BYTES:
            raise RemoteError(
                f"{location.host}: the job sent more than {MAX_EVENT_BYTES >> 20} MiB of events; no more are taken",
                f"stop it: {as_command('sciextract', 'jobs', 'cancel', location.name)}",
            )
        if state.exit is None and state.runs:
            continue
        if not state.exists:
            raise RemoteError(
                f"{location.host}: the job's folder {location.folder} is gone", "start it anew"
            )
        if state.exit is None:
            last = state.log.strip().splitlines()[-1:] or ["its log is empty"]
            raise RemoteError(
                f"{location.host}: the job ended without an error message: {last[0]}",
                f"its log: {as_command('ssh', location.host, as_command('cat', f'{location.folder}/log'))}",
            )
        return state


def _copy(run: Run, location: JobLocation, on_event: Callable[[], object]) -> None:
    """One connection: until the job ends or the line breaks."""
    words = ssh_of(location).words("follow", location.folder, str(_size(run)), str(QUIET_SECONDS))
    with tempfile.TemporaryFile() as source, tempfile.TemporaryFile() as errors:
        source.write(script())
        source.seek(0)
        process = subprocess.Popen(words, stdin=source, stdout=subprocess.PIPE, stderr=errors)
        with process, (run.folder / METRICS).open("ab", buffering=0) as file:  # waits for its end
            try:
                while data := process.stdout.read1(_CHUNK):  # type: ignore[union-attr]
                    file.write(data)
                    if file.tell() > MAX_EVENT_BYTES:
                        process.terminate()
                        return
                    on_event()
            except BaseException:
                process.terminate()
                raise
        errors.seek(0)
        reason = errors.read().decode("utf-8", "replace").strip().splitlines()
    if process.returncode:
        raise ssh_of(location).unreachable(reason[-1] if reason else "the line broke")


def _size(run: Run) -> int:
    path = run.folder / METRICS
    return path.stat().st_size if path.exists() else 0


def fetch_model(run: Run, location: JobLocation) -> Path:
    """Bring the trained model into the local run folder; every file's hash is checked.

    Raises:
        RemoteError: The line broke, there is no model, or a file arrived changed.
    """
    fetch(ssh_of(location), f"{location.path}/{LOG}", run.folder / REMOTE_FILES)
    fetch(ssh_of(location), f"{location.path}/run/{MODEL}", run.folder)
    if run.record().folds:
        fetch(ssh_of(location), f"{location.path}/run/{FOLDER}", run.folder)
    try:
        open_folder(run.folder / MODEL)
    except (ModelDamagedError, ModelNotFoundError) as error:
        raise RemoteError(
            f"the model from {location.host} was not transferred completely: {error.message}",
            f"fetch it again: {as_command('sciextract', 'jobs', 'fetch', run.name)}",
        ) from error
    jobs.note(run, location, state="fetched")
    return run.folder / MODEL


def fetch_record(run: Run, location: JobLocation) -> RunRecord:
    """What the other machine has noted in its ``run.json``: settings, device, versions.

    Raises:
        RemoteError: The line broke.
    """
    fetch(ssh_of(location), f"{location.path}/run/{RUN}", run.folder / REMOTE_FILES)
    return Run(run.folder / REMOTE_FILES).record()


def cancel(location: JobLocation) -> None:
    """Stop a job at a point from which it can go on.

    Raises:
        RemoteError: The machine cannot be reached.
    """
    ssh_of(location).run("cancel", location.folder)


def clean(run: Run, location: JobLocation) -> None:
    """Remove a job's folder on its machine; the local run folder stays.

    Raises:
        RemoteError: It still runs, or the machine cannot be reached.
    """
    if jobs.job_state(location).runs:
        raise RemoteError(
            f"{run.name} still runs on {location.host}",
            f"first: {as_command('sciextract', 'jobs', 'cancel', run.name)}",
        )
    ssh_of(location).run("clean", location.folder, JOBS)
    jobs.note(run, location, state="cleaned")
