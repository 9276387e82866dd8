"""The abstract under the pointer: what was clicked or dragged over, told in characters and items."""

from __future__ import annotations

from dataclasses import dataclass

from textual import events
from textual.geometry import Offset
from textual.message import Message

from sciextract_app.presenter.shown import Mark
from sciextract_app.widgets.passage_drawing import DrawnPassage

_LEFT, _RIGHT = 1, 3


class PassageView(DrawnPassage, can_focus=False):
    """The drawn abstract that tells where it was clicked."""

    @dataclass
    class ItemClicked(Message):
        """A mention was clicked; again at the same place the next enclosing one.

        Attributes:
            item_id: The mention.
            char: The character under the pointer.
        """

        item_id: str
        char: int

    @dataclass
    class TokenClicked(Message):
        """Text outside of mentions was clicked.

        Attributes:
            char: The character under the pointer.
        """

        char: int

    @dataclass
    class SpanDragged(Message):
        """The pointer was drawn over text.

        Attributes:
            char_start: The first character.
            char_end: Its end.
        """

        char_start: int
        char_end: int

    @dataclass
    class MenuWanted(Message):
        """The right button, or the left one with Shift, was pressed.

        Attributes:
            item_id: The mention under the pointer, empty for none.
            x: Column of the screen.
            y: Row of the screen.
        """

        item_id: str
        x: int
        y: int

    def __init__(
        self, *, name: str | None = None, id: str | None = None, classes: str | None = None
    ) -> None:
        super().__init__(name=name, id=id, classes=classes)
        self._pressed: int | None = None

    def on_mouse_down(self, event: events.MouseDown) -> None:
        """Begin a click or a drag, or ask for the menu."""
        where = self._cell(event)
        if event.button == _RIGHT or (event.button == _LEFT and event.shift):
            under = self._marks_at(where)
            item_id = under[0].item_id if under else ""
            self.post_message(self.MenuWanted(item_id, event.screen_x, event.screen_y))
        elif event.button == _LEFT:
            self._pressed = self.layout_shown.char_at(where.y, where.x)
            self.capture_mouse()

    def on_mouse_move(self, event: events.MouseMove) -> None:
        """Show what is being dragged over."""
        if self._pressed is None:
            return
        dragged = self._dragged(self._cell(event))
        if dragged is not None and dragged != self.passage_shown.selection:
            self.select(dragged)

    def on_mouse_up(self, event: events.MouseUp) -> None:
        """Tell what was clicked or dragged over."""
        pressed, where = self._pressed, self._cell(event)
        self.release_mouse()
        if pressed is None:
            return
        dragged = self._dragged(where)
        self._pressed = None
        if dragged is not None:
            self.post_message(self.SpanDragged(*dragged))
            return
        under = self._marks_at(where)
        if under:
            self.post_message(self.ItemClicked(_next_outwards(under).item_id, pressed))
        else:
            self.post_message(self.TokenClicked(pressed))

    def _cell(self, event: events.MouseEvent) -> Offset:
        """Line and column of the passage under the pointer."""
        return event.get_content_offset_capture(self) + self.scroll_offset

    def _marks_at(self, where: Offset) -> list[Mark]:
        """Mentions under the pointer, the innermost first."""
        found = self.layout_shown.marks_at(where.y, where.x)
        return [self.passage_shown.marks[index] for index in reversed(found)]

    def _dragged(self, where: Offset) -> tuple[int, int] | None:
        """What lies between the pressed and the present character, ``None`` while they are the same."""
        y = min(max(where.y, 0), self.layout_shown.height - 1)
        char = self.layout_shown.char_at(y, where.x)
        if self._pressed is None or char is None or char == self._pressed:
            return None
        return min(char, self._pressed), self.layout_shown.end_of(max(char, self._pressed))


def _next_outwards(marks: list[Mark]) -> Mark:
    """The innermost mention; where one of them is in focus already, the next around it."""
    focused = next((place for place, mark in enumerate(marks) if mark.focused), None)
    return marks[0] if focused is None else marks[(focused + 1) % len(marks)]
