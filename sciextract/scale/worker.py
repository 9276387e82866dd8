"""A worker process and the parent's side of it, :class:`WorkerProcess`.

The process is ``python -m sciextract.scale.worker`` with a socket as its standard input. It gets the work once and
then tasks, lists of records, one after the other, and answers each with the outcomes. It ends as soon as the process
that started it is gone, however that one ended and whatever it does itself.
"""

from __future__ import annotations

import contextlib
import math
import os
import queue
import signal
import socket
import struct
import subprocess
import sys
import threading
from collections.abc import Sequence
from multiprocessing.connection import Connection
from typing import Any

from sciextract.errors import SciextractError
from sciextract.formats.lazy import LazyItem
from sciextract.scale.interface import Work, WorkerRefusedError
from sciextract.scale.predicting import RecordOutcome, RecordPredictor

READY, REFUSED = "ready", "refused"
_DEATH_SIGNAL_OPTION = 1  # PR_SET_PDEATHSIG of prctl(2)
_MODULE = "sciextract.scale.worker"
_NO_CURRENT_FOLDER = ("-P",)
"""A module of the present folder is none of ours, even if it is called ``queue``."""
_ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
_REAPED_SECONDS = 5.0
_SEND_SECONDS = 60
WAIT_SECONDS = 0.1
"""After so long a worker is asked again whether it has answered."""


class WorkerDiedError(Exception):
    """A worker process ended in the middle of something; the message says how."""


class WorkerProcess:
    """A fresh interpreter that predicts records: nothing of this process is copied into it.

    It is started by hand, not by ``multiprocessing``, which would import the main module again: a script without
    ``if __name__ == "__main__"`` may use workers, too.

    Args:
        work: What it will do; it loads the model at once.
    """

    def __init__(self, work: Work) -> None:
        ours, theirs = socket.socketpair()
        words = [sys.executable, *_NO_CURRENT_FOLDER, "-m", _MODULE, str(os.getpid())]
        # A process that is started meanwhile never sees Ctrl-C: what it means for a run, its parent decides.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            with theirs:
                self._process = subprocess.Popen(
                    words,
                    stdin=theirs.fileno(),
                    stdout=subprocess.DEVNULL,
                    env=worker_environment(),
                )
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
        # A socket that is full for so long has a process at its other end that will never read.
        ours.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, struct.pack("ll", _SEND_SECONDS, 0))
        self._connection = Connection(ours.detach())
        self.send(work)

    def ready(self, seconds: float) -> None:
        """Wait until the model is loaded.

        Args:
            seconds: How long that may take.

        Raises:
            WorkerDiedError: The process ended before, or took longer and was killed.
            WorkerRefusedError: The model cannot be had, or cannot do the work.
        """
        self._answer(seconds)

    def receive(self, seconds: float) -> list[RecordOutcome]:
        """The outcomes of the first list of records that is not answered yet.

        Args:
            seconds: How long that may take from now on.

        Raises:
            WorkerDiedError: The process ended, or took longer and was killed.
            WorkerRefusedError: The model cannot do the work.
        """
        outcomes: list[RecordOutcome] = self._answer(seconds)[1]
        return outcomes

    def kill(self) -> None:
        self._process.kill()

    def close(self) -> None:
        self.kill()
        self._process.wait()
        self._connection.close()

    def send(self, message: Work | Sequence[LazyItem]) -> None:
        """Hand it the work, or records; several lists may be under way. That it has died is noticed when it should answer."""
        try:
            self._connection.send(message)
        except (BrokenPipeError, ConnectionResetError):
            return
        except BlockingIOError:  # it hangs so that not even its thread for tasks runs
            self.kill()

    def _answer(self, seconds: float) -> tuple[Any, ...]:
        # In short waits that are counted: while the run is stopped or the machine sleeps, one of them goes by.
        waits = math.ceil(seconds / WAIT_SECONDS)
        if not any(self._connection.poll(WAIT_SECONDS) for _ in range(waits)):
            self.kill()
            raise WorkerDiedError("the process was killed because it exceeded the time limit")
        try:
            answer: tuple[Any, ...] = self._connection.recv()
        except (EOFError, ConnectionResetError):
            how = "the process closed its connection"
            with contextlib.suppress(subprocess.TimeoutExpired):
                code = self._process.wait(_REAPED_SECONDS)
                how = f"the process ended with exit code {code}"
                if code < 0:
                    names = {known.value: known.name for known in signal.Signals}
                    how = f"the process was ended by {names.get(-code, f'signal {-code}')}"
            raise WorkerDiedError(how) from None
        if answer[0] == REFUSED:
            raise WorkerRefusedError(*answer[1:])
        return answer


def worker_environment() -> dict[str, str]:
    """One thread a worker, and modules from where this process has them."""
    return {
        **os.environ,
        **dict.fromkeys(_ONE_THREAD, "1"),
        "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
    }


def main() -> None:
    """Serve until the socket is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if sys.platform == "linux":
        import ctypes

        # The kernel ends this process with its parent, also in a loop that lets no thread run.
        ctypes.CDLL(None).prctl(_DEATH_SIGNAL_OPTION, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != int(sys.argv[1]):
        os._exit(0)  # the parent was gone before the kernel was asked
    connection = Connection(os.dup(0))
    # Nothing that could be read by mistake stays in the place of the socket.
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):
        serve(connection)


def serve(connection: Connection) -> None:
    """Load what the work names, then answer tasks."""
    work: Work = connection.recv()
    tasks: queue.SimpleQueue[Any] = queue.SimpleQueue()

    # The thread that waits for tasks notices that the other side is gone, while the model is at work.
    def receive() -> None:
        try:
            while True:
                tasks.put(connection.recv())
        except (EOFError, OSError):
            os._exit(0)

    try:
        predictor = RecordPredictor(work)
        connection.send((READY,))
        threading.Thread(target=receive, daemon=True).start()
        while True:
            connection.send((READY, predictor.outcomes(tasks.get())))
    except SciextractError as error:
        connection.send((REFUSED, error.message, error.hint, int(error.exit_code)))


if __name__ == "__main__":
    main()
