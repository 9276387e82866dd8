"""A line to type, which is looked at before it is taken."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from textual import on
from textual.events import Key
from textual.widget import Widget
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from sciextract_app.dialogs.base import Dialog, plain, words


class LineDialog(Dialog[str]):
    """Gives what was typed or chosen, without blanks around it.

    Args:
        title: What it is for.
        text: What stands there at first.
        told: What may be typed.
        problem_of: Why something cannot be taken; empty where it can.
        offered: Values to choose below the line, each with its words.
    """

    def __init__(
        self,
        title: str,
        text: str,
        told: str,
        problem_of: Callable[[str], str],
        offered: Sequence[tuple[str, str]] = (),
    ) -> None:
        keys = (
            "Enter takes it, or type another one, Esc back"
            if offered
            else "Enter takes it, Esc back"
        )
        super().__init__(title, keys)
        self._text = text
        self._told = told
        self._problem_of = problem_of
        self._offered = tuple(offered)

    def content(self) -> list[Widget]:
        """The line, what may be typed, and what is offered."""
        options = [Option(plain(shown)) for _, shown in self._offered]
        return [
            *([OptionList(*options)] if options else []),
            Input(self._text, id="line", select_on_focus=False),
            words(self._told, "hint"),
            Static("", id="line-problem"),
        ]

    def on_mount(self) -> None:
        """What is offered takes the keys; without it the person can type at once."""
        self.query_one(OptionList if self._offered else Input).focus()

    def on_key(self, event: Key) -> None:
        """What is typed while the list has the keys belongs into the line."""
        line = self.query_one(Input)
        if event.is_printable and event.character and not line.has_focus:
            event.stop()
            line.focus()
            line.insert_text_at_cursor(event.character)

    @on(OptionList.OptionSelected)
    def _chosen(self, event: OptionList.OptionSelected) -> None:
        self._take(self._offered[event.option_index][0])

    @on(Input.Submitted)
    def _typed(self, event: Input.Submitted) -> None:
        self._take(event.value.strip())

    def _take(self, value: str) -> None:
        problem = self._problem_of(value)
        if problem:
            self.query_one("#line-problem", Static).update(plain(problem, "bold"))
        else:
            self.dismiss(value)
