"""Plots of characters: bars, columns with axes, legends, and the pane that scrolls them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate, pairwise
from statistics import fmean
from typing import ClassVar

from rich.cells import cell_len
from rich.style import Style
from rich.text import Span, Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import Screen

from sciextract.text.characters import visible
from sciextract_app.shared.view_models import BarRow, Feedback, Plot
from sciextract_app.widgets.bars import FooterBar, MessageBar, TabLine, TooSmall, flowing
from sciextract_app.widgets.cells import fit, padded, word_lines
from sciextract_app.widgets.lines import LinesPane

_STANDING = " ▁▂▃▄▅▆▇█"
_WIDEST = 5
"""Cells of one column, its gap included."""
# In narrower columns a gap would take half of them.
_GAP_FROM = 3


def stacked(shares: Sequence[float], cells: int) -> list[int]:
    """How many cells each part of a stacked bar takes; together never more than all of them.

    >>> stacked([0.5, 0.25, 0.25], 8)
    [4, 2, 2]
    """
    edges = [round(_bound(edge) * cells) for edge in accumulate(shares)]
    return [end - start for start, end in zip([0, *edges], edges, strict=False)]


def column_rows(shares: Sequence[float | None], rows: int) -> list[str]:
    """Standing columns side by side, one cell wide, as lines from top to bottom; ``None`` leaves a gap.

    >>> column_rows([0, 0.25, 1], 2)
    ['  █', ' ▄█']
    """
    heights = []
    for share in shares:
        height = 0 if share is None else round(_bound(share) * rows * 8)
        heights.append(max(height, 1) if share is not None and share > 0 else height)
    return [
        "".join(_STANDING[min(8, max(0, height - below * 8))] for height in heights)
        for below in reversed(range(rows))
    ]


def spread(values: Sequence[float | None], cells: int) -> list[float | None]:
    """Values on so many cells: several in one cell become their mean, few take several cells and a gap each.

    >>> spread([1, 2], 5)
    [1, 1, 2, 2]
    >>> spread([1, 2], 6)
    [1, 1, None, 2, 2, None]
    >>> spread([1, 3, 5, 7], 2)
    [2.0, 6.0]
    """
    if not values or cells < 1:
        return []
    if len(values) <= cells:
        wide = min(_WIDEST, cells // len(values))
        gap = [None] if wide >= _GAP_FROM else []
        return [cell for value in values for cell in [*[value] * (wide - len(gap)), *gap]]
    edges = [place * len(values) // cells for place in range(cells + 1)]
    parts = ([v for v in values[start:end] if v is not None] for start, end in pairwise(edges))
    return [fmean(known) if known else None for known in parts]


def _bound(share: float) -> float:
    return min(1.0, max(0.0, share))


BAR = "bar"
"""Style of what stands for a value; the pane knows its colour."""


ROWS = 8
"""Of the columns of a chart: its axis and the words below come on top of them."""


def chart(plot: Plot, cells: int, below: tuple[str, str]) -> list[Text]:
    """Columns under their title and over an axis, in so many cells.

    Args:
        plot: What to draw.
        cells: Width of everything.
        below: Words under the first and under the last column.
    """
    top = plot.top or max([1, *(value for value in plot.values if value is not None)])
    labels = {0: f"{top:,.0f}", ROWS: "0"}
    if top % 2 == 0:
        labels[ROWS // 2] = f"{top / 2:,.0f}"
    margin = max(map(cell_len, labels.values())) + 1
    room = max(1, cells - margin - 1)
    found = spread([None if value is None else value / top for value in plot.values], room)
    lines = word_lines([plot.words], cells, "bold")
    for y, row in enumerate(column_rows(found, ROWS)):
        side = "┤" if y in labels else "│"
        lines.append(Text().append(labels.get(y, "").rjust(margin) + side, "dim").append(row, BAR))
    width = max(1, len(found))
    # The lowest value stands at the axis: a column without height is as much.
    lines.append(Text("0".rjust(margin) + "└" + "─" * width, "dim"))
    lines.append(Text(" " * (margin + 1) + between(*below, width, room), "dim"))
    return lines


_LEAST_CHART = 54
"""Cells from which on a chart may stand beside another one."""


def charts(plots: Sequence[Plot], below: tuple[str, str], width: int) -> list[Text]:
    """Charts with the same words below, as many beside each other as have room; their feet are level."""
    columns = max(1, width // _LEAST_CHART)
    cells, lines = width // columns - (len(_GAP) if columns > 1 else 0), list[Text]()
    for start in range(0, len(plots), columns):
        drawn = [chart(plot, cells, below) for plot in plots[start : start + columns]]
        lines.append(Text())
        for y in range(-max(map(len, drawn)), 0):
            line = Text()
            for place, rows in enumerate(drawn):
                line.append(" " * (place * (cells + len(_GAP)) - line.cell_len))
                line.append_text(rows[y] if -y <= len(rows) else Text())
            lines.append(line)
    return lines


def between(left: str, right: str, width: int, most: int) -> str:
    """Words at both ends of a width; one after the other where that is too narrow for both."""
    gap = width - cell_len(left) - cell_len(right)
    return fit(left + " " * max(gap, 1 if right else 0) + right, max(width, most))


_GAP = "  "
_LEAST_BAR = 8


@dataclass(frozen=True, slots=True)
class BarPart:
    """One kind of part of all bars.

    Attributes:
        words: What it stands for.
        fill: The character that it is drawn with: different for each part.
        style: Its colour's name in the pane.
    """

    words: str
    fill: str
    style: str


def legend(parts: Sequence[BarPart], width: int) -> list[Text]:
    """What the characters of the bars mean, in as many lines as the width needs."""
    shown = [Text().append(part.fill * 2, part.style).append(f" {part.words}") for part in parts]
    return list(flowing(Text(), shown, width))


def bar_lines(
    rows: Sequence[BarRow], parts: Sequence[BarPart], width: int, whole: float
) -> list[Text]:
    """The rows in so many cells.

    Args:
        rows: What to draw.
        parts: How the parts look.
        width: Cells of a line.
        whole: What a bar over the full width stands for.
    """
    drawn = [row for row in rows if row.counts]
    after = max((cell_len(row.after) for row in drawn), default=0)
    name = min(max((cell_len(row.name) for row in drawn), default=0), max(10, width // 3))
    room = max(_LEAST_BAR, width - name - after - 2 * len(_GAP))
    lines = []
    for row in rows:
        if not row.counts:
            lines.append(Text(visible(row.name), "bold"))
            continue
        line = Text(padded(row.name, name) + _GAP)
        # Nothing at all has no length, but its row is drawn.
        cells = stacked([count / (whole or 1) for count in row.counts], room)
        for part, size in zip(parts, cells, strict=True):
            line.append(part.fill * size, part.style)
        line.append(" " * (room - sum(cells)) + _GAP)
        lines.append(line.append(row.after))
    return lines


Drawing = Callable[[int, int], list[Text]]
"""Writes lines for a width and a height."""
_NAMES = ("bar", "mark", "good", "middle", "bad", "quiet")


class PlotPane(LinesPane):
    """Draws what a function writes for its size; the names of colours are its own."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {f"plot--{name}" for name in _NAMES}
    DEFAULT_CSS = """
    PlotPane { border-top: none; padding: 0 1; }
    PlotPane > .plot--bar { color: $primary; }
    PlotPane > .plot--mark { color: $accent; text-style: bold; }
    PlotPane > .plot--good { color: $success; }
    PlotPane > .plot--middle { color: $warning; }
    PlotPane > .plot--bad { color: $error; }
    PlotPane > .plot--quiet { color: $text-muted; }
    """

    def __init__(self, id: str | None = None) -> None:
        super().__init__(id=id)
        self._draw: Drawing = lambda width, height: []

    def show(self, draw: Drawing, top: bool = True) -> None:
        """Draw something else, from its beginning or where the pane is scrolled to."""
        self._draw = lru_cache(maxsize=1)(draw)
        self.redraw(0 if top else None)

    def count(self, width: int) -> int:
        """As many lines as the drawing needs."""
        return len(self._draw(width, self.scrollable_content_region.height))

    def line(self, y: int, width: int) -> Text:
        """One of them, in colours."""
        text = self._draw(width, self.scrollable_content_region.height)[y].copy()
        text.style = self._colour_of(str(text.style))
        text.spans = [Span(s.start, s.end, self._colour_of(str(s.style))) for s in text.spans]
        return text

    def _colour_of(self, name: str) -> str | Style:
        if name not in _NAMES:
            return name
        return self.get_component_rich_style(f"plot--{name}", partial=True)


