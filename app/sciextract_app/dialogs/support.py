"""Sentences that support edges, the mentions of both ends marked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from rich.text import Text
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.widget import Widget
from textual.widgets import Static

from sciextract.text.visible import visible
from sciextract_app.dialogs.base import Dialog
from sciextract_app.presenter.graph.shown import Role, Support

_STYLES = {
    Role.PLAIN: "", Role.HEAD: "bold underline", Role.TAIL: "bold reverse",
    Role.BOTH: "bold underline reverse",
}  # fmt: skip


class SupportDialog(Dialog[None]):
    """Shows edges in words, each with its sentences.

    Args:
        title: What they support.
        parts: Each edge with its sentences.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("s,q,enter", "leave", "back", id="support.leave"),
        Binding("down,j", "move(1)", "down", id="support.down"),
        Binding("up,k", "move(-1)", "up", id="support.up"),
        Binding("pagedown,space", "move(10)", "page down", id="support.page-down"),
        Binding("pageup", "move(-10)", "page up", id="support.page-up"),
    ]

    def __init__(self, title: str, parts: Sequence[tuple[str, Sequence[Support]]]) -> None:
        super().__init__(visible(title).replace("[", r"\["), "↑ ↓ scroll, Esc back")
        self._parts = parts

    def content(self) -> list[Widget]:
        """What the marks mean, and the sentences."""
        return [Static(support_text(self._parts))]

    def action_move(self, lines: int) -> None:
        """Scroll."""
        self.query_one(VerticalScroll).scroll_relative(y=lines, animate=False)


def support_text(parts: Sequence[tuple[str, Sequence[Support]]]) -> Text:
    """All edges with their sentences; the marks are explained in the first line."""
    if not parts:
        return Text("Nothing in the graph leads there.")
    found = (
        Text().append("head", _STYLES[Role.HEAD]).append("  ").append("tail", _STYLES[Role.TAIL])
    )
    for words, supports in parts:
        found.append("\n\n").append(visible(words), "bold")
        for each in supports:
            found.append("\n\n").append(visible(each.place), "dim").append("\n")
            for piece, role in each.pieces:
                found.append(visible(piece), _STYLES[role])
    return found
