"""One of two sides: who says so, the text with what they have, and what they say about the difference."""

from __future__ import annotations

from rich.text import Text
from textual.app import ComposeResult
from textual.containers import Vertical

from sciextract_app.presenter.two_sides.shown import SideView
from sciextract_app.widgets.glyphs import fit
from sciextract_app.widgets.lines import FOCUS, LineBar, LinesPane
from sciextract_app.widgets.passage_drawing import DrawnPassage


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
        self.query_one(SaidPane).show(side.said)
