"""Whom to hold the project against."""

from __future__ import annotations

from collections.abc import Sequence

from textual import on
from textual.widget import Widget
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from sciextract_app.dialogs.base import Dialog, plain

MERGED = "merged"
"""The choice of all merged projects."""


class OtherSideDialog(Dialog[str]):
    """Gives the chosen one.

    Args:
        choices: Id and words of each.
    """

    def __init__(self, choices: Sequence[tuple[str, str]]) -> None:
        super().__init__("Hold the project against", "Enter chooses, Esc back")
        self._choices = choices

    def content(self) -> list[Widget]:
        """The choices, numbered: names of files may be anything."""
        return [OptionList(*(Option(plain(words)) for _, words in self._choices))]

    def on_mount(self) -> None:
        """The list takes the keys."""
        self.query_one(OptionList).focus()

    @on(OptionList.OptionSelected)
    def _selected(self, event: OptionList.OptionSelected) -> None:
        self.dismiss(self._choices[event.option_index][0])
