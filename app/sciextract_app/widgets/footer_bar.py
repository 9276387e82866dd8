"""The line below everything: the keys that mean something now."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text

from sciextract.text.visible import visible
from sciextract_app.presenter.shown import Hint, Mode
from sciextract_app.widgets.glyphs import ELLIPSIS
from sciextract_app.widgets.lines import LineBar

_GAP = "  "


class FooterBar(LineBar):
    """Draws keys and what they do; those that would be refused are dim."""

    DEFAULT_CSS = """
    FooterBar { background: $panel; color: $foreground; }
    """

    def __init__(
        self, *, name: str | None = None, id: str | None = None, classes: str | None = None
    ) -> None:
        super().__init__(name=name, id=id, classes=classes)
        self._shown: tuple[tuple[Hint, ...], Mode] = ((), Mode.REVIEW)

    def show(self, hints: tuple[Hint, ...], mode: Mode) -> None:
        """Draw these keys, in this mode."""
        if (hints, mode) != self._shown:
            self._shown = hints, mode
            self.refresh()

    def line(self, width: int) -> Text:
        """The line."""
        return footer_text(*self._shown, width)


def footer_text(hints: Sequence[Hint], mode: Mode, width: int) -> Text:
    """The keys in so many cells: the last ones that find no room become an ellipsis.

    The last key of all, which leads to the others or out of a mode, is kept where anything is.
    """
    line = Text(" ")
    if mode is not Mode.REVIEW:
        line.append(f" {str(mode).upper()} ", "reverse bold").append(" ")
    parts = [_part(hint) for hint in hints]
    room = width - line.cell_len
    if _needed(parts) <= room:
        return line.append_text(Text(_GAP).join(parts))
    *first, last = parts
    while first and _needed([*first, Text(ELLIPSIS), last]) > room:
        first.pop()
    return line.append_text(Text(_GAP).join([*first, Text(ELLIPSIS), last]))


def _part(hint: Hint) -> Text:
    key, words = visible(hint.key), visible(hint.words)
    if not hint.live:
        return Text(f"{key} {words}", "dim")
    return Text().append(key, "bold").append(f" {words}")


def _needed(parts: Sequence[Text]) -> int:
    return sum(part.cell_len for part in parts) + len(_GAP) * (len(parts) - 1)
