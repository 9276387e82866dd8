"""The note of an abstract."""

from __future__ import annotations

from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.widget import Widget
from textual.widgets import TextArea

from sciextract_app.dialogs.base import Dialog


class NoteDialog(Dialog[str]):
    """Gives the new text of the note.

    Args:
        text: The note as it is.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+s,f2", "keep", "keep", id="note.keep", priority=True)
    ]

    def __init__(self, text: str) -> None:
        super().__init__("Note of this abstract", "Ctrl+S keeps it, Esc leaves it as it was")
        self._text = text

    def content(self) -> list[Widget]:
        """The text to edit."""
        return [TextArea(self._text, id="note")]

    def on_mount(self) -> None:
        """The person can type at once."""
        self.query_one(TextArea).focus()

    def action_keep(self) -> None:
        """Keep what was typed."""
        self.dismiss(self.query_one(TextArea).text)
