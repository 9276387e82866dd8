"""What is known about a node, a fact a line, and its years as columns."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text

from sciextract_app.presenter.graph.shown import NodePage
from sciextract_app.widgets.glyphs import fit
from sciextract_app.widgets.lines import LinesPane
from sciextract_app.widgets.plots.blocks import column_rows, spread

_WORD_CELLS = 10
_YEARS = "years"


class NodeFacts(LinesPane):
    """Draws types, years and ways of writing."""

    DEFAULT_CSS = """
    NodeFacts { height: 11; max-height: 45%; }
    """

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._page: NodePage | None = None

    def show(self, page: NodePage) -> None:
        """Draw a node from its first line on."""
        self._page = page
        self.border_title = Text(fit(page.name, max(8, self.size.width - 6)))
        self.scroll_to(y=0, animate=False, force=True)
        self.redraw()

    def count(self, width: int) -> int:
        """A line for each fact, and one for the years."""
        return len(self._lines(width))

    def line(self, y: int, width: int) -> Text:
        """One of them."""
        word, told = self._lines(width)[y]
        return (
            Text()
            .append(word.rjust(_WORD_CELLS), "dim")
            .append(f"  {fit(told, width - _WORD_CELLS - 2)}")
        )

    def _lines(self, width: int) -> list[tuple[str, str]]:
        if self._page is None:
            return []
        first, second, *rest = self._page.facts
        years = [(_YEARS, years_line(self._page.years, width - _WORD_CELLS - 2))]
        return [first, second, *(years if self._page.years else []), *rest]


def years_line(years: Sequence[tuple[int, int]], width: int) -> str:
    """First year, a column for each, last year, and the largest count where it finds room.

    >>> years_line([(2001, 1), (2002, 0), (2003, 4)], 30)
    '2001 ▂ █ 2003, at most 4'
    """
    if not years:
        return ""
    most = max(count for _, count in years)
    start, end, told = f"{years[0][0]} ", f" {years[-1][0]}", f", at most {most:,}"
    room = width - len(start) - len(end)
    cells = min(len(years), max(1, room))
    (columns,) = column_rows(spread([count / most for _, count in years], cells), 1)
    return f"{start}{columns}{end}" + (told if room - cells >= len(told) else "")
