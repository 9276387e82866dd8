"""A list of rows to choose from."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from sciextract.text.visible import visible
from sciextract_app.presenter.graph.shown import Row

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
        self._rows: tuple[Row, ...] = ()

    @property
    def chosen(self) -> Row | None:
        """The row that is marked."""
        return None if self.highlighted is None else self._rows[self.highlighted]

    def row(self, place: int) -> Row:
        """The row at a place."""
        return self._rows[place]

    def show(self, rows: Sequence[Row]) -> None:
        """Draw these rows, and mark the first that can be chosen."""
        self._rows = tuple(rows)
        self.clear_options()
        self.add_options([Option(row_text(each), disabled=each.node is None) for each in rows])
        if any(each.node is not None for each in rows):
            self.action_first()


def row_text(row: Row) -> Text:
    """A row as it is drawn: headings and what cannot be chosen stand out without colours."""
    style = "" if row.node is not None else "bold" if row.count else "dim"
    line = Text(style=style)
    line.append(row.count.rjust(_COUNT_CELLS)).append("  ").append(visible(row.name))
    return line.append(f"  {visible(row.kind)}", "dim") if row.kind else line
