"""A row of the list of abstracts."""

from __future__ import annotations

from sciextract_app.presenter.shown import ListRow
from sciextract_app.widgets.glyphs import padded
from sciextract_app.widgets.lines import FOCUS

DONE, BEGUN, UNTOUCHED, FLAGGED = "●", "◐", "○", "⚑"
_SIGNS = {"done": DONE, "untouched": UNTOUCHED}
_LAYERS_FROM, _YEAR_FROM, _UNCERTAINTY_FROM = 44, 52, 64


def row_words(row: ListRow, width: int, current: bool) -> str:
    """An abstract in so many cells: signs, title, undecided items; year, layers, uncertainty where there is room.

    Args:
        row: The abstract.
        width: Cells.
        current: Whether it is open.
    """
    before = f"{FOCUS if current else ' '}{FLAGGED if row.flagged else ' '}{_signs(row, width)} "
    behind = _behind(row, width)
    title = padded(row.title or "(no title)", max(0, width - len(before) - len(behind)))
    return before + title + behind


def _signs(row: ListRow, width: int) -> str:
    """One sign for each layer where there is room, else one for all."""
    if width >= _LAYERS_FROM:
        return "".join(_SIGNS.get(layer, BEGUN) for layer in row.layers)
    kinds = set(row.layers)
    return _SIGNS.get(row.layers[0], BEGUN) if len(kinds) == 1 else BEGUN


def _behind(row: ListRow, width: int) -> str:
    year = f" {row.year or '':>4}" if width >= _YEAR_FROM else ""
    sure = f" {row.uncertainty:.2f}" if width >= _UNCERTAINTY_FROM and row.undecided else ""
    sure = sure or (" " * 5 if width >= _UNCERTAINTY_FROM else "")
    return f"{year}{sure} {row.undecided or '':>4}"
