"""Dialogs to read: keys, definitions, messages, bad records, sentences that support an edge."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from rich.text import Text
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.widget import Widget
from textual.widgets import Static

from sciextract.documents.schema import EntityType, RelationType
from sciextract.errors import FormatError
from sciextract.text.characters import visible
from sciextract_app.dialogs.base import Dialog, words
from sciextract_app.presenters.actions import ACTIONS, Action, shown_key
from sciextract_app.presenters.graph import Role, Support
from sciextract_app.presenters.session import PastMessage
from sciextract_app.settings import AROUND, KEYMAP_FILE, user_folder
from sciextract_app.widgets.lines import HelpRow, HelpTable


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


class GuidelineDialog(Dialog[None]):
    """The types of the schema with what they mean."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("enter,g", "leave", "back", id="dialog.close")]

    def __init__(self, types: tuple[EntityType | RelationType, ...]) -> None:
        super().__init__("What counts as what", "Enter or Esc closes")
        self._types = types

    def content(self) -> list[Widget]:
        """Definition and examples of each."""
        found: list[Widget] = []
        for each in self._types:
            found.append(words(f"{each.label} ({each.key})", "label"))
            found.append(words(each.definition or "no definition in the schema", "hint"))
            if each.examples:
                found.append(words("for example: " + "; ".join(each.examples), "hint"))
        return found


class MessagesDialog(Dialog[None]):
    """Lists messages, the latest first.

    Args:
        history: The messages.
    """

    def __init__(self, history: Sequence[PastMessage]) -> None:
        super().__init__("Messages")
        self._history = history

    def content(self) -> list[Widget]:
        """A line each."""
        lines = [
            f"{each.at} {'!' if each.problem else ' '} {each.message}" for each in self._history
        ]
        return [words("\n".join(lines) or "Nothing was said yet")]


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


_STYLES = {
    Role.PLAIN: "", Role.HEAD: "bold underline", Role.TAIL: "bold reverse",
    Role.BOTH: "bold underline reverse",
}  # fmt: skip


class SupportDialog(Dialog[None]):
    """Shows edges in words, each with its sentences.

    Args:
        title: What they support.
        parts: Each edge with its sentences.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("s,q,enter", "leave", "back", id="support.leave"),
        Binding("down,j", "move(1)", "down", id="support.down"),
        Binding("up,k", "move(-1)", "up", id="support.up"),
        Binding("pagedown,space", "move(10)", "page down", id="support.page-down"),
        Binding("pageup", "move(-10)", "page up", id="support.page-up"),
    ]

    def __init__(self, title: str, parts: Sequence[tuple[str, Sequence[Support]]]) -> None:
        super().__init__(visible(title).replace("[", r"\["), "↑ ↓ scroll, Esc back")
        self._parts = parts

    def content(self) -> list[Widget]:
        """What the marks mean, and the sentences."""
        return [Static(support_text(self._parts))]

    def action_move(self, lines: int) -> None:
        """Scroll."""
        self.query_one(VerticalScroll).scroll_relative(y=lines, animate=False)


def support_text(parts: Sequence[tuple[str, Sequence[Support]]]) -> Text:
    """All edges with their sentences; the marks are explained in the first line."""
    if not parts:
        return Text("Nothing in the graph leads there.")
    found = (
        Text().append("head", _STYLES[Role.HEAD]).append("  ").append("tail", _STYLES[Role.TAIL])
    )
    for heading, supports in parts:
        found.append("\n\n").append(visible(heading), "bold")
        for each in supports:
            found.append("\n\n").append(visible(each.place), "dim").append("\n")
            for piece, role in each.pieces:
                found.append(visible(piece), _STYLES[role])
    return found
