"""Rows of names, stacked bars and numbers, with a legend that needs no colour."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from rich.text import Text

from sciextract.text.visible import visible
from sciextract_app.widgets.glyphs import padded
from sciextract_app.widgets.plots.blocks import stacked

_GAP = "  "
_LEAST_BAR = 8


@dataclass(frozen=True, slots=True)
class Part:
    """One kind of part of all bars.

    Attributes:
        words: What it stands for.
        fill: The character that it is drawn with: different for each part.
        style: Its colour's name in the pane.
    """

    words: str
    fill: str
    style: str


@dataclass(frozen=True, slots=True)
class BarRow:
    """One row.

    Attributes:
        name: What stands before the bar.
        counts: Sizes of the parts.
        after: What stands behind it.
        heading: Whether it is only a line of words.
    """

    name: str
    counts: tuple[float, ...] = ()
    after: str = ""
    heading: bool = False


def legend(parts: Sequence[Part], width: int) -> list[Text]:
    """What the characters of the bars mean, in as many lines as the width needs."""
    lines = [Text()]
    for part in parts:
        words = Text().append(part.fill * 2, part.style).append(f" {part.words}")
        if lines[-1].cell_len and lines[-1].cell_len + 3 + words.cell_len > width:
            lines.append(Text())
        lines[-1].append("   " if lines[-1].cell_len else "").append_text(words)
    return lines


def bar_lines(
    rows: Sequence[BarRow], parts: Sequence[Part], width: int, whole: float
) -> list[Text]:
    """The rows in so many cells.

    Args:
        rows: What to draw.
        parts: How the parts look.
        width: Cells of a line.
        whole: What a bar over the full width stands for; 0 makes every bar as long as all others.
    """
    drawn = [row for row in rows if not row.heading]
    after = max((cell_len(row.after) for row in drawn), default=0)
    name = min(max((cell_len(row.name) for row in drawn), default=0), max(10, width // 3))
    room = max(_LEAST_BAR, width - name - after - 2 * len(_GAP))
    return [
        Text(visible(row.name), "bold") if row.heading else _row(row, parts, name, room, whole)
        for row in rows
    ]


def _row(row: BarRow, parts: Sequence[Part], name: int, room: int, whole: float) -> Text:
    line = Text(padded(row.name, name) + _GAP)
    total = whole or sum(row.counts) or 1
    cells = stacked([each / total for each in row.counts], room)
    for part, width in zip(parts, cells, strict=True):
        line.append(part.fill * width, part.style)
    line.append(" " * (room - sum(cells)) + _GAP)
    return line.append(row.after)
