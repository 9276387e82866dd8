"""Everything about the focused item, in wrapped lines."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from sciextract.text.visible import visible
from sciextract_app.presenter.shown import Inspector
from sciextract_app.widgets.glyphs import padded
from sciextract_app.widgets.lines import LinesPane

NAMES = 9
"""Columns for the names of values."""
_CONSOLE = Console()  # only measures


class InspectorPane(LinesPane):
    """Draws the title of an item, then names and values."""

    BORDER_TITLE = "Focus"

    def __init__(
        self, *, name: str | None = None, id: str | None = None, classes: str | None = None
    ) -> None:
        super().__init__(name=name, id=id, classes=classes)
        self._item = Inspector("", ())
        self._lines: list[Text] = []

    def show(self, inspector: Inspector) -> None:
        """Draw an item from its beginning."""
        self._item = inspector
        self.redraw(0)

    def count(self, width: int) -> int:
        """As many lines as its values need."""
        self._lines = inspector_lines(self._item, width)
        return len(self._lines)

    def line(self, y: int, width: int) -> Text:
        """One of them."""
        return self._lines[y].copy()


def inspector_lines(item: Inspector, width: int) -> list[Text]:
    """An item in lines of so many cells: values stand beside their names and wrap below themselves."""
    lines = _wrapped(Text(visible(item.title), "bold"), width) if item.title else []
    for name, value in item.lines:
        column = NAMES if name else 0
        for place, part in enumerate(_wrapped(Text(visible(value)), width - column)):
            first = padded(name, column - 1) + " " if place == 0 and column else " " * column
            lines.append(Text().append(first, "dim").append_text(part))
    return lines


def _wrapped(text: Text, width: int) -> list[Text]:
    lines = text.wrap(_CONSOLE, max(2, width))
    for line in lines:
        line.rstrip()
    return list(lines)
