"""What a person sees of a run of several workers: problems, warnings and the progress line on standard error."""

from __future__ import annotations

from sciextract.cli.narration import Narration
from sciextract.workflows.scale.report import ManyListener
from sciextract.workflows.scale.seam import ChunkResult, Counts, Problem

_KINDS = {"bad": "Bad record", "quarantined": "Quarantined"}


class ManyScreen(Narration, ManyListener):
    """Narrates a run; see :class:`Narration` for arguments and attributes."""

    _before = 0
    _done = 0

    def problem(self, problem: Problem) -> None:
        """Say which record is left out and why."""
        self.tell(_KINDS[problem.kind], problem.message, problem.hint)

    def before(self, records: int) -> None:
        """Count them as done, without having taken time."""
        self._before = records
        self.progressed(records, records)

    def done(self, result: ChunkResult, counts: Counts) -> None:
        """Say the warnings of the first few documents, and count."""
        self.documents = counts.documents
        self.warn(result.counts.warned, result.warnings)
        self._done = counts.records
        self.under_way(0)

    def under_way(self, records: int) -> None:
        """Count what is on its way into a part."""
        self.progressed(self._before + self._done + records, self._before)
