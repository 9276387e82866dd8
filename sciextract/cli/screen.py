"""What a person sees of a run: bad records, warnings and the progress line on standard error."""

from __future__ import annotations

from sciextract.cli.narration import Narration
from sciextract.documents.document import AnnotatedDocument
from sciextract.errors import FormatError
from sciextract.formats.base import shown
from sciextract.workflows.annotate import AnnotateSummary, Listener


class Screen(Narration, Listener):
    """Narrates a run; see :class:`Narration` for arguments and attributes."""

    _skipped = 0

    def bad_record(self, error: FormatError) -> None:
        """Say which record is left out and why."""
        self.tell("Bad record", error.message, error.hint)

    def skipped(self) -> None:
        """Count it as done, without having taken time."""
        self._skipped += 1
        self.progressed(self._skipped, self._skipped)

    def written(self, document: AnnotatedDocument, summary: AnnotateSummary) -> None:
        """Say the warnings of the first few documents, and count."""
        self.documents = summary.documents
        if document.warnings:
            self.warn(1, [f"{shown(document.document.doc_key)}: {'; '.join(document.warnings)}"])
        done = summary.documents + summary.bad + self._skipped
        self.progressed(done, self._skipped)
