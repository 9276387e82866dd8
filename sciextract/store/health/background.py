"""The quick check after an unclean close: in a thread, with a connection of its own."""

from __future__ import annotations

import sqlite3
from contextlib import closing, suppress
from pathlib import Path
from threading import Event, Thread
from typing import TYPE_CHECKING

from sciextract.errors import ProjectError
from sciextract.store.file import session
from sciextract.store.file.connection import Mode, connect, transaction
from sciextract.store.health.integrity import problems

if TYPE_CHECKING:
    from sciextract.store.project import Project


class BackgroundCheck:
    """A check that runs.

    Attributes:
        problems: What SQLite found once :attr:`done`; empty when the file is sound.
        failed: Why the check itself could not be done, empty where it could.
    """

    def __init__(self, path: Path, mode: Mode, marks: list[str]) -> None:
        self.problems: tuple[str, ...] = ()
        self.failed = ""
        self._path = path
        self._mode: Mode = mode
        self._marks = marks
        self._cancelled = Event()
        self._connection: sqlite3.Connection | None = None
        self._thread = Thread(target=self._run, name="sciextract-check", daemon=True)
        self._thread.start()

    @property
    def done(self) -> bool:
        """Whether the check has come to its end."""
        return not self._thread.is_alive()

    def wait(self, seconds: float | None = None) -> bool:
        """Wait for the end; says whether it came within so many seconds."""
        self._thread.join(seconds)
        return self.done

    def cancel(self) -> None:
        """End the check before its end, as when the project is closed; the marks stay."""
        self._cancelled.set()
        while not self.wait(0.01):
            if self._connection is not None:
                with suppress(sqlite3.ProgrammingError):  # closed just now
                    self._connection.interrupt()

    def _run(self) -> None:
        try:
            self._check()
            if not self.problems and not self._cancelled.is_set() and self._mode == "write":
                self._forget()
        except (ProjectError, sqlite3.Error) as error:
            self.failed = str(error)

    def _check(self) -> None:
        mode: Mode = "read" if self._mode == "write" else self._mode
        with closing(connect(self._path, mode)) as connection:
            self._connection = connection
            if not self._cancelled.is_set():
                self.problems = tuple(problems(connection, quick=True))

    def _forget(self) -> None:
        with (
            closing(connect(self._path, "write")) as connection,
            transaction(connection, self._path),
        ):
            session.forget(connection, self._marks)


def background_check(project: Project) -> BackgroundCheck | None:
    """Check a project that a process did not close; its marks are forgotten when it is sound.

    Returns:
        The running check, ``None`` when the project was closed cleanly.
    """
    if not project.unclean:
        return None
    return BackgroundCheck(project.path, project.mode, list(project.unclean))
