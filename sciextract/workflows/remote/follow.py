"""The events of a job on another machine, as they come, over lines that break."""

from __future__ import annotations

import subprocess
import tempfile
import time
from collections.abc import Callable
from typing import IO

from sciextract.errors import RemoteError, as_command
from sciextract.workflows.remote import jobs
from sciextract.workflows.remote.jobs import Place, Standing
from sciextract.workflows.remote.ssh import source_of
from sciextract.workflows.runs import METRICS, Run

WAITS = (1.0, 2.0, 5.0, 10.0, 30.0)
"""Seconds before the line is tried again; the last one again and again."""
QUIET_SECONDS = 20.0
"""After so long without an event the machine is asked whether the job still runs."""
MAX_EVENT_BYTES = 64 << 20
"""A training of many hours sends a tenth of that."""
_CHUNK = 1 << 16


def follow(
    run: Run,
    place: Place,
    came: Callable[[], object],
    lost: Callable[[str, float], object],
    sleep: Callable[[float], object] = time.sleep,
) -> Standing:
    """Copy the job's events into a folder of this machine until the job ends; gives how it ended.

    The local file of events holds exactly the bytes that have come, so that whoever follows next, after a broken
    line or a closed laptop, goes on behind them.

    Args:
        run: The folder, which nothing else writes to.
        place: Where the job is.
        came: Called when there is something new in it.
        lost: Called with the reason and the seconds until the next try when the line is down.
        sleep: Waits.

    Raises:
        RemoteError: The job's folder is gone, its process ended without leaving an exit code, or it sent more than
            ``MAX_EVENT_BYTES``.
    """
    tries = 0
    while True:
        before = _size(run)
        try:
            _copy(run, place, came)
            found = jobs.standing(place)
        except RemoteError as error:
            tries = 0 if _size(run) > before else tries
            seconds = WAITS[min(tries, len(WAITS) - 1)]
            lost(error.message, seconds)
            sleep(seconds)
            tries += 1
            continue
        if _size(run) > MAX_EVENT_BYTES:
            raise RemoteError(
                f"{place.host}: the job sent more than {MAX_EVENT_BYTES >> 20} MiB of events; no more are taken",
                f"stop it: {as_command('sciextract', 'jobs', 'cancel', place.folder.rpartition('/')[2])}",
            )
        if found.exit is not None or not found.runs:
            return _ended(place, found)


def _ended(place: Place, found: Standing) -> Standing:
    if not found.there:
        raise RemoteError(f"{place.host}: the job's folder {place.folder} is gone", "start it anew")
    if found.exit is None:
        last = found.log.strip().splitlines()[-1:] or ["its log is empty"]
        raise RemoteError(
            f"{place.host}: the job ended without a word: {last[0]}",
            f"its log: {as_command('ssh', place.host, as_command('cat', f'{place.folder}/log'))}",
        )
    return found


def _copy(run: Run, place: Place, came: Callable[[], object]) -> None:
    """One connection: until the job ends or the line breaks."""
    words = place.ssh.words([place.folder, str(_size(run)), str(QUIET_SECONDS)])
    with tempfile.TemporaryFile() as script, tempfile.TemporaryFile() as told:
        script.write(source_of("follow"))
        script.seek(0)
        process = subprocess.Popen(words, stdin=script, stdout=subprocess.PIPE, stderr=told)
        with process:  # waits for its end
            try:
                _drain(run, process.stdout, came)
                if _size(run) > MAX_EVENT_BYTES:
                    process.terminate()
                    return
            except BaseException:
                process.terminate()
                raise
        told.seek(0)
        reason = told.read().decode("utf-8", "replace").strip().splitlines()
    if process.returncode:
        raise place.ssh.unreachable(reason[-1] if reason else "the line broke")


def _drain(run: Run, stream: IO[bytes] | None, came: Callable[[], object]) -> None:
    if stream is None:
        return
    with (run.folder / METRICS).open("ab", buffering=0) as file:
        while data := stream.read1(_CHUNK):  # type: ignore[attr-defined]
            file.write(data)
            if file.tell() > MAX_EVENT_BYTES:
                return
            came()


def _size(run: Run) -> int:
    path = run.folder / METRICS
    return path.stat().st_size if path.exists() else 0
