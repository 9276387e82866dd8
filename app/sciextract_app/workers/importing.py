"""Imports in the background: each thread has a connection of its own."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from textual.message import Message

from sciextract.errors import FormatError, SciextractError
from sciextract.store import open_project
from sciextract.store.opening import SUFFIX
from sciextract.text.english import counted
from sciextract.workflows.import_files import ImportListener, ImportReport, import_files
from sciextract.workflows.pasted import Recognised, import_pasted, look
from sciextract_app.messages import Imported, ImportEnded, error_line
from sciextract_app.opening import Remembered, not_yet_imported, note_imported, remember
from sciextract_app.presenters.view_models import Feedback
from sciextract_app.workers.host import IsCancelled, ReviewHost

MOST_SHOWN = 200
"""Bad records that are kept for the dialog; the others are only counted."""
AT_A_TIME = 25
"""Abstracts a transaction: a key that decides something waits for it, so it is short."""
BREATH_SECONDS = 0.002
"""Between transactions, so that a key that waits to write finds its turn: SQLite's waiting is not a queue."""
PROGRESS_SECONDS = 0.3
"""Between two messages of progress; the screen reads its lists anew at each."""
_LOOK_SECONDS = 0.2


class _Cancelled(Exception):
    """The import was cancelled; what is in the project stays."""


@dataclass(slots=True)
class ImportJob:
    """One import of files.

    Attributes:
        path: The project.
        author: Who works on it.
        files: What to import.
        is_cancelled: Whether to stop; checked after every transaction.
        post: Takes the messages; must not mind the thread.
    """

    path: Path
    author: str | None
    files: tuple[str, ...]
    is_cancelled: IsCancelled
    post: Callable[[Message], object]
    _bad: list[FormatError] = field(default_factory=list)
    _posted: float = -PROGRESS_SECONDS

    def run(self) -> None:
        """Import, and post the result."""
        try:
            report = self._import()
        except _Cancelled:
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
        if self.is_cancelled():
            raise _Cancelled
        now = time.monotonic()
        if now - self._posted >= PROGRESS_SECONDS:
            self._posted = now
            self.post(Imported(records))
        time.sleep(BREATH_SECONDS)


@dataclass
class PasteSeen(Message):
    """What a pasted text holds.

    Attributes:
        found: What was found so far.
        ended: Whether that is everything.
    """

    found: Recognised
    ended: bool

    def can_replace(self, message: Message) -> bool:
        """Only the latest count matters."""
        return isinstance(message, PasteSeen)


@dataclass(frozen=True, slots=True)
class LookJob:
    """Recognises what a pasted text holds.

    Attributes:
        text: The text.
        is_cancelled: Whether to stop; checked after every record.
        post: Takes the messages; must not mind the thread.
    """

    text: str
    is_cancelled: IsCancelled
    post: Callable[[Message], object]

    def run(self) -> None:
        """Count its records, and post now and then how many there are."""
        posted, found = 0.0, None
        for found in look(self.text):
            if self.is_cancelled():
                return
            if time.monotonic() - posted > _LOOK_SECONDS:
                posted = time.monotonic()
                self.post(PasteSeen(found, ended=False))
        if found is not None:
            self.post(PasteSeen(found, ended=True))


@dataclass(slots=True)
class PasteJob(ImportJob):
    """One import of a pasted text; there are no files.

    Attributes:
        text: The text.
    """

    text: str = ""

    def _import(self) -> ImportReport:
        listener = ImportListener(bad_record=self._keep_bad, progress=self._progress)
        with open_project(self.path, self.author) as project:
            return import_pasted(project, self.text, listener=listener)


class ImportService:
    """Imports files and pasted texts in the background.

    Args:
        host: The screen.
        author: Who works on the project.
        record: What is remembered of the project: files that were imported.
        imported: Called after an import, so that what is new can be predicted.
    """

    GROUP = "import"

    def __init__(
        self,
        host: ReviewHost,
        author: str | None,
        record: Remembered,
        imported: Callable[[], object],
    ) -> None:
        self._host = host
        self._author = author
        self._record = record
        self._imported = imported

    def pending(self, files: Sequence[str]) -> Sequence[str]:
        """Those of the files that are not in the project; of an empty one, made anew perhaps, none is."""
        if files and self._host.project.numbers():
            return not_yet_imported(self._record, files)
        return files

    def import_files(self, files: Sequence[str]) -> None:
        """Import files."""
        path, author = self._host.project.path, self._author
        if self.is_refused():
            return
        if any(_is_project(each, path) for each in files):
            refused = "a project cannot be imported: Ctrl+O opens another one"
            self._host.show_reply(Feedback(refused, problem=True))
            return
        names = ", ".join(Path(each).name for each in files)
        self._host.show_notice(Feedback(f"importing {names}"))
        post = self._host.post_message
        self._host.start_thread(
            self.GROUP,
            lambda cancelled: ImportJob(path, author, tuple(files), cancelled, post).run(),
        )

    def import_text(self, text: str | None) -> None:
        """Import a pasted text; ``None`` where the person did not want to."""
        if text is None:
            return
        self._host.show_notice(Feedback("importing the pasted text"))
        path, author, post = self._host.project.path, self._author, self._host.post_message
        self._host.start_thread(
            self.GROUP,
            lambda cancelled: PasteJob(path, author, (), cancelled, post, text=text).run(),
        )

    def is_refused(self) -> bool:
        """Say that nothing can be imported where the project can only be read."""
        if not self._host.writable:
            refused = "nothing imported: the project is read-only here"
            self._host.show_reply(Feedback(refused, problem=True))
        return not self._host.writable

    def receive(self, message: Imported | ImportEnded) -> None:
        """Show what the thread reports."""
        self._host.poll_changes()
        if isinstance(message, Imported):
            progress = Feedback(f"importing: {message.records:,} records so far")
            self._host.show_notice(progress, passing=True)
            return
        self._host.show_notice(import_feedback(message))
        if message.report is not None:
            note_imported(self._record, message.files)
            remember(self._record)
            self._imported()


def _is_project(file: str, opened: Path) -> bool:
    """Whether a file is a project, by its name only: reading the open one would drop its locks."""
    return file.endswith(SUFFIX) or Path(file).resolve() == opened.resolve()


def import_feedback(ended: ImportEnded) -> Feedback:
    """The result of an import in words."""
    if ended.error is not None or ended.report is None:
        return Feedback(f"nothing imported: {error_line(ended.error)}", problem=True)
    counts = ended.report.counts
    parts = [counted(counts.documents, "new abstract")]
    if counts.known:
        parts.append(f"{counts.known:,} known already")
    if counts.flagged:
        parts.append(f"{counts.flagged:,} flagged: labels against the schema")
    if ended.report.bad:
        parts.append(f"{ended.report.bad:,} left out")
    return Feedback("; ".join([*parts, *ended.report.notes]))
