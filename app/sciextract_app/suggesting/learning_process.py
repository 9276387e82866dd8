"""A process that learns from a project and predicts, so that neither competes with the desk for its interpreter."""

from __future__ import annotations

import os
import select
import signal
import socket
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Protocol, cast

from sciextract.errors import SciextractError
from sciextract.scale.worker import worker_environment

if TYPE_CHECKING:
    from sciextract.workflows.learn import Learned, Suggested

_MODULE = "sciextract_app.suggesting.learning_process"
_NICE = 10


class LearningEngine(Protocol):
    """Learns and predicts; calls wait for the result. See :class:`~sciextract.workflows.learn.Learner`."""

    def learn(self, share: float) -> Learned:
        """Train on the decisions in the project; what is sure is right in such a share of cases."""

    def predict(self, numbers: Sequence[int]) -> list[Suggested]:
        """Suggestions for some abstracts by what was learned last."""

    def close(self) -> None:
        """End it, whatever it does; a call that waits raises :class:`EndedError`."""


class EndedError(Exception):
    """The process has ended in the middle of something."""


class LearningProcess:
    """A :class:`~sciextract.workflows.learn.Learner` in a process and session of its own, on one core, at low priority.

    It ends with this process, however that ends: its connection closes.

    Args:
        path: The project.
        model: The model that the person named, ``None`` for the one in use.
    """

    def __init__(self, path: Path, model: str | None) -> None:
        ours, theirs = socket.socketpair()
        words = [sys.executable, "-P", "-m", _MODULE, str(path.resolve()), model or ""]
        environment = worker_environment()
        quiet = subprocess.DEVNULL
        with theirs:
            self._process = subprocess.Popen(
                words, stdin=theirs.fileno(), stdout=quiet, stderr=quiet, env=environment,
                start_new_session=True,
            )  # fmt: skip
        self._connection = Connection(ours.detach())

    def learn(self, share: float) -> Learned:
        """Train on the decisions in the project.

        Raises:
            SciextractError: The project cannot be read, or no model is there.
            EndedError: The process has ended.
        """
        return cast("Learned", self._call("learn", share))

    def predict(self, numbers: Sequence[int]) -> list[Suggested]:
        """Suggestions for some abstracts.

        Raises:
            SciextractError: The project cannot be read.
            EndedError: The process has ended.
        """
        return cast("list[Suggested]", self._call("predict", tuple(numbers)))

    def close(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.wait()

    def _call(self, name: str, *arguments: object) -> object:
        try:
            self._connection.send((name, arguments))
            result = self._connection.recv()
        except (EOFError, OSError):
            self.close()
            raise EndedError(f"learning ended with exit code {self._process.returncode}") from None
        if isinstance(result, SciextractError):
            raise result
        return cast(object, result)


def main(path: str, model: str) -> None:
    """Answer calls until the other side is gone."""
    # Nothing is received while this process starts, or trains: the end of the other side would be noticed late.
    Thread(target=_end_with, args=(sys.stdin.fileno(),), daemon=True).start()
    from sciextract.workflows.learn import Learner

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _lower_priority()
    calls, learner = Connection(sys.stdin.fileno()), Learner(Path(path), model or None)
    while True:
        while not calls.poll() and learner.compare():
            pass  # one training at a time, as long as nobody waits
        try:
            name, arguments = calls.recv()
        except EOFError:
            return
        result: object
        try:
            call = learner.learn if name == "learn" else learner.predict
            result = call(*arguments)
        except SciextractError as error:
            result = error
        calls.send(result)


def _end_with(connection: int) -> None:
    """End this process at once when the other side of the connection is gone: it writes nothing that could be cut."""
    waiting = select.poll()
    # No event is asked for: a hang-up is reported all the same.
    waiting.register(connection, 0)
    waiting.poll()
    os._exit(0)


def _lower_priority() -> None:
    """Linux may share its cores between sessions first: then a low priority holds only within this process's own one."""
    os.nice(_NICE)
    with suppress(OSError):
        Path("/proc/self/autogroup").write_text(str(_NICE), "ascii")


if __name__ == "__main__":
    main(*sys.argv[1:])
