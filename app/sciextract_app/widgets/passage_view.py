"""The abstract under the pointer: what was clicked or dragged over, told in characters and items."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import ClassVar

from textual import events
from textual.cache import LRUCache
from textual.geometry import Offset, Region, Size, Spacing
from textual.message import Message
from textual.strip import Strip

from sciextract_app.shared.view_models import EMPTY, Mark, Passage
from sciextract_app.widgets.lines import Scrolled
from sciextract_app.widgets.passage_layout import (
    PassageLayout,
    changed_lines,
    focus_of,
    moved_lines,
    same_layout,
)
from sciextract_app.widgets.passage_paint import Look, Painter

_LINES_KEPT = 512
MOST_COLUMNS = 100
"""Longer lines are hard to follow with the eye."""
_AROUND = Spacing(1, 0, 1, 0)


class DrawnPassage(Scrolled, can_focus=False):
    """Draws a passage by line; lines are painted when they are seen and kept until they change."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "passage--title",
        "passage--cursor",
        "passage--selection",
        "passage--candidate",
        "passage--hint",
        "passage--next-hint",
        "passage--hit",
    }
    DEFAULT_CSS = """
    DrawnPassage { padding: 0 1; }
    DrawnPassage > .passage--title { text-style: bold; }
    DrawnPassage > .passage--cursor { background: $panel; text-style: bold underline; }
    DrawnPassage > .passage--selection { color: $primary; text-style: reverse; }
    DrawnPassage > .passage--candidate { color: $accent; text-style: bold italic underline; }
    DrawnPassage > .passage--hint { color: $warning; text-style: bold reverse; }
    DrawnPassage > .passage--hit { color: $success; text-style: reverse; }
    DrawnPassage > .passage--next-hint { color: $warning; text-style: bold underline; }
    """

    def __init__(self, id: str | None = None) -> None:
        super().__init__(id=id)
        self._passage = EMPTY
        self._layout = PassageLayout("", (), 1)
        self._width = 0
        self._coming: PassageLayout | None = None
        self._strips: LRUCache[int, Strip] = LRUCache(_LINES_KEPT)
        self._painter: Painter | None = None
        self._look: Look | None = None

    @property
    def current_passage(self) -> Passage:
        """What is drawn, with the selection that is being dragged."""
        return self._passage

    @property
    def current_layout(self) -> PassageLayout:
        """Where it stands; columns count from the left of the text."""
        return self._layout

    def show(self, passage: Passage) -> None:
        """Draw a passage; scrolls only where the focus or the cursor has moved out of sight."""
        before, self._passage = self._passage, passage
        self._painter = None
        # Nothing is laid out before the first size is known.
        if not self._width:
            return
        if same_layout(before, passage):
            self._repaint(changed_lines(self._layout, before, passage))
        else:
            self._lay_out(before if before.text == passage.text else None)
        if before.text != passage.text:
            self.scroll_to(y=0, animate=False, force=True)
        if focus_of(before) != focus_of(passage):
            self.scroll_to_focus()

    def prepare(self, passage: Passage) -> None:
        """Lay out a passage that may be shown next: that takes longest of all that it needs."""
        self._coming = PassageLayout(passage.text, passage.marks, self._columns)

    @property
    def _columns(self) -> int:
        return min(self._width, MOST_COLUMNS)

    def select(self, selection: tuple[int, int]) -> None:
        """Draw other characters as selected, until the next passage is shown."""
        self.show(replace(self._passage, selection=selection))

    def scroll_to_focus(self) -> None:
        """Bring the focused mention, or the cursor where there is none, into sight."""
        focused = [index for index, mark in enumerate(self._passage.marks) if mark.focused]
        marks = self._passage.marks
        lines = [y for at in focused for y in self._layout.lines_of_mark(at, marks[at])]
        lines = lines or list(self._layout.lines_of(*self._passage.cursor))
        where = Region(0, min(lines), 1, max(lines) - min(lines) + 1)
        self.scroll_to_region(where, spacing=_AROUND, animate=False, force=True, x_axis=False)

    def render_line(self, y: int) -> Strip:
        """A line of the screen."""
        y += self.scroll_offset.y
        text_style = self._current_look().text
        if y >= self._layout.height:
            return Strip.blank(self._width, text_style)
        if y not in self._strips:
            line = self._layout.line(y)
            self._painter = self._painter or Painter(self._passage, self._current_look())
            segments = self._painter.segments(line, self._width)
            strip = Strip(segments, line.cells if not self._passage.hints else None)
            self._strips[y] = strip.adjust_cell_length(self._width, text_style)
        return self._strips[y]

    def notify_style_update(self) -> None:
        """Paint anew with the colours of another theme."""
        super().notify_style_update()
        self._painter = self._look = None
        self._strips.clear()

    def on_resize(self) -> None:
        """Wrap to the new width; the focus stays in sight."""
        width = self.scrollable_content_region.width
        if width != self._width:
            self._width = width
            self._strips.clear()
            self._lay_out(self._passage)
        self.scroll_to_focus()

    def _lay_out(self, before: Passage | None) -> None:
        """Wrap everything anew.

        Args:
            before: What of the same text was drawn, ``None`` where it is another text; the character on top of
                the same text stays on top.
        """
        old, top = self._layout, self._layout.char_at(self.scroll_offset.y, 0) or 0
        passage = self._passage
        known = old if before or self._coming is None else self._coming
        self._layout = PassageLayout(passage.text, passage.marks, self._columns, known)
        first = self.scroll_offset.y
        rows = range(first, first + self.size.height)
        moved = moved_lines(old, before, self._layout, passage, rows) if before else {*rows}
        # Painting takes longest, so lines in sight that stay the same are kept.
        kept = {y: self._strips[y] for y in rows if y in self._strips and y not in moved}
        self._strips.clear()
        for y, strip in kept.items():
            self._strips[y] = strip
        # A room that grows with the text stays where this one and the last are longer: no layout of the screen.
        grows = before is not passage and self.styles.is_auto_height
        if grows and self.virtual_size.height > self.size.height < self._layout.height:
            self.fit(self._layout.height)
        else:
            self.virtual_size = Size(self._width, self._layout.height)
        if before and first:
            self.scroll_to(y=self._layout.cell_of(top)[0], animate=False, force=True)
        self._repaint(moved)

    def _repaint(self, lines: set[int]) -> None:
        if len(lines) > self.size.height:
            self._strips.clear()
            self.refresh()
            return
        for y in lines:
            self._strips.discard(y)
        if lines:
            top, width = self.scroll_offset.y, self.size.width
            self.refresh(*(Region(0, y - top, width, 1) for y in lines))

    def _current_look(self) -> Look:
        """The styles of the theme, which take longer to look up than a line to draw."""
        self._look = self._look or Look(
            text=self.own_style,
            title=self.component_look("passage--title"),
            cursor=self.component_look("passage--cursor"),
            selection=self.component_look("passage--selection"),
            candidate=self.component_look("passage--candidate"),
            hint=self.component_look("passage--hint"),
            next_hint=self.component_look("passage--next-hint"),
            hit=self.component_look("passage--hit"),
            label=lru_cache(None)(self.label_look),
        )
        return self._look


