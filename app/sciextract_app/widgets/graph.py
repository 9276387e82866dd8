"""What is known about a node, a fact a line, and its years as columns."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from sciextract.text.characters import visible
from sciextract_app.presenters.graph import GraphRow, NodePage
from sciextract_app.widgets.lines import LinesPane, fit
from sciextract_app.widgets.plots import column_rows, spread

_WORD_CELLS = 10
_YEARS = "years"


class NodeFacts(LinesPane):
    """Draws types, years and ways of writing."""

    DEFAULT_CSS = """
    NodeFacts { height: 11; max-height: 45%; }
    """

    _page: NodePage | None = None

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
        name, value = self._lines(width)[y]
        return (
            Text()
            .append(name.rjust(_WORD_CELLS), "dim")
            .append(f"  {fit(value, width - _WORD_CELLS - 2)}")
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
    start, end, most_text = f"{years[0][0]} ", f" {years[-1][0]}", f", at most {most:,}"
    room = width - len(start) - len(end)
    cells = min(len(years), max(1, room))
    (columns,) = column_rows(spread([count / most for _, count in years], cells), 1)
    return f"{start}{columns}{end}" + (most_text if room - cells >= len(most_text) else "")


_COUNT_CELLS = 6


class RowList(OptionList):
    """Draws rows, headings between them; Enter or a click chooses one."""

    DEFAULT_CSS = """
    RowList { height: 1fr; border: none; border-top: solid $panel; border-title-color: $text-muted;
              background: $background; padding: 0 1; scrollbar-size-vertical: 1; overflow-x: hidden;
              text-wrap: nowrap; text-overflow: ellipsis; }
    RowList > .option-list--option-highlighted { text-style: bold; }
    RowList:focus > .option-list--option-highlighted { text-style: bold reverse; }
    RowList:focus { border: none; border-top: solid $primary; border-title-style: bold; }
    """

    def __init__(self, title: str, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.border_title = title
        self._rows: tuple[GraphRow, ...] = ()

    @property
    def chosen(self) -> GraphRow | None:
        """The row that is marked."""
        return None if self.highlighted is None else self._rows[self.highlighted]

    def row(self, place: int) -> GraphRow:
        """The row at a place."""
        return self._rows[place]

    def show(self, rows: Sequence[GraphRow]) -> None:
        """Draw these rows, and mark the first that can be chosen."""
        self._rows = tuple(rows)
        self.clear_options()
        self.add_options([Option(row_text(each), disabled=each.node is None) for each in rows])
        if any(each.node is not None for each in rows):
            self.action_first()


def row_text(row: GraphRow) -> Text:
    """A row as it is drawn: headings and what cannot be chosen stand out without colours."""
    style = "" if row.node is not None else "bold" if row.count else "dim"
    line = Text(style=style)
    line.append(row.count.rjust(_COUNT_CELLS)).append("  ").append(visible(row.name))
    return line.append(f"  {visible(row.kind)}", "dim") if row.kind else line
