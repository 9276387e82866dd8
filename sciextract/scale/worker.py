"""A worker process: ``python -m sciextract.scale.worker``, with a socket as its standard input.

It gets the work once and then tasks, lists of records, one after the other, and answers each with the outcomes. It
ends as soon as the process that started it is gone, however that one ended and whatever it does itself.
"""

from __future__ import annotations

import contextlib
import os
import queue
import signal
import sys
import threading
from multiprocessing.connection import Connection
from typing import Any

from sciextract.errors import SciextractError
from sciextract.scale.interface import Work

READY, REFUSED = "ready", "refused"
_DEATH_SIGNAL_OPTION = 1  # PR_SET_PDEATHSIG of prctl(2)


def main() -> None:
    """Serve until the socket is closed."""
    _die_with_parent(int(sys.argv[1]))
    connection = _connection()
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):
        serve(connection)


def serve(connection: Connection) -> None:
    """Load what the work names, then answer tasks."""
    from sciextract.scale.predicting import RecordPredictor

    work: Work = connection.recv()
    try:
        predictor = RecordPredictor(work)
    except SciextractError as error:
        connection.send(_refusal(error))
        return
    connection.send((READY,))
    tasks = _received(connection)
    while True:
        try:
            connection.send((READY, predictor.outcomes(tasks.get())))
        except SciextractError as error:
            connection.send(_refusal(error))
            return


def _refusal(error: SciextractError) -> tuple[str, str, str, int]:
    return (REFUSED, error.message, error.hint, int(error.exit_code))


def _received(connection: Connection) -> queue.SimpleQueue[Any]:
    """Tasks as they come; the thread that waits for them notices that the other side is gone."""
    tasks: queue.SimpleQueue[Any] = queue.SimpleQueue()

    def receive() -> None:
        try:
            while True:
                tasks.put(connection.recv())
        except (EOFError, OSError):
            os._exit(0)

    threading.Thread(target=receive, daemon=True).start()
    return tasks


def _connection() -> Connection:
    """The socket, and nothing in its place that could be read by mistake."""
    connection = Connection(os.dup(0))
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    return connection


def _die_with_parent(parent: int) -> None:
    """On Linux the kernel ends this process with its parent, also in a loop that lets no thread run."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(_DEATH_SIGNAL_OPTION, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        os._exit(0)


if __name__ == "__main__":
    main()
