"""What a person sees of a run: bad records, warnings and the progress line on standard error."""

from __future__ import annotations

from sciextract.cli.console import ProgressLine, say
from sciextract.documents.document import AnnotatedDocument
from sciextract.errors import FormatError
from sciextract.formats.base import shown
from sciextract.workflows.annotate import AnnotateSummary, Listener
from sciextract.workflows.totals import TotalCounter

_MOST_WARNED = 5


class Screen(Listener):
    """Narrates a run.

    Args:
        inputs: What is read, to know how much is left.
        input_format: Its format, when it was named.
        progress: Whether to draw a progress line.

    Attributes:
        documents: Documents written so far.
    """

    def __init__(self, inputs: list[str], input_format: str | None, *, progress: bool) -> None:
        self.documents = 0
        self._warned = 0
        self._skipped = 0
        self._counter = TotalCounter(inputs, input_format)
        self._progress = ProgressLine(progress, lambda: self._counter.total)
        if progress:
            self._counter.start()

    def note(self, message: str) -> None:
        """Say it."""
        self._say("Note", message)

    def bad_record(self, error: FormatError) -> None:
        """Say which record is left out and why."""
        self._say("Bad record", error.message, error.hint)

    def skipped(self) -> None:
        """Count it as done, without having taken time."""
        self._skipped += 1
        self._progress.update(self._skipped, self._skipped)

    def written(self, document: AnnotatedDocument, summary: AnnotateSummary) -> None:
        """Say the warnings of the first few documents, and count."""
        self.documents = summary.documents
        if document.warnings:
            self._warned += 1
            if self._warned <= _MOST_WARNED:
                self._say(
                    "Warning", f"{shown(document.document.doc_key)}: {'; '.join(document.warnings)}"
                )
        done = summary.documents + summary.bad + self._skipped
        self._progress.update(done, self._skipped)

    def end(self) -> None:
        """Clear the progress line and say how many warnings were not shown."""
        self._progress.clear()
        more, self._warned = self._warned - _MOST_WARNED, 0
        if more > 0:
            self._say("Warning", f"{more} more with warnings; see `warnings` in --export jsonl")

    def _say(self, kind: str, message: str, hint: str = "") -> None:
        self._progress.clear()
        say(kind, message, hint)
