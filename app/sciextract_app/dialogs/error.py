"""What went wrong, and what to do next."""

from __future__ import annotations

from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.widget import Widget

from sciextract.errors import SciextractError
from sciextract_app.dialogs.base import Dialog, words


class ErrorDialog(Dialog[None]):
    """An error with its hint."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("enter", "leave", "back", id="dialog.close")]

    def __init__(self, title: str, error: SciextractError) -> None:
        super().__init__(title, "Enter or Esc closes")
        self._error = error

    def content(self) -> list[Widget]:
        """Message and hint."""
        found: list[Widget] = [words(self._error.message, "problem")]
        if self._error.hint:
            found.append(words(self._error.hint, "hint"))
        return found
