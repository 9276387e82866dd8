"""What the desk said before."""

from __future__ import annotations

from collections.abc import Sequence

from textual.widget import Widget

from sciextract_app.dialogs.base import Dialog, words
from sciextract_app.presenter.messages import Said


class MessagesDialog(Dialog[None]):
    """Lists messages, the latest first.

    Args:
        said: The messages.
    """

    def __init__(self, said: Sequence[Said]) -> None:
        super().__init__("Messages")
        self._said = said

    def content(self) -> list[Widget]:
        """A line each."""
        lines = [f"{each.at} {'!' if each.problem else ' '} {each.message}" for each in self._said]
        return [words("\n".join(lines) or "Nothing was said yet")]
