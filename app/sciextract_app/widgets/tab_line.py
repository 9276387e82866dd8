"""A line of page names, with the digit that leads to each."""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len
from rich.text import Text

from sciextract_app.widgets.glyphs import fit
from sciextract_app.widgets.lines import LineBar

_LEAST_TITLE = 10


class TabLine(LineBar):
    """Draws a title and the names of pages; the one that is shown stands in brackets.

    Args:
        title: What the pages are about.
        names: Of the pages.
    """

    DEFAULT_CSS = """
    TabLine { background: $panel; color: $foreground; }
    """

    def __init__(self, title: str, names: Sequence[str], *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._title = title
        self._names = tuple(names)
        self._shown = 0

    def show(self, place: int) -> None:
        """Draw which page is shown."""
        if place != self._shown:
            self._shown = place
            self.refresh()

    def line(self, width: int) -> Text:
        """The line."""
        return tab_text(self._title, self._names, self._shown, width)


def tab_text(title: str, names: Sequence[str], shown: int, width: int) -> Text:
    """Pages in so many cells; the title is cut first, and left out where it would be too short."""
    tabs = Text()
    for place, name in enumerate(names):
        if place == shown:
            tabs.append(f"[{place + 1} {name}]", "bold reverse")
        else:
            tabs.append(f" {place + 1} {name} ")
    room = width - cell_len(tabs.plain) - 3
    line = Text(" ")
    if room >= _LEAST_TITLE:
        line.append(fit(title, room), "bold").append("  ")
    return line.append_text(tabs)
