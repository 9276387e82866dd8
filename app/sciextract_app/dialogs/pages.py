"""Dialogs to read: keys, definitions, messages, bad records, sentences that support an edge."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import ClassVar

from rich.table import Table
from rich.text import Text
from textual import on
from textual.binding import Binding, BindingType
from textual.widget import Widget
from textual.widgets import Input, Static

from sciextract.documents.schema import EntityType, RelationType
from sciextract.errors import FormatError
from sciextract.store.review import StringContext
from sciextract.text.characters import visible
from sciextract.text.english import counted
from sciextract_app.dialogs.base import Dialog, QuestionDialog, words
from sciextract_app.presenters import actions
from sciextract_app.presenters.actions import ACTIONS, Action, key_label
from sciextract_app.presenters.graph import ArgumentRole, Support
from sciextract_app.presenters.session import PastMessage
from sciextract_app.settings import AROUND

HelpRow = tuple[str, str, str]
"""Key, words, group."""


def help_rows(keys: Mapping[str, Action]) -> list[HelpRow]:
    """Keys, words and group of every action, and of what the app answers itself."""
    of_action: dict[str, list[str]] = {}
    for key, action in keys.items():
        of_action.setdefault(action.id, []).append(key_label(key))
    merged: dict[tuple[str, str], list[str]] = {}  # the digits share their words
    for action in ACTIONS:
        merged.setdefault((action.help, action.layer), []).extend(
            of_action.get(action.id, ["none"])
        )
    rows = [(" ".join(names), text, layer) for (text, layer), names in merged.items()]
    return [*rows, *((written_key(each.key), each.description, actions.AROUND) for each in AROUND)]


_PAGES = {"pagedown": "PgDn", "pageup": "PgUp"}


def written_key(key: str) -> str:
    """A key of the toolkit as it is written for people: ``ctrl+l`` as ``Ctrl+L``."""
    return _PAGES.get(key) or "+".join(part.capitalize() for part in key.split("+"))


class HelpTable(Static):
    """Draws keys next to their words, under the names of their groups."""

    ALLOW_SELECT = False
    DEFAULT_CSS = """
    HelpTable { height: auto; width: 1fr; }
    """


def help_grid(rows: Iterable[HelpRow]) -> Table:
    """The keys as a table of two columns; words wrap, keys do not."""
    grid = Table.grid(padding=(0, 2))
    grid.add_column(justify="right", no_wrap=True)
    grid.add_column(ratio=1)
    last = None
    for key, text, group in rows:
        if group != last:
            if last is not None:
                grid.add_row()
            grid.add_row("", Text(visible(group).capitalize(), "bold underline"))
            last = group
        grid.add_row(Text(visible(key), "bold"), Text(visible(text)))
    return grid


class KeysDialog(Dialog[None]):
    """The table of what keys do on one screen, which can be searched.

    Args:
        rows: Key, words and group of each.
        note: What stands below them.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("question_mark,q", "leave", "back", id="dialog.close"),
        Binding("slash", "search", "search", id="keys.search"),
    ]
    AUTO_FOCUS = ""  # letters scroll until / is pressed

    def __init__(self, rows: Sequence[HelpRow], note: str = "") -> None:
        super().__init__("Keys", "/ searches, ↑ ↓ PgDn scroll, Esc back")
        self._rows = rows
        self._note = note

    def content(self) -> list[Widget]:
        """The line to search with, the table, and the note."""
        line = Input(placeholder="/ searches keys and words", id="keys-search")
        return [line, HelpTable(help_grid(self._rows)), words(self._note, "hint")]

    def action_search(self) -> None:
        """Go to the search line."""
        self.query_one(Input).focus()

    def action_leave(self) -> None:
        """Leave the search line first, then the dialog."""
        line = self.query_one(Input)
        if line.has_focus:
            line.value = ""
            self.set_focus(None)
        else:
            self.dismiss(None)

    @on(Input.Submitted)
    def _submitted(self) -> None:
        self.set_focus(None)

    @on(Input.Changed)
    def _changed(self, event: Input.Changed) -> None:
        wanted, found = event.value.casefold().split(), []
        for key, shown, group in self._rows:
            keys, text = key.casefold().split(), f"{shown} {group}".casefold()
            # A key is meant as a whole: "n" is not searched for inside of "Enter".
            if all(each in keys or each in text for each in wanted):
                found.append((key, shown, group))
        nothing = [("", f"no key for: {event.value}", "")]
        self.query_one(HelpTable).update(help_grid(found or nothing))
        self.box.scroll_home(animate=False)


