"""The reliability diagram (Guo et al. 2017, figure 1): what the model claims against what was right."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich.text import Text

from sciextract_app.widgets.plots.axes import BAR
from sciextract_app.widgets.plots.blocks import column_rows

MARK = "mark"
CLAIM = "━"
"""Where a column would end if the model's scores were right."""
_MARGIN = 5


@dataclass(frozen=True, slots=True)
class Column:
    """Decided items with scores in one range.

    Attributes:
        low: Least score.
        high: Highest score.
        count: How many.
        claimed: Mean score, ``None`` without items.
        accepted: Share accepted as it stood, ``None`` without items.
    """

    low: float
    high: float
    count: int
    claimed: float | None
    accepted: float | None


def reliability_lines(columns: Sequence[Column], width: int, rows: int) -> list[Text]:
    """The diagram in so many cells; ``rows`` is the height of the columns."""
    each = max(4, min(9, (width - _MARGIN - 1) // max(1, len(columns))))
    heights = column_rows([column.accepted for column in columns], rows)
    lines = [_row(columns, heights, place, rows, each) for place in range(rows)]
    lines.append(Text(" " * _MARGIN + "└" + "─" * (each * len(columns)), "dim"))
    lines.append(_below("score", [f"{column.low:.1f}" for column in columns], each))
    lines.append(_below("items", [_short(column.count) for column in columns], each))
    return lines


def _row(columns: Sequence[Column], heights: list[str], place: int, rows: int, each: int) -> Text:
    label = {0: "100 %", rows // 2: "50 %", rows - 1: "0 %"}.get(place, "")
    line = Text(label.rjust(_MARGIN) + ("┤" if label else "│"), "dim")
    for column, block in zip(columns, heights[place], strict=True):
        claimed = column.claimed
        if claimed is not None and rows - 1 - min(rows - 1, int(claimed * rows)) == place:
            line.append(CLAIM * (each - 1), MARK).append(" ")
        else:
            line.append(block * (each - 1), BAR).append(" ")
    return line


def _below(name: str, words: Sequence[str], each: int) -> Text:
    cells = "".join(word[: each - 1].center(each - 1) + " " for word in words)
    return Text(name.rjust(_MARGIN) + " " + cells, "dim")


def _short(count: int) -> str:
    """A count in few cells.

    >>> _short(950), _short(12_300), _short(2_000_000)
    ('950', '12k', '2M')
    """
    if not count:
        return ""
    if count < 1_000:
        return str(count)
    return f"{count // 1_000}k" if count < 1_000_000 else f"{count // 1_000_000}M"