_LEFT, _RIGHT = 1, 3


class PassageView(DrawnPassage, can_focus=False):
    """The drawn abstract that tells where it was clicked."""

    @dataclass
    class Clicked(Message):
        """Text was clicked.

        Attributes:
            item_id: The mention there, at a click on the same place the next enclosing one; empty outside of mentions.
            char: The character under the pointer.
        """

        item_id: str
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
            char: The character there.
        """

        item_id: str
        char: int

    _pressed: int | None = None

    def on_mouse_down(self, event: events.MouseDown) -> None:
        """Begin a click or a drag, or ask for the menu."""
        where = self._cell(event)
        if event.button == _RIGHT or (event.button == _LEFT and event.shift):
            under = self._marks_at(where)
            item_id = under[0].item_id if under else ""
            char = self.current_layout.char_at(where.y, where.x) or 0
            self.post_message(self.MenuWanted(item_id, char))
        elif event.button == _LEFT:
            self._pressed = self.current_layout.char_at(where.y, where.x)
            # The end of a drag must be heard of outside of the text, too.
            self.capture_mouse()

    def on_mouse_move(self, event: events.MouseMove) -> None:
        """Show what is being dragged over."""
        if self._pressed is None:
            return
        dragged = self._find_dragged(self._cell(event))
        if dragged is not None and dragged != self.current_passage.selection:
            self.select(dragged)

    def on_mouse_up(self, event: events.MouseUp) -> None:
        """Tell what was clicked or dragged over."""
        pressed, where = self._pressed, self._cell(event)
        self.release_mouse()
        if pressed is None:
            return
        dragged = self._find_dragged(where)
        self._pressed = None
        if dragged is not None:
            self.post_message(self.SpanDragged(*dragged))
            return
        under = self._marks_at(where)
        # The innermost mention; where one of them is in focus already, the next around it: this is how a
        # click again reaches mentions that are covered by others.
        focused = next((place for place, mark in enumerate(under) if mark.focused), -1)
        clicked = under[(focused + 1) % len(under)].item_id if under else ""
        self.post_message(self.Clicked(clicked, pressed))

    def _cell(self, event: events.MouseEvent) -> Offset:
        """Line and column of the passage under the pointer."""
        return event.get_content_offset_capture(self) + self.scroll_offset

    def _marks_at(self, where: Offset) -> list[Mark]:
        """Mentions under the pointer, the innermost first."""
        found = self.current_layout.marks_at(where.y, where.x)
        return [self.current_passage.marks[index] for index in reversed(found)]

    def _find_dragged(self, where: Offset) -> tuple[int, int] | None:
        """What lies between the pressed and the present character, ``None`` while they are the same."""
        y = min(max(where.y, 0), self.current_layout.height - 1)
        char = self.current_layout.char_at(y, where.x)
        if self._pressed is None or char is None or char == self._pressed:
            return None
        return min(char, self._pressed), self.current_layout.end_of(max(char, self._pressed))
