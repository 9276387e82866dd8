"""Pasted abstracts in threads: looked at while a dialog shows them, then brought into the project."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from textual.message import Message

from sciextract.store import open_project
from sciextract.workflows.import_files import ImportListener, ImportReport
from sciextract.workflows.pasted import Recognised, import_pasted, look
from sciextract_app.workers.importing import ImportJob

_TELL_SECONDS = 0.2


class PasteSeen(Message):
    """What a pasted text holds.

    Attributes:
        found: What was found so far.
        ended: Whether that is everything.
    """

    def __init__(self, found: Recognised, ended: bool) -> None:
        super().__init__()
        self.found = found
        self.ended = ended

    def can_replace(self, message: Message) -> bool:
        """Only the latest count matters."""
        return isinstance(message, PasteSeen)


@dataclass(frozen=True, slots=True)
class LookJob:
    """What a look at a pasted text needs.

    Attributes:
        text: The text.
        stopped: Whether to stop; asked after every record.
        post: Takes the messages; must not mind the thread.
    """

    text: str
    stopped: Callable[[], bool]
    post: Callable[[Message], object]

    def run(self) -> None:
        """Count its records, and say now and then how many there are."""
        told, found = 0.0, None
        for found in look(self.text):
            if self.stopped():
                return
            if time.monotonic() - told > _TELL_SECONDS:
                told = time.monotonic()
                self.post(PasteSeen(found, ended=False))
        if found is not None:
            self.post(PasteSeen(found, ended=True))


@dataclass(slots=True)
class PasteJob(ImportJob):
    """What the import of a pasted text needs; there are no files.

    Attributes:
        text: The text.
    """

    text: str = ""

    def _import(self) -> ImportReport:
        listener = ImportListener(bad_record=self._keep_bad, progress=self._progress)
        with open_project(self.path, self.author) as project:
            return import_pasted(project, self.text, listener=listener)
