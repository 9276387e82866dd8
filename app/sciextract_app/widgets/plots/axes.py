"""Columns with a scale beside them and words below them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from rich.text import Text

from sciextract_app.widgets.glyphs import fit
from sciextract_app.widgets.plots.blocks import column_rows, spread

BAR = "bar"
"""Style of what stands for a value; the pane knows its colour."""


@dataclass(frozen=True, slots=True)
class Scale:
    """What the lowest and the highest line of a chart stand for.

    Attributes:
        low: Value of an empty column.
        high: Value of a full one, more than ``low``.
        digits: Digits behind the point.
    """

    low: float
    high: float
    digits: int = 0

    def share(self, value: float | None) -> float | None:
        """Where a value lies, 0 to 1."""
        return None if value is None else (value - self.low) / (self.high - self.low)

    def words(self, value: float) -> str:
        """A value beside the scale."""
        return f"{value:,.{self.digits}f}"


def chart(
    values: Sequence[float | None], scale: Scale, cells: int, rows: int, below: tuple[str, str]
) -> list[Text]:
    """Columns in so many cells and rows (axis and words below them come on top of those).

    Args:
        values: From left to right; ``None`` for what is not known.
        scale: Of the heights.
        cells: Width of everything.
        rows: Height of the columns.
        below: Words under the first and under the last column.
    """
    labels = _labels(scale, rows)
    margin = max(cell_len(each) for each in labels) + 1
    room = max(1, cells - margin - 1)
    found = spread([scale.share(each) for each in values], room)
    lines = []
    for label, row in zip(labels, column_rows(found, rows), strict=True):
        side = "┤" if label else "│"
        lines.append(Text().append(label.rjust(margin) + side, "dim").append(row, BAR))
    width = max(1, len(found))
    lines.append(Text(" " * margin + "└" + "─" * width, "dim"))
    lines.append(Text(" " * (margin + 1) + between(*below, width, room), "dim"))
    return lines


def between(left: str, right: str, width: int, most: int) -> str:
    """Words at both ends of a width; one after the other where that is too narrow for both."""
    gap = width - cell_len(left) - cell_len(right)
    return fit(left + " " * max(gap, 1 if right else 0) + right, max(width, most))


def _labels(scale: Scale, rows: int) -> list[str]:
    """The highest value at the top line, the lowest at the last one, the middle between where there is room."""
    labels = [""] * rows
    middle = (scale.low + scale.high) / 2
    if rows >= 5 and round(middle, scale.digits) == middle:
        labels[rows // 2] = scale.words(middle)
    labels[-1] = scale.words(scale.low)
    labels[0] = scale.words(scale.high)
    return labels
