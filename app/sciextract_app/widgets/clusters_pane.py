"""Coreference clusters of the abstract, one a line."""

from __future__ import annotations

from dataclasses import dataclass

from rich.cells import cell_len
from rich.text import Text
from textual import events
from textual.message import Message

from sciextract.documents.annotations import State
from sciextract_app.presenter.shown import ClusterLine
from sciextract_app.widgets.glyphs import ELLIPSIS, fit
from sciextract_app.widgets.lines import FOCUS, SIGNS, LinesPane

_INDENT = 5
_LONGEST = 28
_AROUND = f"{ELLIPSIS} , {ELLIPSIS}"


class ClustersPane(LinesPane):
    """Draws the letter of each cluster, its mentions in text order, and what has been decided."""

    BORDER_TITLE = "Clusters"

    @dataclass
    class LinkClicked(Message):
        """A mention in a cluster was clicked.

        Attributes:
            cluster_id: The cluster.
            index: The mention's place among its mentions.
        """

        cluster_id: str
        index: int

    def __init__(
        self, *, name: str | None = None, id: str | None = None, classes: str | None = None
    ) -> None:
        super().__init__(name=name, id=id, classes=classes)
        self._rows: tuple[ClusterLine, ...] = ()

    def show(self, clusters: tuple[ClusterLine, ...]) -> None:
        """Draw these clusters; the focused one is scrolled into sight."""
        if clusters != self._rows:
            self._rows = clusters
            self.redraw(
                next((y for y, row in enumerate(clusters) if row.focused is not None), None)
            )

    def count(self, width: int) -> int:
        """One line a cluster; one that says so where there are none."""
        return len(self._rows) or 1

    def line(self, y: int, width: int) -> Text:
        """A cluster."""
        return cluster_text(self._rows[y], width)[0] if self._rows else Text("  none", "dim")

    def on_click(self, event: events.Click) -> None:
        """Tell which mention was clicked; beside all of them the first one."""
        where = event.get_content_offset(self)
        y = -1 if where is None else where.y + self.scroll_offset.y
        if where is None or event.button != 1 or not 0 <= y < len(self._rows):
            return
        row = self._rows[y]
        columns = cluster_text(row, self.scrollable_content_region.width)[1]
        index = next((each for each, span in columns.items() if where.x in span), 0)
        self.post_message(self.LinkClicked(row.cluster_id, index))


def cluster_text(row: ClusterLine, width: int) -> tuple[Text, dict[int, range]]:
    """A cluster in so many cells, and the columns of each mention that finds room.

    Mentions far before the focused one are left out, so that it is always seen.
    """
    focused = row.focused is not None
    line = Text(f"{FOCUS if focused else ' '} ", "bold" if focused else "")
    line.append(fit(row.letter, 2).ljust(_INDENT - 2), "bold")
    first = _first(row, width - _INDENT)
    if first:
        line.append(f"{ELLIPSIS} ")
    columns: dict[int, range] = {}
    for index in range(first, len(row.mentions)):
        if line.cell_len >= width - 1:
            break
        start = line.cell_len
        line.append(*_mention(row, index))
        columns[index] = range(start, line.cell_len)
        line.append(", " if index + 1 < len(row.mentions) else "")
    line.truncate(width, overflow="ellipsis")
    return line, columns


def _mention(row: ClusterLine, index: int) -> tuple[str, str]:
    """A mention with its sign, and its style."""
    state = row.states[index]
    style = "italic" if state is State.UNDECIDED else ""
    words = f"{fit(row.mentions[index], _LONGEST)} {SIGNS[state]}"
    return words, "reverse bold" if index == row.focused else style


def _first(row: ClusterLine, room: int) -> int:
    """The first mention that is shown, so that the focused one finds room."""
    if row.focused is None:
        return 0
    first = row.focused
    used = cell_len(_mention(row, first)[0]) + len(_AROUND)
    while first and used + cell_len(_mention(row, first - 1)[0]) + 2 <= room:
        first -= 1
        used += cell_len(_mention(row, first)[0]) + 2
    return first
