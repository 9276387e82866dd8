"""The keys of a screen beside the desk."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.widget import Widget

from sciextract_app.dialogs.base import Dialog
from sciextract_app.widgets.help_table import HelpRow, HelpTable


class KeysDialog(Dialog[None]):
    """The table of what keys do on one screen.

    Args:
        rows: Key, words and group of each.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("question_mark,q", "leave", "back", id="dialog.close")
    ]

    def __init__(self, rows: Sequence[HelpRow]) -> None:
        super().__init__("Keys")
        self._rows = rows

    def content(self) -> list[Widget]:
        """The table."""
        return [HelpTable(self._rows)]
