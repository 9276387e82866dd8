"""A question before something that costs more than a key to take back."""

from __future__ import annotations

from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.widget import Widget

from sciextract_app.dialogs.base import Dialog, words


class QuestionDialog(Dialog[bool]):
    """Gives ``True`` for yes; Escape is no.

    Args:
        title: The question.
        explained: What a yes leads to.
        yes: What Enter does, in a word or two.
    """

    BINDINGS: ClassVar[list[BindingType]] = [Binding("enter,y", "yes", "yes", id="dialog.yes")]

    def __init__(self, title: str, explained: str, yes: str) -> None:
        super().__init__(title, f"Enter {yes}, Esc back")
        self._explained = explained

    def content(self) -> list[Widget]:
        """The words."""
        return [words(self._explained)]

    def action_yes(self) -> None:
        """Leave with a yes."""
        self.dismiss(True)
