"""Files brought into the project in a thread, with a connection of its own."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from textual.message import Message

from sciextract.errors import FormatError, SciextractError
from sciextract.store import open_project
from sciextract.workflows.import_files import ImportListener, ImportReport, import_files
from sciextract_app.messages import Imported, ImportEnded

MOST_SHOWN = 200
"""Bad records that are kept for the dialog; the others are only counted."""
AT_A_TIME = 25
"""Abstracts a transaction: a key that decides something waits for it, so it is short."""
BREATH_SECONDS = 0.002
"""Between transactions, so that a key that waits to write finds its turn: SQLite's waiting is no queue."""
TELL_SECONDS = 0.3
"""How often it is told how far it is; the desk reads its lists anew each time."""


class _Stopped(Exception):
    """The import was told to stop; what is in the project stays."""


@dataclass(slots=True)
class ImportJob:
    """What an import needs.

    Attributes:
        path: The project.
        author: Who works on it.
        files: What to bring in.
        stopped: Whether to stop; asked after every transaction.
        post: Takes the messages; must not mind the thread.
    """

    path: Path
    author: str | None
    files: tuple[str, ...]
    stopped: Callable[[], bool]
    post: Callable[[Message], object]
    _bad: list[FormatError] = field(default_factory=list)
    _told: float = -TELL_SECONDS

    def run(self) -> None:
        """Bring the files in, and say how it ended."""
        try:
            report = self._import()
        except _Stopped:
            return
        except SciextractError as error:
            self.post(ImportEnded(self.files, None, tuple(self._bad), error))
        else:
            self.post(ImportEnded(self.files, report, tuple(self._bad)))

    def _import(self) -> ImportReport:
        listener = ImportListener(bad_record=self._keep_bad, progress=self._progress)
        with open_project(self.path, self.author) as project:
            return import_files(project, list(self.files), listener=listener, at_a_time=AT_A_TIME)

    def _keep_bad(self, error: FormatError) -> None:
        if len(self._bad) < MOST_SHOWN:
            self._bad.append(error)

    def _progress(self, records: int) -> None:
        if self.stopped():
            raise _Stopped
        now = time.monotonic()
        if now - self._told >= TELL_SECONDS:
            self._told = now
            self.post(Imported(records))
        time.sleep(BREATH_SECONDS)