class GuidelineDialog(Dialog[None]):
    """The types of the schema with what they mean.

    Args:
        types: The types.
        at: The type that is shown first, by its place among them.
    """

    BINDINGS: ClassVar[list[BindingType]] = [Binding("enter,g", "leave", "back", id="dialog.close")]

    def __init__(self, types: Sequence[EntityType | RelationType], at: int = 0) -> None:
        super().__init__("Definitions of the types", "↑ ↓ PgDn scroll, Enter or Esc closes")
        self._types = types
        self._at = at

    def content(self) -> list[Widget]:
        """Definition and examples of each."""
        found: list[Widget] = []
        for place, each in enumerate(self._types):
            classes = "label current" if place == self._at else "label"
            found.append(words(f"{each.label} ({each.key})", classes))
            found.append(words(each.definition or "no definition in the schema", "hint"))
            if each.examples:
                found.append(words("for example: " + "; ".join(each.examples), "hint"))
        return found

    def on_mount(self) -> None:
        """Begin at the type that is wanted."""
        for heading in self.query(".current"):
            # Only after a layout is it known where the heading stands.
            scroll = partial(self.box.scroll_to_widget, heading, top=True, animate=False)
            self.call_after_refresh(scroll)


class PlacesDialog(QuestionDialog):
    """Where a decision would change something, each with its abstract; then the question.

    Args:
        question: What would be decided.
        surface: The string.
        places: Where it stands.
        left: How many more abstracts there are.
    """

    def __init__(
        self, question: str, surface: str, places: Sequence[StringContext], left: int
    ) -> None:
        super().__init__(f"{question}?", "", "confirms")
        self._surface = surface
        self._places = places
        self._left = left

    def content(self) -> list[Widget]:
        """Title and surroundings of each place."""
        shown = Text()
        for each in self._places:
            shown.append(visible(each.title), "dim").append("\n  …")
            shown.append(visible(each.before)).append(visible(self._surface), "bold reverse")
            shown.append(visible(each.after)).append("…\n")
        if self._left:
            shown.append(f"and {self._left:,} more")
        return [Static(shown)]


class MessagesDialog(Dialog[None]):
    """Lists messages, the latest first.

    Args:
        history: The messages.
    """

    def __init__(self, history: Sequence[PastMessage]) -> None:
        super().__init__("Messages", "↑ ↓ PgDn scroll, Esc back")
        self._history = history

    def content(self) -> list[Widget]:
        """A line each."""
        lines = [
            f"{each.at} {'!' if each.problem else ' '} {each.message}" for each in self._history
        ]
        return [words("\n".join(lines) or "No messages yet")]


class BadRecordsDialog(Dialog[None]):
    """Records that could not be read; everything else is in the project.

    Args:
        bad: Those that are shown.
        count: All of them.
    """

    BINDINGS: ClassVar[list[BindingType]] = [Binding("enter", "leave", "back", id="dialog.close")]

    def __init__(self, bad: Sequence[FormatError], count: int) -> None:
        super().__init__(
            f"{counted(count, 'record')} left out", "Enter or Esc closes; the rest is imported"
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
    ArgumentRole.PLAIN: "", ArgumentRole.HEAD: "bold underline", ArgumentRole.TAIL: "bold reverse",
    ArgumentRole.BOTH: "bold underline reverse",
}  # fmt: skip


class SupportDialog(Dialog[None]):
    """Shows edges in words, each with its sentences.

    Args:
        title: What they support.
        parts: Each edge with its sentences.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("s,q,enter", "leave", "back", id="support.leave"),
    ]

    def __init__(self, title: str, parts: Sequence[tuple[str, Sequence[Support]]]) -> None:
        # Titles of boxes are markup, in which a name may have brackets.
        super().__init__(visible(title).replace("[", r"\["), "↑ ↓ scroll, Esc back")
        self._parts = parts

    def content(self) -> list[Widget]:
        """What the marks mean, and the sentences."""
        return [Static(support_text(self._parts))]


def support_text(parts: Sequence[tuple[str, Sequence[Support]]]) -> Text:
    """All edges with their sentences; the marks are explained in the first line."""
    if not parts:
        return Text("The graph has no path to it.")
    found = (
        Text()
        .append("head", _STYLES[ArgumentRole.HEAD])
        .append("  ")
        .append("tail", _STYLES[ArgumentRole.TAIL])
    )
    for heading, supports in parts:
        found.append("\n\n").append(visible(heading), "bold")
        for each in supports:
            found.append("\n\n").append(visible(each.place), "dim").append("\n")
            for piece, role in each.pieces:
                found.append(visible(piece), _STYLES[role])
    return found
