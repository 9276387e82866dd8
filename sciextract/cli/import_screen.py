"""What a person sees of an import: bad records, remarks and the progress line on standard error."""

from __future__ import annotations

from sciextract.cli.console import ProgressLine, say
from sciextract.cli.words import counted
from sciextract.errors import FormatError
from sciextract.workflows.import_files import ImportListener

_MOST_WARNED = 5


class ImportScreen:
    """Narrates an import.

    Args:
        shown: Whether to draw a progress line.
        more: Where the remarks that were not shown can be found.
    """

    def __init__(
        self, *, shown: bool, more: str = "sciextract search --flagged lists what was flagged"
    ) -> None:
        self._more = more
        self._line = ProgressLine(shown, lambda: None)
        self._warned = 0

    def listener(self) -> ImportListener:
        """What hears of the import."""
        return ImportListener(self._bad_record, self._warn, self._line.update, self._told)

    def end(self) -> None:
        """Clear the progress line and say how many remarks were not shown."""
        self._line.clear()
        if self._warned > _MOST_WARNED:
            more = counted(self._warned - _MOST_WARNED, "more abstract")
            say("Warning", f"{more} with remarks; {self._more}")

    def _bad_record(self, error: FormatError) -> None:
        self._say("Bad record", error.message, error.hint)

    def _warn(self, doc_key: str, warnings: tuple[str, ...]) -> None:
        self._warned += 1
        if self._warned <= _MOST_WARNED:
            self._say("Warning", f"{doc_key!r}: {'; '.join(warnings)}")

    def _told(self, note: str) -> None:
        self._say("", note, "--fields gold or --fields predicted decides which are imported")

    def _say(self, kind: str, message: str, hint: str = "") -> None:
        self._line.clear()
        say(kind, message, hint)
