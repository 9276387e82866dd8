"""What all dialogs share: a box with a title, words below it, and Escape to leave."""

from __future__ import annotations

from typing import ClassVar, TypeVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.screen import ModalScreen
from textual.widget import Widget
from textual.widgets import Static

from sciextract.text.visible import visible

Result = TypeVar("Result")


class Dialog(ModalScreen[Result | None]):
    """A box over the screen; Escape leaves it without a result."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "leave", "back", id="dialog.leave")]

    def __init__(self, title: str, hint: str = "Esc back") -> None:
        super().__init__(classes="dialog")
        self._title = title
        self._hint = hint

    def compose(self) -> ComposeResult:
        """The box with the dialog's own widgets."""
        with VerticalScroll(classes="dialog-box", can_focus=False) as box:
            box.border_title = self._title
            box.border_subtitle = self._hint
            yield from self.content()

    def content(self) -> list[Widget]:
        """What is in the box."""
        return []

    def action_leave(self) -> None:
        """Leave without a result."""
        self.dismiss(None)


def plain(text: str, style: str = "") -> Text:
    """Text of any origin, safe to show: neither markup nor terminal escapes in it mean anything."""
    return Text(visible(text, keep="\n"), style)


def words(text: str, classes: str = "") -> Static:
    """Words in a dialog."""
    return Static(plain(text), classes=classes)
