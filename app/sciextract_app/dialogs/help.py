"""All keys, from the registry."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.widget import Widget

from sciextract_app.dialogs.base import Dialog
from sciextract_app.keys import AROUND
from sciextract_app.presenter.actions import ACTIONS, Action, shown_key
from sciextract_app.settings import KEYMAP_FILE, user_folder
from sciextract_app.widgets.help_table import HelpTable


class HelpDialog(Dialog[None]):
    """The table of keys.

    Args:
        keys: What each key does, the person's own choice included.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("question_mark,q", "leave", "back", id="dialog.close")
    ]

    def __init__(self, keys: Mapping[str, Action]) -> None:
        super().__init__(
            "Keys", f"Esc back; keys of your own: {user_folder('config') / KEYMAP_FILE}"
        )
        self._keys = keys

    def content(self) -> list[Widget]:
        """The table."""
        return [HelpTable(help_rows(self._keys))]


def help_rows(keys: Mapping[str, Action]) -> list[tuple[str, str, str]]:
    """Keys, words and group of every action, and of what the app answers itself."""
    of_action: dict[str, list[str]] = {}
    for key, action in keys.items():
        of_action.setdefault(action.id, []).append(shown_key(key))
    rows = [
        (" ".join(of_action.get(action.id, ["none"])), action.help, action.layer)
        for action in ACTIONS
    ]
    return [*rows, *((_written(each.key), each.description, "around the desk") for each in AROUND)]


def _written(key: str) -> str:
    return "+".join(part.capitalize() for part in key.split("+"))
