"""What bars and panes share: lines of plain text, drawn as strips of exact width."""

from __future__ import annotations

from rich.style import Style
from rich.text import Text
from textual.geometry import Region, Size
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.widget import Widget

from sciextract.documents.annotations import State

SIGNS = {
    State.UNDECIDED: "?",
    State.ACCEPTED: "✓",
    State.EDITED: "✎",
    State.ADDED: "+",
    State.IMPORTED: "⇣",
    State.REJECTED: "✗",
}
"""What has been decided, in one cell."""
FOCUS = "▸"


def score(value: float | None) -> str:
    """A probability in four cells.

    >>> score(0.914), score(1.0), score(None)
    (' .91', '1.00', '    ')
    """
    return "    " if value is None else f"{value:.2f}".removeprefix("0").rjust(4)


def strip_of(widget: Widget, text: Text, width: int) -> Strip:
    """A line of text as a strip of that width, in the widget's colours; what does not fit is cut off."""
    text.end = ""
    console = widget.app.console
    own = widget.rich_style  # walks up to the screen whenever it is asked for
    base = own + console.get_style(text.style, default=Style.null())
    strip = Strip(text.render(console)).apply_style(base)
    return strip.adjust_cell_length(width, own)


class LineBar(Widget):
    """One line across the screen; subclasses write it for a width."""

    ALLOW_SELECT = False
    DEFAULT_CSS = """
    LineBar { height: 1; width: 1fr; }
    """

    def line(self, width: int) -> Text:
        """What stands in so many cells."""
        return Text()

    def render_line(self, y: int) -> Strip:
        """The line."""
        width = self.size.width
        return strip_of(self, self.line(width) if y == 0 else Text(), width)


class LinesPane(ScrollView, can_focus=False):
    """Lines in a pane that scrolls; subclasses write each of them for a width."""

    ALLOW_SELECT = False
    DEFAULT_CSS = """
    LinesPane {
        height: 1fr;
        padding: 0 1;
        background: $background;
        border-top: solid $panel;
        border-title-color: $text-muted;
        overflow-x: hidden;
        overflow-y: auto;
        scrollbar-gutter: stable;
        scrollbar-size-vertical: 1;
    }
    """

    _count = 0
    _scrolls = False

    def count(self, width: int) -> int:
        """How many lines there are at a width."""
        return 0

    def line(self, y: int, width: int) -> Text:
        """What stands in one of them."""
        return Text()

    def redraw(self, focused: int | None = None) -> None:
        """Draw all lines anew, with one of them in sight."""
        width, height = self.scrollable_content_region.size
        self._count = self.count(width) if width else 0
        self._fit(Size(width, max(self._count, height)), scrolls=self._count > height)
        if focused is not None:
            where = Region(0, focused, 1, 1)
            self.scroll_to_region(where, animate=False, force=True, x_axis=False)
        elif self.scroll_offset.y > self.max_scroll_y:
            self.scroll_to(y=self.max_scroll_y, animate=False, force=True)
        self.refresh()

    def _fit(self, size: Size, scrolls: bool) -> None:
        """Take another virtual size; only a bar that comes or goes needs a new layout, which is of all panes.

        A pane that is hidden will be laid out when it is shown.
        """
        same = scrolls == self._scrolls and size.width == self.virtual_size.width
        self._scrolls = scrolls
        if same or not self.is_on_screen:
            self.set_reactive(LinesPane.virtual_size, size)
            self.vertical_scrollbar.window_virtual_size = size.height
        else:
            self.virtual_size = size

    def on_resize(self) -> None:
        """Write the lines for the new width."""
        self.redraw()

    def render_line(self, y: int) -> Strip:
        """A line of the screen."""
        width = self.scrollable_content_region.width
        y += self.scroll_offset.y
        text = self.line(y, width) if y < self._count else Text()
        return strip_of(self, text, width)
