"""Bars and columns of block characters, in eighths of a cell."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, pairwise
from statistics import fmean

_LYING = " ▏▎▍▌▋▊▉█"
_STANDING = " ▁▂▃▄▅▆▇█"
_WIDEST = 9
"""Cells of one column, its gap included."""
_GAP_FROM = 3


def bar(share: float, cells: int) -> str:
    """A lying bar, filled up with blanks to so many cells.

    >>> bar(0.5, 5)
    '██▌  '
    """
    eighths = round(_bounded(share) * cells * 8)
    if share > 0 and not eighths:
        eighths = 1  # what is there is seen
    whole, rest = divmod(eighths, 8)
    return (_LYING[8] * whole + _LYING[rest].strip()).ljust(cells)


def stacked(shares: Sequence[float], cells: int) -> list[int]:
    """How many cells each part of a stacked bar takes; together never more than all of them.

    >>> stacked([0.5, 0.25, 0.25], 8)
    [4, 2, 2]
    """
    edges = [round(_bounded(each) * cells) for each in accumulate(shares)]
    return [end - start for start, end in zip([0, *edges], edges, strict=False)]


def column_rows(shares: Sequence[float | None], rows: int) -> list[str]:
    """Standing columns side by side, one cell wide, as lines from top to bottom; ``None`` leaves a gap.

    >>> column_rows([0, 0.25, 1], 2)
    ['  █', ' ▄█']
    """
    heights = [_eighths(share, rows) for share in shares]
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
        each = min(_WIDEST, cells // len(values))
        gap = [None] if each >= _GAP_FROM else []
        return [cell for value in values for cell in [*[value] * (each - len(gap)), *gap]]
    edges = [place * len(values) // cells for place in range(cells + 1)]
    return [_mean(values[start:end]) for start, end in pairwise(edges)]


def _eighths(share: float | None, rows: int) -> int:
    if share is None:
        return 0
    found = round(_bounded(share) * rows * 8)
    return max(found, 1) if share > 0 else found


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return fmean(known) if known else None


def _bounded(share: float) -> float:
    return min(1.0, max(0.0, share))
