"""The list of abstracts, of any length: only what is seen is fetched and drawn."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Protocol

from rich.segment import Segment
from textual import events
from textual.binding import Binding, BindingType
from textual.cache import LRUCache
from textual.geometry import Region
from textual.message import Message
from textual.strip import Strip

from sciextract_app.widgets.cells import bar, padded
from sciextract_app.widgets.lines import FOCUS, Scrolled

if TYPE_CHECKING:
    from sciextract.store.review import DocumentSummary

PAGE_ROWS = 100
"""Rows that are fetched together."""
PAGES_KEPT = 16


class RowSource(Protocol):
    """Where rows come from: :class:`sciextract_app.review.model.document_order.Listing`."""

    def count(self) -> int:
        """How many rows there are."""

    def page(self, offset: int, limit: int) -> list[DocumentSummary]:
        """Some of them; fewer where abstracts have gone."""

    def place(self, number: int) -> int | None:
        """The row of an abstract, ``None`` when it is not in the list."""


DONE, BEGUN, UNTOUCHED, FLAGGED, NOTED = "●", "◐", "○", "⚑", "*"
_SIGNS = {"done": DONE, "untouched": UNTOUCHED}
_BAR = 4
_LAYERS_FROM, _BAR_FROM, _YEAR_FROM, _UNCERTAINTY_FROM = 48, 56, 60, 64
"""Columns of the list; what tells abstracts apart is their title."""


def row_parts(row: DocumentSummary, width: int, current: bool) -> tuple[str, str, str]:
    """An abstract in so many cells: signs and title, a bar of the decided items, and how many are left.

    Layers, year and uncertainty stand there where there is room for them.

    Args:
        row: The abstract.
        width: Cells.
        current: Whether it is open.
    """
    signs = [_SIGNS.get(layer, BEGUN) for layer in row.layers]
    if width < _LAYERS_FROM:  # one sign for all layers, done as the header counts it
        alike = signs[:1] if len(set(signs)) == 1 else [BEGUN]
        signs = [DONE] if row.done else alike
    before = f"{FOCUS if current else ' '}{FLAGGED if row.flagged else ' '}{''.join(signs)} "
    year = f" {row.year or '':>4}" if width >= _YEAR_FROM else ""
    sure = f"{row.uncertainty:.2f}" if row.undecided else ""
    behind = f"{f' {sure:4}' if width >= _UNCERTAINTY_FROM else ''} {row.undecided or '':>4}"
    share = 1 - row.undecided / row.items if row.items else 0.0
    decided = bar(share, _BAR) if width >= _BAR_FROM else ""
    note = f"{f' {NOTED}' if row.noted else ''}{year}{' ' if decided else ''}"
    room = max(0, width - len(before) - len(note) - len(decided) - len(behind))
    return before + padded(row.title or "(no title)", room) + note, decided, behind


class DocumentList(Scrolled, can_focus=True, inherit_bindings=False):
    """Draws a row for each abstract; Enter or a click opens one.

    Args:
        source: Where rows come from.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "move(-1)", "up", show=False, id="list.up"),
        Binding("down,j", "move(1)", "down", show=False, id="list.down"),
        Binding("pageup", "page(-1)", "page up", show=False, id="list.page-up"),
        Binding("pagedown", "page(1)", "page down", show=False, id="list.page-down"),
        Binding("home", "first", "first", show=False, id="list.first"),
        Binding("end", "last", "last", show=False, id="list.last"),
        Binding("enter", "open", "open", show=False, id="list.open"),
    ]
    COMPONENT_CLASSES: ClassVar[set[str]] = {"list--bar", "list--current", "list--cursor"}
    DEFAULT_CSS = """
    DocumentList { background: $surface; scrollbar-background: $surface; }
    DocumentList > .list--bar { color: $primary; background: $panel; }
    DocumentList > .list--current { text-style: bold; }
    DocumentList > .list--cursor { text-style: reverse; }
    """

    @dataclass
    class Opened(Message):
        """A person wants to read an abstract.

        Attributes:
            number: Its number in the project.
        """

        number: int

    def __init__(self, source: RowSource, id: str | None = None) -> None:
        super().__init__(id=id)
        self._source = source
        self._pages: LRUCache[int, list[DocumentSummary]] = LRUCache(PAGES_KEPT)
        self._count = 0
        self._current = 0
        self._drawn: dict[int, tuple[DocumentSummary | None, bool]] = {}
        self.cursor = 0
        """The row that Enter opens."""

    def reload(self, current: int | None = None) -> None:
        """Fetch everything seen anew; where another abstract is open now, it is scrolled into sight.

        Args:
            current: The open abstract, ``None`` for the same as before.
        """
        self._pages.clear()
        self._count = self._source.count()
        self.fit(self._count)
        if current is not None and current != self._current:
            self._current = current
            self._to(self._source.place(current) or 0)
        else:
            self._to(self.cursor, scroll=False)
        # A key changes few rows; to draw all of them takes longer than everything else that it does.
        top = self.scroll_offset.y
        for y in range(self.scrollable_content_region.height):
            if self._look_at(top + y) != self._drawn.get(y):
                self.refresh_line(top + y)

    def render_line(self, y: int) -> Strip:
        """A line of the screen."""
        index = y + self.scroll_offset.y
        row, current = self._drawn[y] = self._look_at(index)
        width = self.scrollable_content_region.width
        if row is None:
            return Strip.blank(width, self.own_style)
        style = self.own_style
        if current:
            style += self.component_look("list--current")
        if index == self.cursor and self.has_focus:
            style += self.component_look("list--cursor")
        title, decided, behind = row_parts(row, width, current)
        track = style + self.component_look("list--bar")
        strip = Strip([Segment(title, style), Segment(decided, track), Segment(behind, style)])
        return strip.adjust_cell_length(width, self.own_style)

    def on_mount(self) -> None:
        """Show the beginning."""
        self.reload()

    def on_resize(self) -> None:
        """Draw rows of the new width."""
        self.fit(self._count)
        self._to(self.cursor)
        self.refresh()

    def on_focus(self) -> None:
        """Show the cursor."""
        self._to(self.cursor)
        self.refresh_line(self.cursor)

    def on_click(self, event: events.Click) -> None:
        """Open what was clicked."""
        where = event.get_content_offset(self)
        if where is not None and event.button == 1:
            self._open(where.y + self.scroll_offset.y)

    @property
    def keys(self) -> Collection[str]:
        """Keys that it answers itself."""
        return self._bindings.key_to_bindings.keys()

    def action_move(self, rows: int) -> None:
        """Move the cursor by so many rows."""
        self._to(self.cursor + rows)

    def action_page(self, pages: int) -> None:
        """Move the cursor by so many screens."""
        self._to(self.cursor + pages * max(1, self.scrollable_content_region.height - 1))

    def action_first(self) -> None:
        """Move the cursor to the first row."""
        self._to(0)

    def action_last(self) -> None:
        """Move the cursor to the last row."""
        self._to(self._count - 1)

    def action_open(self) -> None:
        """Open the abstract under the cursor."""
        self._open(self.cursor)

    def row_at(self, index: int) -> DocumentSummary | None:
        """A row, ``None`` where there is none (any more)."""
        if not 0 <= index < self._count:
            return None
        number, place = divmod(index, PAGE_ROWS)
        page = self._pages.get(number)
        if page is None:
            page = self._pages[number] = self._source.page(number * PAGE_ROWS, PAGE_ROWS)
        # Abstracts may have gone since the rows were counted.
        return page[place] if place < len(page) else None

    def _look_at(self, index: int) -> tuple[DocumentSummary | None, bool]:
        """A row, and whether it is the open abstract's."""
        row = self.row_at(index)
        return row, row is not None and row.number == self._current

    def _open(self, index: int) -> None:
        row = self.row_at(index)
        if row is not None:
            self._to(index)
            self.post_message(self.Opened(row.number))

    def _to(self, index: int, scroll: bool = True) -> None:
        before, self.cursor = self.cursor, min(max(index, 0), max(0, self._count - 1))
        # Before the first layout there is nothing to scroll in.
        if scroll and self.size:
            where = Region(0, self.cursor, 1, 1)
            self.scroll_to_region(where, animate=False, force=True, x_axis=False)
        if before != self.cursor:
            self.refresh_line(before)
            self.refresh_line(self.cursor)
