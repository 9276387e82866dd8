"""Saved queues: giving one a name, and choosing one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Literal

from textual import on
from textual.binding import Binding, BindingType
from textual.widget import Widget
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from sciextract_app.dialogs.base import Dialog, plain, words
from sciextract_app.presenter.queues import QueueLine

Wish = tuple[Literal["start", "leave", "forget"], str]
"""What to do with which queue."""
_EMPTY = "No queue is saved yet. F4 saves the list as it is: search and sort first, then F4."


class QueueNameDialog(Dialog[str]):
    """Gives the name of a queue to be.

    Args:
        name: A name that is offered.
        count: Abstracts that are listed.
    """

    def __init__(self, name: str, count: int) -> None:
        super().__init__("Save the list as a queue", "Enter saves and begins it, Esc back")
        self._suggested = name
        self._count = count

    def content(self) -> list[Widget]:
        """The line to type in."""
        told = f"{self._count:,} abstracts in the order of the list; the queue stays as it is now."
        return [Input(self._suggested, id="queue-name"), words(told, "hint")]

    def on_mount(self) -> None:
        """The person can type at once."""
        self.query_one(Input).focus()

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        if event.value.strip():
            self.dismiss(event.value)


class QueuesDialog(Dialog[Wish]):
    """Gives what to do with which queue.

    Args:
        lines: The queues.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("x,delete", "forget", "forget", id="queues.forget")
    ]

    def __init__(self, lines: Sequence[QueueLine]) -> None:
        super().__init__("Queues", "Enter goes on with it, x x forgets it, Esc back")
        self._lines = list(lines)
        self._active = any(each.active for each in lines)
        self._asked = ""

    def content(self) -> list[Widget]:
        """The queues, or how to make one."""
        if not self._lines:
            return [words(_EMPTY)]
        options = [Option(plain(told(each))) for each in self._lines]
        if self._active:
            options.append(Option(plain("  leave the queue: all abstracts in their order")))
        return [OptionList(*options), words("", "hint")]

    def on_mount(self) -> None:
        """The list takes the keys."""
        for found in self.query(OptionList):
            found.focus()

    @on(OptionList.OptionSelected)
    def _selected(self, event: OptionList.OptionSelected) -> None:
        place = event.option_index
        if place < len(self._lines):
            self.dismiss(("start", self._lines[place].name))
        else:
            self.dismiss(("leave", ""))

    def action_forget(self) -> None:
        """Forget the queue under the cursor, the second time that it is asked for."""
        place = next((found.highlighted for found in self.query(OptionList)), None)
        if place is None or place >= len(self._lines):
            return
        name = self._lines[place].name
        if self._asked == name:
            self.dismiss(("forget", name))
            return
        self._asked = name
        hint = self.query(Static).filter(".hint").last()
        hint.update(plain(f"x again forgets {name}; its abstracts stay as they are"))


def told(line: QueueLine) -> str:
    """A queue in one line."""
    sign = "▸" if line.active else " "
    return f"{sign} {line.name}   {line.place:,} of {line.length:,}, {line.done:,} done"
