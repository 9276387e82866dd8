"""A pane of drawn lines that scrolls."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from rich.style import Style
from rich.text import Span, Text

from sciextract_app.widgets.lines import LinesPane

Drawing = Callable[[int, int], list[Text]]
"""Writes lines for a width and a height."""
_NAMES = ("bar", "mark", "good", "middle", "bad", "quiet")


class PlotPane(LinesPane):
    """Draws what a function writes for its size; the names of colours are its own."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {f"plot--{name}" for name in _NAMES}
    DEFAULT_CSS = """
    PlotPane { border-top: none; padding: 0 1; }
    PlotPane > .plot--bar { color: $primary; }
    PlotPane > .plot--mark { color: $accent; text-style: bold; }
    PlotPane > .plot--good { color: $success; }
    PlotPane > .plot--middle { color: $warning; }
    PlotPane > .plot--bad { color: $error; }
    PlotPane > .plot--quiet { color: $text-muted; }
    """

    def __init__(
        self, *, name: str | None = None, id: str | None = None, classes: str | None = None
    ) -> None:
        super().__init__(name=name, id=id, classes=classes)
        self._draw: Drawing = _nothing
        self._lines: list[Text] = []

    def show(self, draw: Drawing, top: bool = True) -> None:
        """Draw something else, from its beginning or where the pane is scrolled to."""
        self._draw = draw
        self.redraw(0 if top else None)

    def count(self, width: int) -> int:
        """As many lines as the drawing needs."""
        self._lines = self._draw(width, self.scrollable_content_region.height)
        return len(self._lines)

    def line(self, y: int, width: int) -> Text:
        """One of them, in colours."""
        text = self._lines[y].copy()
        text.style = self._coloured(str(text.style))
        text.spans = [Span(s.start, s.end, self._coloured(str(s.style))) for s in text.spans]
        return text

    def _coloured(self, name: str) -> str | Style:
        if name not in _NAMES:
            return name
        return self.get_component_rich_style(f"plot--{name}", partial=True)


def _nothing(width: int, height: int) -> list[Text]:
    return []
