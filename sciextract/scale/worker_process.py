"""The parent's side of one worker process."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from multiprocessing.connection import Connection
from typing import Any

from sciextract.formats.lazy import LazyItem
from sciextract.scale.interface import Work, WorkerRefusedError
from sciextract.scale.predicting import Outcome
from sciextract.scale.worker import REFUSED

_MODULE = "sciextract.scale.worker"
_NO_CURRENT_FOLDER = ("-P",)
"""A module of the present folder is none of ours, even if it is called ``queue``."""
_ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
_REAPED_SECONDS = 5.0


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
        with theirs, _ctrl_c_blocked():
            self._process = subprocess.Popen(
                words, stdin=theirs.fileno(), stdout=subprocess.DEVNULL, env=worker_environment()
            )
        self._connection = Connection(ours.detach())
        self._sent(work)

    def ready(self) -> None:
        """Wait until the model is loaded.

        Raises:
            WorkerDiedError: The process ended before.
            WorkerRefusedError: The model cannot be had, or cannot do the work.
        """
        self._answer()

    def send(self, items: Sequence[LazyItem]) -> None:
        """Hand it records; several lists may be under way. That it has died is noticed when it should answer."""
        self._sent(items)

    def receive(self) -> list[Outcome]:
        """The outcomes of the first list of records that is not answered yet.

        Raises:
            WorkerDiedError: The process ended.
            WorkerRefusedError: The model cannot do the work.
        """
        outcomes: list[Outcome] = self._answer()[1]
        return outcomes

    def kill(self) -> None:
        """End it now."""
        self._process.kill()

    def close(self) -> None:
        """End it, and forget it."""
        self.kill()
        self._process.wait()
        self._connection.close()

    def _sent(self, message: object) -> None:
        try:
            self._connection.send(message)
        except (BrokenPipeError, ConnectionResetError):
            return

    def _answer(self) -> tuple[Any, ...]:
        try:
            answer: tuple[Any, ...] = self._connection.recv()
        except (EOFError, ConnectionResetError):
            raise WorkerDiedError(self._exit_message()) from None
        if answer[0] == REFUSED:
            raise WorkerRefusedError(*answer[1:])
        return answer

    def _exit_message(self) -> str:
        try:
            code = self._process.wait(_REAPED_SECONDS)
        except subprocess.TimeoutExpired:
            return "the process closed its connection"
        if code >= 0:
            return f"the process ended with exit code {code}"
        return f"the process was ended by {_signal_name(-code)}"


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def worker_environment() -> dict[str, str]:
    """One thread a worker, and modules from where this process has them."""
    return {
        **os.environ,
        **dict.fromkeys(_ONE_THREAD, "1"),
        "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
    }


@contextmanager
def _ctrl_c_blocked() -> Iterator[None]:
    """A process that is started meanwhile never sees Ctrl-C: what it means for a run, its parent decides."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
