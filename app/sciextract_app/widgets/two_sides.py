"""One of two sides with its passage, and the list of differences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from rich.cells import cell_len
from rich.text import Text
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.message import Message

from sciextract_app.presenters.two_sides import DifferenceLine, SideView
from sciextract_app.widgets.lines import FOCUS, LineBar, RowsPane, fit, padded
from sciextract_app.widgets.passage_view import DrawnPassage


class SideTitle(LineBar):
    """Draws the name of a side; the one in focus is marked and reversed."""

    DEFAULT_CSS = """
    SideTitle { background: $panel; color: $foreground; }
    """

    _shown = ("", False)

    def show(self, name: str, focused: bool) -> None:
        """Draw this name."""
        self.keep((name, focused))

    def line(self, width: int) -> Text:
        """The line."""
        name, focused = self._shown
        sign = FOCUS if focused else " "
        return Text(f"{sign} {fit(name, width - 3)} ", "bold reverse" if focused else "bold")


class SaidPane(RowsPane[str]):
    """Draws what a side says, a line each; the first is the most important."""

    DEFAULT_CSS = """
    SaidPane { height: 2; border-top: none; scrollbar-size-vertical: 0; }
    """

    NOTHING = ""

    def line(self, y: int, width: int) -> Text:
        """One of them."""
        return Text(fit(self._rows[y], width), "" if y else "bold") if self._rows else Text()


class SidePane(Vertical):
    """A side: title, text, and what it says."""

    DEFAULT_CSS = """
    SidePane { height: 1fr; width: 1fr; }
    SidePane DrawnPassage { height: 1fr; }
    """

    def compose(self) -> ComposeResult:
        """The parts, one below the other."""
        yield SideTitle()
        yield DrawnPassage()
        yield SaidPane()

    def show(self, side: SideView) -> None:
        """Draw a side; its part of the difference is scrolled into sight."""
        self.query_one(SideTitle).show(side.name, side.focused)
        self.query_one(DrawnPassage).show(side.passage)
        self.query_one(SaidPane).show(side.summary)


_MOST_KIND = 34
_BETWEEN = " │ "


class DifferencesPane(RowsPane[DifferenceLine]):
    """Draws how the two sides differ, what holds here, and what the other side says."""

    BORDER_TITLE = "Differences: here │ there"

    @dataclass
    class RowClicked(Message):
        """A difference was clicked.

        Attributes:
            index: Its place among all.
        """

        index: int

    _widest = 0

    @property
    def focused_line(self) -> int | None:
        """The present difference."""
        return next((y for y, row in enumerate(self._rows) if row.focused), None)

    def show(self, rows: Sequence[DifferenceLine]) -> None:
        """Draw these; the present one is scrolled into sight."""
        self._widest = max((cell_len(fit(row.kind, _MOST_KIND)) for row in rows), default=0)
        self._rows = rows
        self.redraw(
            self.focused_line
        )  # also after a key that changes nothing: back to the difference

    def row_text(self, row: DifferenceLine, width: int) -> Text:
        """A difference."""
        # A copy: the text is kept for the next time, and whoever draws it may change it.
        return difference_text(row, min(self._widest, width // 3), width).copy()

    def click(self, y: int, x: int, width: int) -> None:
        """Tell which one was clicked."""
        if 0 <= y < len(self._rows):
            self.post_message(self.RowClicked(y))


@lru_cache(maxsize=512)
def difference_text(row: DifferenceLine, kinds: int, width: int) -> Text:
    """A difference in so many cells; kept, since most lines stay as they are.

    Args:
        row: The difference.
        kinds: Cells for how they differ.
        width: All cells.
    """
    room = max(2, width - len("▸ ") - kinds - 2 - len(_BETWEEN))
    here = room // 2
    line = Text(f"{FOCUS} " if row.focused else "  ")
    line.append(padded(row.kind, kinds), "bold").append("  ")
    line.append(padded(row.here, here)).append(_BETWEEN, "dim")
    line.append(padded(row.there, room - here))
    if row.focused:
        line.stylize("reverse")
    return line
