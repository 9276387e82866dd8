"""Dialogs to read: keys, and definitions of types."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import ClassVar

from rich.style import Style
from rich.table import Table
from rich.text import Text
from textual import on
from textual.binding import Binding, BindingType
from textual.widget import Widget
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from sciextract.documents.schema import LabelSchema
from sciextract.text.characters import visible
from sciextract_app.settings import AROUND
from sciextract_app.shared import actions
from sciextract_app.shared.actions import ACTIONS, key_of, keys_of, written
from sciextract_app.shared.view_models import DIGITS
from sciextract_app.themes import label_style
from sciextract_app.widgets.dialogs import Dialog, Result, words

HelpRow = tuple[str, str, str]
"""Key, words, group."""


def help_rows() -> list[HelpRow]:
    """Keys, words and group of every action, and of what the app answers itself."""
    merged: dict[tuple[str, str], list[str]] = {}  # the digits share their words
    for action in ACTIONS:
        merged.setdefault((action.help, action.layer), []).append(written(keys_of(action.id)))
    rows = [(" ".join(names), text, layer) for (text, layer), names in merged.items()]
    around = [(keys_of(binding.id or ""), binding.description) for binding in AROUND]
    return [*rows, *((written(keys), text, actions.AROUND) for keys, text in around)]


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
        return [line, Static(help_grid(self._rows), id="keys-table"), words(self._note, "hint")]

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
    def _leave_search(self) -> None:
        self.set_focus(None)

    @on(Input.Changed)
    def _filter_rows(self, event: Input.Changed) -> None:
        wanted, found = event.value.casefold().split(), []
        for key, shown, group in self._rows:
            keys, text = key.casefold().split(), f"{shown} {group}".casefold()
            # A key is meant as a whole: "n" is not searched for inside of "Enter".
            if all(word in keys or word in text for word in wanted):
                found.append((key, shown, group))
        nothing = [("", f"no key for: {event.value}", "")]
        self.query_one("#keys-table", Static).update(help_grid(found or nothing))
        self.box.scroll_home(animate=False)


class GuidelineDialog(Dialog[Result]):
    """The types of the schema with what they mean; gives nothing by itself.

    Args:
        schema: The schema.
        at: The type that is shown first, by its place among all of them.
        hint: The keys.
    """

    FIRST = "OptionList"
    BINDINGS: ClassVar[list[BindingType]] = [Binding("g", "leave", "back", id="dialog.close")]

    def __init__(self, schema: LabelSchema, at: int = 0, hint: str = "Enter or Esc closes") -> None:
        super().__init__("Types", hint)
        self._schema = schema
        self._at = at

    def content(self) -> list[Widget]:
        """Definition and examples of each."""
        variables, dark = self.app.theme_variables, self.app.current_theme.dark
        options, entities = [], len(self._schema.entities)
        for place, type_ in enumerate(self._schema.types, start=1):
            kind, digit = ("entity", place) if place <= entities else ("relation", place - entities)
            colour = None if self.app.no_color else label_style(type_.label, variables, dark).color
            key = key_of(f"type-{digit}") if digit <= DIGITS else " "
            line = Text(f"{key} {key_of('letter')}{visible(type_.key)}  ")
            line.append("■ ", Style(color=colour)).append(visible(type_.label), "bold").append(
                f"  {kind}"
            )
            line.append(f"\n   {visible(type_.definition) or 'no definition'}")
            if type_.examples:
                line.append(f"\n   for example: {visible('; '.join(type_.examples))}")
            options.append(Option(line))
        for said in self._schema.attributes:
            line = Text(f"  {key_of('attribute')}{visible(said.key)}  ").append(
                visible(said.label), "bold"
            )
            line.append(visible(f"  attribute of {', '.join(said.on)}: {said.allowed_values}"))
            options.append(
                Option(line.append(f"\n   {visible(said.definition) or 'no definition'}"))
            )
        return [OptionList(*options) if options else words("The schema has no types yet")]

    def on_mount(self) -> None:
        """Begin at the type that is wanted."""
        super().on_mount()
        for found in self.query(OptionList):
            found.highlighted = self._at

    @on(OptionList.OptionSelected)
    def _leave_chosen(self) -> None:
        self.dismiss(None)
