"""What all runs over many abstracts tell a person on standard error: notes, some warnings, the progress line."""

from __future__ import annotations

from collections.abc import Sequence

from sciextract.cli.console import ProgressLine, say
from sciextract.workflows.totals import TotalCounter

_MOST_WARNED = 5


class Narration:
    """Tells of a run.

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
        self._told = 0
        self._counter = TotalCounter(inputs, input_format)
        self._progress = ProgressLine(progress, lambda: self._counter.total)
        if progress:
            self._counter.start()

    def note(self, message: str) -> None:
        """Say it."""
        self.tell("Note", message)

    def warn(self, documents: int, warnings: Sequence[str]) -> None:
        """Count documents with warnings, and say the warnings of the first few."""
        self._warned += documents
        for warning in warnings[: _MOST_WARNED - self._told]:
            self._told += 1
            self.tell("Warning", warning)

    def progressed(self, done: int, before: int) -> None:
        """Draw how many records are done, those of an earlier run among them."""
        self._progress.update(done, before)

    def end(self) -> None:
        """Clear the progress line and say how many warnings were not shown."""
        self._progress.clear()
        more, self._warned, self._told = self._warned - self._told, 0, 0
        if more > 0:
            self.tell("Warning", f"{more} more with warnings; see `warnings` in --export jsonl")

    def tell(self, kind: str, message: str, hint: str = "") -> None:
        """Say something above the progress line."""
        self._progress.clear()
        say(kind, message, hint)
