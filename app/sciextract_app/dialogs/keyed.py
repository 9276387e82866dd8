"""A question with several answers, one key each."""

from __future__ import annotations

from collections.abc import Sequence

from textual import on
from textual.events import Key
from textual.widget import Widget
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from sciextract_app.dialogs.base import Dialog, plain, words


class KeyedDialog(Dialog[str]):
    """Gives the key of the answer; arrows and Enter, or a click, choose one, too.

    Args:
        title: The question.
        explained: What to know before.
        answers: Key and words of each.
    """

    def __init__(self, title: str, explained: str, answers: Sequence[tuple[str, str]]) -> None:
        super().__init__(title, "a letter chooses, Esc back")
        self._explained = explained
        self._answers = tuple(answers)

    def content(self) -> list[Widget]:
        """What to know, and the answers."""
        options = [Option(plain(f"{key}  {shown}"), id=key) for key, shown in self._answers]
        return [words(self._explained, "hint"), OptionList(*options)]

    def on_mount(self) -> None:
        """The list takes the keys."""
        self.query_one(OptionList).focus()

    @on(OptionList.OptionSelected)
    def _selected(self, event: OptionList.OptionSelected) -> None:
        self.dismiss(event.option_id)

    def on_key(self, event: Key) -> None:
        """Answer."""
        if event.character in {key for key, _ in self._answers}:
            event.stop()
            self.dismiss(event.character)
