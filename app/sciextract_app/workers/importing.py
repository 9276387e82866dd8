"""Files brought into the project in a thread, with a connection of its own."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from textual.message import Message

from sciextract.errors import FormatError, SciextractError
from sciextract.store import open_project
from sciextract.workflows.crash import write_report
from sciextract.workflows.import_files import ImportListener, ImportReport, import_files
from sciextract.workflows.pasted import Recognised, import_pasted, look
from sciextract_app.messages import Imported, ImportEnded, PredictionEnded
from sciextract_app.presenters.view_models import Feedback

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


def of_import(ended: ImportEnded) -> Feedback:
    """What came of an import."""
    if ended.error is not None or ended.report is None:
        return Feedback(f"nothing imported: {sentence(ended.error)}", problem=True)
    counts = ended.report.counts
    parts = [f"{counts.documents:,} new {_abstracts(counts.documents)}"]
    if counts.known:
        parts.append(f"{counts.known:,} known already")
    if counts.flagged:
        parts.append(f"{counts.flagged:,} flagged: labels against the schema")
    if ended.report.bad:
        parts.append(f"{ended.report.bad:,} left out")
    parts += ended.report.notes
    return Feedback("; ".join(parts))


def of_prediction(ended: PredictionEnded) -> Feedback:
    """What came of a prediction; nothing to say when nothing needed it."""
    if ended.error is not None:
        return Feedback(f"no predictions: {sentence(ended.error)}", problem=True)
    if ended.report is None or not ended.report.documents or ended.stopped:
        return Feedback()
    count = ended.report.documents
    return Feedback(f"{count:,} {_abstracts(count)} predicted")


def of_crash(what: str, error: BaseException) -> Feedback:
    """A worker failed in a way that nobody foresaw; a report is written, the desk goes on."""
    words = f"{what} failed unexpectedly ({type(error).__name__})"
    try:
        return Feedback(f"{words}; please report it with {write_report(error)}", problem=True)
    except OSError:
        return Feedback(words, problem=True)


def sentence(error: SciextractError | None) -> str:
    """An error and its hint in one line."""
    if error is None:
        return "stopped"
    return f"{error.message}; {error.hint}" if error.hint else error.message


def _abstracts(count: int) -> str:
    return "abstract" if count == 1 else "abstracts"
