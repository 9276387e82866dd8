"""One of two sides with its passage, and the list of differences."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from rich.cells import cell_len
from rich.text import Text
from textual import events
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.message import Message

from sciextract_app.presenters.two_sides import DifferenceLine, SideView
from sciextract_app.widgets.lines import FOCUS, LineBar, LinesPane, fit, padded
from sciextract_app.widgets.passage_view import DrawnPassage


class SideTitle(LineBar):
    """Draws the name of a side; the one in focus is marked and reversed."""

    DEFAULT_CSS = """
    SideTitle { background: $panel; color: $foreground; }
    """

    def __init__(self) -> None:
        super().__init__()
        self._shown = ("", False)

    def show(self, name: str, focused: bool) -> None:
        """Draw this name."""
        if (name, focused) != self._shown:
            self._shown = name, focused
            self.refresh()

    def line(self, width: int) -> Text:
        """The line."""
        name, focused = self._shown
        sign = FOCUS if focused else " "
        return Text(f"{sign} {fit(name, width - 3)} ", "bold reverse" if focused else "bold")


class SaidPane(LinesPane):
    """Draws what a side says, a line each."""

    DEFAULT_CSS = """
    SaidPane { height: 2; border-top: none; scrollbar-size-vertical: 0; }
    """

    def __init__(self) -> None:
        super().__init__()
        self._said: tuple[str, ...] = ()

    def show(self, said: tuple[str, ...]) -> None:
        """Draw these lines."""
        if said != self._said:
            self._said = said
            self.redraw()

    def count(self, width: int) -> int:
        """As many as there are."""
        return len(self._said)

    def line(self, y: int, width: int) -> Text:
        """One of them; the first is the most important."""
        return Text(fit(self._said[y], width), "" if y else "bold")


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


class DifferencesPane(LinesPane):
    """Draws how the two sides differ, what holds here, and what the other side says."""

    BORDER_TITLE = "Differences: here │ there"

    @dataclass
    class RowClicked(Message):
        """A difference was clicked.

        Attributes:
            index: Its place among all.
        """

        index: int

    _rows: tuple[DifferenceLine, ...] = ()
    _widest = 0

    def show(self, lines: tuple[DifferenceLine, ...]) -> None:
        """Draw these; the present one is scrolled into sight."""
        self._rows = lines
        self._widest = max((cell_len(fit(row.kind, _MOST_KIND)) for row in lines), default=0)
        self.redraw(next((y for y, row in enumerate(lines) if row.focused), None))

    def count(self, width: int) -> int:
        """One line a difference; one that says so where there are none."""
        return len(self._rows) or 1

    def line(self, y: int, width: int) -> Text:
        """A difference."""
        if not self._rows:
            return Text("  none", "dim")
        return difference_text(self._rows[y], self._kinds(width), width).copy()

    def on_click(self, event: events.Click) -> None:
        """Tell which one was clicked."""
        where = event.get_content_offset(self)
        y = -1 if where is None else where.y + self.scroll_offset.y
        if event.button == 1 and 0 <= y < len(self._rows):
            self.post_message(self.RowClicked(y))

    def _kinds(self, width: int) -> int:
        """Cells for how they differ, no more than a third."""
        return min(self._widest, width // 3)


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
