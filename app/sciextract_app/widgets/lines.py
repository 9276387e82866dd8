"""What bars and panes share: lines of plain text, drawn as strips of exact width."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, ClassVar, Generic, Self, TypeVar

from rich.color import Color as RichColor
from rich.segment import Segment
from rich.style import Style
from rich.text import Text
from textual import events
from textual.color import Color
from textual.geometry import Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.scrollbar import ScrollBar, ScrollBarRender
from textual.strip import Strip
from textual.widget import Widget

from sciextract_app.themes import label_style

FOCUS = "▸"
Row = TypeVar("Row")


# A style that is made takes much longer than one that is looked up.
@lru_cache(maxsize=1024)
def ink(look: Style) -> Style:
    """The colour of a style alone."""
    return Style(color=look.color)


class KeptLines(Widget):
    """Keeps its lines as the screen wants them, until they are refreshed.

    For every frame the toolkit renders all widgets near a change, and looks up borders, opacity, tints and outlines
    for each of their lines. That takes longer than all else that a key does, so only lines of a border come from there.
    """

    _frame: tuple[Region, list[Strip]] | None = None
    _kept_width = 0
    _looks: tuple[Style, Color, Style] | None = None

    def __init__(self, *args: Any, **options: Any) -> None:
        self._lines_kept: dict[int, Strip] = {}
        self._edges_kept: dict[tuple[int, int, str | None], Strip] = {}
        self._components_kept: dict[str, Style] = {}
        super().__init__(*args, **options)

    @property
    def own_style(self) -> Style:
        """Its look, which takes longer to find than a line to draw."""
        return self._own_looks()[0]

    def component_look(self, name: str) -> Style:
        """The look of one of its components, which the toolkit would look up anew after each refresh."""
        if name not in self._components_kept:
            self._components_kept[name] = self.get_component_rich_style(name, partial=True)
        return self._components_kept[name]

    def _own_looks(self) -> tuple[Style, Color, Style]:
        """Its look, its ground, and the look of its blanks."""
        if self._looks is None:
            ground = self.background_colors[1]
            self._looks = self.rich_style, ground, Style(bgcolor=ground.rich_color)
        return self._looks

    def notify_style_update(self) -> None:
        """Another theme, or another state, may have other colours."""
        super().notify_style_update()
        self._frame = self._looks = None
        self._lines_kept.clear()
        self._edges_kept.clear()
        self._components_kept.clear()

    def refresh(
        self,
        *regions: Region,
        repaint: bool = True,
        layout: bool = False,
        recompose: bool = False,
    ) -> Self:
        """Draw all or some regions anew."""
        self._frame = None
        if regions:
            top = self.gutter.top
            for y in (y for region in regions for y in region.line_range):
                self._lines_kept.pop(y + top, None)
        else:
            self._lines_kept.clear()
        return super().refresh(*regions, repaint=repaint, layout=layout, recompose=recompose)

    def render_lines(self, crop: Region) -> list[Strip]:
        """Lines of the screen."""
        if self._frame is not None and self._frame[0] == crop:
            return self._frame[1]
        kept, gutter, (width, height) = self._lines_kept, self.gutter, self.outer_size
        if self._frame is not None or width != self._kept_width:
            # Nothing asked for new lines, so another part is seen: the size or the place has changed.
            kept.clear()
            self._kept_width = width
        strips = []
        for y in crop.line_range:
            if y not in kept and gutter.top <= y < height - gutter.bottom:
                kept[y] = self._content_strip(y - gutter.top, gutter.left, width)
            elif y not in kept:
                # A line of the border changes with its title and with the style only.
                name = y, width, self.border_title
                if name not in self._edges_kept:
                    self._edges_kept[name] = super().render_lines(Region(0, y, width, 1))[0]
                kept[y] = self.edge(self._edges_kept[name])
            strips.append(kept[y] if crop.width == width else kept[y].crop(crop.x, crop.right))
        self._frame = crop, strips
        return strips

    def edge(self, strip: Strip) -> Strip:
        """A line of the border as it looks now."""
        return strip

    def _content_strip(self, y: int, left: int, width: int) -> Strip:
        _, background, blank = self._own_looks()
        segments = [*self.render_line(y).adjust_cell_length(width - left, blank)]
        if left:
            segments.insert(0, Segment(" " * left, blank))
        # The toolkit filters what it renders itself; lines that are kept are none of that.
        for line_filter in self.get_line_filters():
            segments = line_filter.apply(segments, background)
        return Strip(segments, width)

    def label_look(self, label: str) -> Style:
        """The style of a label in the theme that is shown."""
        app = self.app
        if app.no_color:
            # A colour would be drawn as a grey, which is fainter than plain text.
            return Style.null()
        return label_style(label, app.theme_variables, app.current_theme.dark)

    def strip_of(self, text: Text, width: int) -> Strip:
        """A line of text as a strip of that width; what does not fit is cut off."""
        text.end = ""  # Rich would end it with a line feed, which is a segment of its own
        console = self.app.console
        base = self.own_style + console.get_style(text.style, default=Style.null())
        segments = Segment.apply_style(text.render(console), base)
        return Strip(segments).adjust_cell_length(width, self.own_style)


class LineBar(KeptLines, Generic[Row]):
    """One line across the screen, or several; subclasses write them for a width."""

    ALLOW_SELECT = False
    DEFAULT_CSS = """
    LineBar { height: 1; width: 1fr; }
    """

    _shown: Row
    _written: Sequence[Text] = ()

    def show(self, shown: Row) -> None:
        """Draw this; the same is drawn already."""
        if shown != self._shown:
            self._shown = shown
            self.refresh()

    def line(self, width: int) -> Text:
        """What stands in so many cells."""
        return Text()

    def lines(self, width: int, height: int) -> Sequence[Text]:
        """What stands in so many lines."""
        return (self.line(width),)

    def render_line(self, y: int) -> Strip:
        """A line of the screen."""
        if not self._lines_kept:  # the first one after a change
            self._written = self.lines(*self.size)
        line = self._written[y] if y < len(self._written) else Text()
        return self.strip_of(line, self.size.width)


class KeptBar(KeptLines, ScrollBar):
    """A scroll bar that is rendered when it changes only, all cells at once."""

    _cells: Sequence[Segment] = ()
    _shape: object = None

    def refresh(self, *regions: Region, **options: bool) -> Self:
        """Draw it anew if it looks other than before: for every layout of the screen the toolkit asks for that."""
        is_full = self.window_size >= self.window_virtual_size
        place = () if is_full else (self.window_virtual_size, self.window_size, self.position)
        before, self._shape = self._shape, (*place, self.mouse_over, self.grabbed)
        if self._shape == before and not options.get("layout"):
            return self
        return super().refresh(*regions, **options)

    def notify_style_update(self) -> None:
        """It has the colours of the theme."""
        super().notify_style_update()
        self._shape = None

    def render_line(self, y: int) -> Strip:
        """A cell of the bar."""
        if not self._lines_kept:  # the first one after a change
            bar = self.render()
            assert isinstance(bar, ScrollBarRender) and isinstance(bar.style, Style)
            self._cells = bar.render_bar(
                size=self.size.height,
                virtual_size=bar.virtual_size,
                window_size=bar.window_size,
                position=bar.position,
                back_color=bar.style.bgcolor or RichColor.default(),
                bar_color=bar.style.color or RichColor.default(),
            ).segments
        return Strip(Segment.apply_style([self._cells[y]], self.own_style), 1)


class Scrolled(KeptLines, ScrollView, can_focus=False):
    """Scrolls lines up and down; its bar has a column of its own, and is blank where all lines are in sight.

    A bar that came and went would take a layout of the whole screen, and a frame more.
    """

    ALLOW_SELECT = False
    DEFAULT_CSS = """
    Scrolled {
        height: 1fr;
        background: $background;
        overflow-x: hidden;
        overflow-y: scroll;
        scrollbar-size-vertical: 1;
        scrollbar-background: $background;
    }
    """

    @property
    def vertical_scrollbar(self) -> ScrollBar:
        """The bar, made as the toolkit makes its own."""
        if self._vertical_scrollbar is None:
            # Textual has no hook for a bar of one's own; _start_widget is how its own bars come into being.
            self._vertical_scrollbar = bar = KeptBar(name="vertical")
            bar.display = False
            self.app._start_widget(self, bar)
        return self._vertical_scrollbar

    def fit(self, lines: int) -> None:
        """Scroll through so many lines, without a new layout of the screen."""
        width, height = self.scrollable_content_region.size
        size = Size(width, max(lines, height))
        if size != self.virtual_size:
            # Without its watcher, which lays out the whole screen.
            self.set_reactive(Scrolled.virtual_size, size)
            self.vertical_scrollbar.window_virtual_size = size.height


class LinesPane(Scrolled, can_focus=False):
    """Lines in a pane that scrolls; subclasses write each of them for a width."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {"lines--active"}
    DEFAULT_CSS = """
    LinesPane {
        padding: 0 1;
        border-top: solid $panel;
        border-title-color: $text-muted;
    }
    LinesPane > .lines--active { color: $primary; }
    """

    class MenuWanted(Message):
        """A line was clicked with the right button, or with Shift."""

    _is_active = False
    _written: Mapping[int, tuple[int, Text | None]] = {}

    def count(self, width: int) -> int:
        """How many lines there are at a width."""
        return 0

    def line(self, y: int, width: int) -> Text:
        """What stands in one of them."""
        return Text()

    @property
    def focused_line(self) -> int | None:
        """The line that is to be in sight, ``None`` for any."""
        return None

    def click(self, y: int, x: int, width: int) -> None:
        """A line of so many cells was clicked in a column."""

    def on_click(self, event: events.Click) -> None:
        """Tell which line was clicked, and in which column."""
        where = event.get_content_offset(self)
        if where is not None:
            width = self.scrollable_content_region.width
            self.click(where.y + self.scroll_offset.y, where.x, width)
            if event.button != 1 or event.shift:
                self.post_message(self.MenuWanted())

    def mark(self, active: bool) -> None:
        """Show by the line of its title whether the pane has the focus."""
        if active != self._is_active:
            self._is_active = active
            # To draw a hidden pane would take a layout of the screen.
            if width := self.outer_size.width:
                self.refresh(Region(-1, -1, width, 1))

    def edge(self, strip: Strip) -> Strip:
        """The line of the title, heavy where the pane has the focus: a class for that would match all styles anew."""
        if not self._is_active:
            return strip
        line = self.component_look("lines--active")
        title = line + Style(bold=True)
        parts = [(text.replace("─", "━"), line if "─" in text else title) for text, _, _ in strip]
        return Strip([Segment(*part) for part in parts]).apply_style(self.own_style)

    def redraw(self, focused: int | None = None) -> None:
        """Draw all lines anew, with one of them in sight."""
        width = self.scrollable_content_region.width
        if not width:
            return  # what is hidden is drawn when it is seen
        self.fit(self.count(width))
        if focused is not None:
            where = Region(0, focused, 1, 1)
            self.scroll_to_region(where, animate=False, force=True, x_axis=False)
        elif self.scroll_offset.y > self.max_scroll_y:
            self.scroll_to(y=self.max_scroll_y, animate=False, force=True)
        # Of the lines in sight only those that are others than before are drawn: drawing takes longest.
        top, height = self.scroll_offset.y, self.scrollable_content_region.height
        before, rows = self._written, range(top, top + height)
        self._written = {y: (width, self._text(y, width)) for y in rows}
        changed = [y for y in rows if self._written[y] != before.get(y)]
        if changed:
            self.refresh(*(Region(0, y - top, width, 1) for y in changed))

    def _text(self, y: int, width: int) -> Text | None:
        """A line at a width, nothing below the last one."""
        # Counted here: a pane that was hidden, or had another width, may be drawn before it hears of its new size.
        return self.line(y, width) if y < self.count(width) else None

    def notify_style_update(self) -> None:
        """Lines have the colours of the theme."""
        super().notify_style_update()
        self._written = {}

    def on_resize(self) -> None:
        """Write the lines for the new width."""
        self.redraw()

    def render_line(self, y: int) -> Strip:
        """A line of the screen."""
        width = self.scrollable_content_region.width
        y += self.scroll_offset.y
        written, text = self._written.get(y, (0, None))
        if written != width:
            text = self._text(y, width)
        return (
            self.strip_of(text, width) if text is not None else Strip.blank(width, self.own_style)
        )


class RowsPane(LinesPane, Generic[Row]):
    """A line for each row; one that says so where there are none."""

    NOTHING = "  none"
    _rows: Sequence[Row] = ()

    def show(self, rows: Sequence[Row]) -> None:
        """Draw these rows; the focused one is scrolled into sight."""
        if rows != self._rows:
            self._rows = rows
            self.redraw(self.focused_line)

    def count(self, width: int) -> int:
        """One line a row."""
        return len(self._rows) or 1

    def line(self, y: int, width: int) -> Text:
        """A row."""
        return self.row_text(self._rows[y], width) if self._rows else Text(self.NOTHING, "dim")

    def row_text(self, row: Row, width: int) -> Text:
        """A row in so many cells."""
        return Text()