class PlotScreen(Screen[None]):
    """A plot under its tabs, which scrolls, over messages and keys; subclasses say what is plotted.

    Args:
        title: What stands before the tabs.
        pages: Names of the tabs.
    """

    AUTO_FOCUS = ""
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down,j", "scroll(1)", "down", id="plots.down"),
        Binding("up,k", "scroll(-1)", "up", id="plots.up"),
        Binding("pagedown,space", "scroll(10)", "down", id="plots.page-down"),
        Binding("pageup", "scroll(-10)", "up", id="plots.page-up"),
    ]

    def __init__(self, title: str, pages: Sequence[str] = ()) -> None:
        super().__init__()
        self._tabs = title, pages

    def compose(self) -> ComposeResult:
        """Tabs, the plot, and the bars."""
        title, pages = self._tabs
        yield TabLine(title, pages, id="tabs")
        yield PlotPane(id="plot")
        yield MessageBar(id="message")
        yield FooterBar(id="footer")
        yield TooSmall()

    def action_scroll(self, by: int) -> None:
        """Show what is below or above."""
        self.query_one(PlotPane).scroll_relative(y=by, animate=False)

    def show_message(self, feedback: Feedback) -> None:
        """Show a message until the next one."""
        self.query_one(MessageBar).tell(feedback)
