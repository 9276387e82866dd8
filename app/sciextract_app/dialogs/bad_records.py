"""What an import left out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.widget import Widget

from sciextract.errors import FormatError
from sciextract_app.dialogs.base import Dialog, words


class BadRecordsDialog(Dialog[None]):
    """Records that could not be read; everything else is in the project.

    Args:
        bad: Those that are shown.
        count: All of them.
    """

    BINDINGS: ClassVar[list[BindingType]] = [Binding("enter", "leave", "back", id="dialog.close")]

    def __init__(self, bad: Sequence[FormatError], count: int) -> None:
        plural = "record" if count == 1 else "records"
        super().__init__(
            f"{count:,} {plural} left out", "Enter or Esc closes; the rest is imported"
        )
        self._bad = bad
        self._count = count

    def content(self) -> list[Widget]:
        """Place and problem of each."""
        found: list[Widget] = []
        for error in self._bad:
            found.append(words(error.message, "problem"))
            if error.hint:
                found.append(words(error.hint, "hint"))
        if self._count > len(self._bad):
            found.append(words(f"and {self._count - len(self._bad):,} more", "hint"))
        return found
