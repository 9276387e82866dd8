"""Sentences above and below a drawing."""

from __future__ import annotations

from collections.abc import Iterable

from rich.console import Console
from rich.text import Text

from sciextract.text.visible import visible

_CONSOLE = Console()  # only measures


def word_lines(sentences: Iterable[str], width: int, style: str = "") -> list[Text]:
    """Sentences in lines of so many cells; what a terminal would obey is shown as signs."""
    lines = []
    for sentence in sentences:
        for line in Text(visible(sentence), style).wrap(_CONSOLE, max(2, width)):
            line.rstrip()
            lines.append(line)
    return lines
