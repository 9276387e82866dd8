"""What can be done with the thing under the pointer."""

from __future__ import annotations

from collections.abc import Sequence

from textual import on
from textual.widget import Widget
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from sciextract_app.dialogs.base import Dialog, plain


class MenuDialog(Dialog[str]):
    """Gives the id of the chosen action.

    Args:
        choices: Id, key and words of each.
    """

    def __init__(self, choices: Sequence[tuple[str, str, str]]) -> None:
        super().__init__("What now?")
        self._choices = choices

    def content(self) -> list[Widget]:
        """The choices."""
        options = [Option(plain(f"{key:>9}  {words}"), id=id_) for id_, key, words in self._choices]
        return [OptionList(*options)]

    def on_mount(self) -> None:
        """The list takes the keys."""
        self.query_one(OptionList).focus()

    @on(OptionList.OptionSelected)
    def _selected(self, event: OptionList.OptionSelected) -> None:
        self.dismiss(event.option_id)
