"""What a build shows while it runs."""

from __future__ import annotations

from sciextract.cli.console import ProgressLine, say
from sciextract.errors import FormatError
from sciextract.graph.building import Listener


class BuildScreen(Listener):
    """Progress on a terminal, and bad records.

    Args:
        shown: Whether to show progress.
    """

    def __init__(self, shown: bool) -> None:
        self.done = self.on_disk = 0
        self._shown = shown
        self._line = ProgressLine(shown, lambda: None)

    def bad_record(self, error: FormatError) -> None:
        """Named at once; the build goes on."""
        self._line.clear()
        say("Warning", f"left out: {error.message}", error.hint)

    def progress(self, done: int) -> None:
        """So many abstracts are read."""
        self.done = done
        self._line.update(done)

    def kept(self, done: int) -> None:
        """So many are on disk, or were known."""
        self.on_disk = done

    def deriving(self) -> None:
        """The second half, which tells no progress."""
        self._line.clear()
        if self._shown:
            say("", f"{self.done:,} abstracts read; making nodes and edges")

    def end(self) -> None:
        """Leave an empty line."""
        self._line.clear()
