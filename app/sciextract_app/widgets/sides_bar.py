"""The line above two sides: what is held against what, and how much is left."""

from __future__ import annotations

from rich.cells import cell_len
from rich.text import Text

from sciextract_app.widgets.glyphs import fit
from sciextract_app.widgets.lines import LineBar

_GAP = "   "
_LEAST_TITLE = 20


class SidesBar(LineBar):
    """Draws a title and counts, as far as there is room."""

    DEFAULT_CSS = """
    SidesBar { background: $panel; color: $foreground; }
    """

    def __init__(
        self, *, name: str | None = None, id: str | None = None, classes: str | None = None
    ) -> None:
        super().__init__(name=name, id=id, classes=classes)
        self._shown: tuple[str, tuple[str, ...]] = ("", ())

    def show(self, title: str, counts: tuple[str, ...]) -> None:
        """Draw this state."""
        if (title, counts) != self._shown:
            self._shown = title, counts
            self.refresh()

    def line(self, width: int) -> Text:
        """The line."""
        return sides_text(*self._shown, width)


def sides_text(title: str, counts: tuple[str, ...], width: int) -> Text:
    """Title and counts in so many cells: the title is cut first, then the last counts go."""
    shown = list(counts)
    while shown and _cells(shown) + _LEAST_TITLE > width:
        shown.pop()
    line = Text(" ").append(fit(title, max(0, width - _cells(shown) - 1)), "bold")
    for each in shown:
        line.append(_GAP).append(fit(each, width))
    return line


def _cells(counts: list[str]) -> int:
    return sum(len(_GAP) + cell_len(each) for each in counts)
