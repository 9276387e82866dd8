"""The panes below the passage: relations, clusters, the inspector."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from rich.cells import cell_len
from rich.style import Style
from rich.text import Text
from textual import events
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.message import Message
from textual.reactive import reactive

from sciextract.documents.annotations import State
from sciextract_app.shared.view_models import ILLEGAL, SIGNS, ClusterLine, Inspector, RelationLine
from sciextract_app.widgets.cells import fit, named_lines, padded, score, word_lines
from sciextract_app.widgets.lines import FOCUS, LineBar, LinesPane, RowsPane

ARROW, BOTH_WAYS = " ─▶ ", " ── "
_BEHIND = len("  .91 ?")
_MOST_LABEL = 24


class RelationsPane(RowsPane[RelationLine]):
    """Draws head, label, tail, score and state of relations in columns."""

    BORDER_TITLE = "Relations"

    @dataclass
    class RowClicked(Message):
        """A relation was clicked.

        Attributes:
            item_id: The relation.
        """

        item_id: str

    @property
    def focused_line(self) -> int | None:
        """The focused relation."""
        return next((y for y, row in enumerate(self._rows) if row.focused), None)

    def row_text(self, row: RelationLine, width: int) -> Text:
        """A relation."""
        style = Style(color=self.label_look(row.label).color, bold=True)
        return relation_text(row, relation_columns(self._rows, width), width, style)

    def click(self, y: int, x: int, width: int) -> None:
        """Tell which relation was clicked."""
        if 0 <= y < len(self._rows):
            self.post_message(self.RowClicked(self._rows[y].item_id))


def relation_columns(rows: Sequence[RelationLine], width: int) -> tuple[int, int]:
    """Cells for heads, half of what labels leave and what tails do not need, and for labels."""
    heads, tails = (
        max(cell_len(fit(end, width)) for end in ends)
        for ends in zip(*((row.head, row.tail) for row in rows), strict=True)
    )
    labels = max(cell_len(fit(row.label, _MOST_LABEL)) for row in rows)
    room = width - len("▸ ") - labels - len(ARROW) - _BEHIND - 1
    return max(4, min(heads, max(room // 2, room - tails))), labels


def relation_text(row: RelationLine, columns: tuple[int, int], width: int, style: Style) -> Text:
    """A relation in so many cells.

    Args:
        row: The relation.
        columns: Cells for heads and for labels.
        width: All cells.
        style: The look of its label.
    """
    heads, labels = columns
    label = f" {padded(row.label, labels)}{BOTH_WAYS if row.symmetric else ARROW}"
    room = width - len("▸ ") - heads - cell_len(label) - _BEHIND
    line = Text(f"{FOCUS} " if row.focused else "  ", "bold" if row.focused else "")
    line.append(padded(row.head, heads))
    line.append(label, style)
    line.append(padded(row.tail, max(1, room)))
    line.append(ILLEGAL if row.illegal else " ", "bold")
    known = score(row.score)
    line.append(f"«{known.strip()[:3]}»" if row.sure else f"{known} ").append(SIGNS[row.state])
    if row.focused:
        line.stylize("reverse")
    elif row.state is State.UNDECIDED:
        line.stylize("bold")
    return line


_INDENT = 5
_LONGEST = 28
_ClusterRow = tuple[ClusterLine, Text, dict[int, range]]
"""A cluster, one of its lines, and the columns of the mentions on it."""


class ClustersPane(RowsPane[ClusterLine]):
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

    _kept: tuple[Sequence[ClusterLine], int, list[_ClusterRow]] = ((), 0, [])

    @property
    def focused_line(self) -> int | None:
        """The line with the mention of the focused link."""
        lines = self._lines(self.scrollable_content_region.width)
        return next(
            (y for y, (row, _, columns) in enumerate(lines) if row.focused in columns), None
        )

    def count(self, width: int) -> int:
        """As many lines as their mentions need."""
        return len(self._lines(width)) or 1

    def line(self, y: int, width: int) -> Text:
        """One of them."""
        lines = self._lines(width)
        return lines[y][1].copy() if lines else Text(self.NOTHING, "dim")

    def click(self, y: int, x: int, width: int) -> None:
        """Tell which mention was clicked; next to all of them the first one of the line."""
        lines = self._lines(width)
        if 0 <= y < len(lines):
            row, _, columns = lines[y]
            index = next((mention for mention, span in columns.items() if x in span), min(columns))
            self.post_message(self.LinkClicked(row.cluster_id, index))

    def _lines(self, width: int) -> list[_ClusterRow]:
        if self._kept[:2] != (self._rows, width):
            lines = [(row, *line) for row in self._rows for line in cluster_lines(row, width)]
            self._kept = self._rows, width, lines
        return self._kept[2]


def cluster_lines(row: ClusterLine, width: int) -> list[tuple[Text, dict[int, range]]]:
    """A cluster in lines of so many cells, each with the columns of its mentions."""
    focused = row.focused is not None
    columns: dict[int, range] = {}
    line = Text(f"{FOCUS if focused else ' '} ", "bold" if focused else "")
    line.append(fit(row.letter, 2).ljust(_INDENT - 2), "bold")
    lines, room = [(line, columns)], max(1, min(_LONGEST, width - _INDENT - len(" ✓,")))
    for index, state in enumerate(row.states):
        words = f"{fit(row.mentions[index], room)} {SIGNS[state]}"
        if columns and line.cell_len + cell_len(words) + len(",") > width:
            line, columns = Text(" " * _INDENT), {}
            lines.append((line, columns))
        start, style = line.cell_len, "bold" if state is State.UNDECIDED else ""
        line.append(words, "reverse bold" if index == row.focused else style)
        columns[index] = range(start, line.cell_len)
        line.append(", " if index + 1 < len(row.mentions) else "")
    for line, _ in lines:
        line.rstrip()
        line.truncate(width, overflow="ellipsis")
    return lines


NAMES = 9
"""Columns for the names of values."""


class InspectorPane(LinesPane):
    """Draws the title of an item, then names and values."""

    BORDER_TITLE = "Focus"

    def __init__(self, id: str | None = None) -> None:
        super().__init__(id=id)
        self._item = Inspector("", ())

    def show(self, inspector: Inspector) -> None:
        """Draw an item from its beginning."""
        if inspector != self._item:
            self._item = inspector
            self.redraw(0)

    def count(self, width: int) -> int:
        """As many lines as its values need."""
        return len(inspector_lines(self._item, width))

    def line(self, y: int, width: int) -> Text:
        """One of them."""
        return inspector_lines(self._item, width)[y].copy()


# Asked for once a line, by the pane or by the strip.
@lru_cache(maxsize=16)
def inspector_lines(item: Inspector, width: int) -> Sequence[Text]:
    """An item in lines of so many cells: values stand next to their names and wrap below themselves."""
    title = word_lines([item.title], width, "bold") if item.title else []
    return [*title, *named_lines(item.lines, width, NAMES)]


TABS = ("Relations", "Clusters", "Focus")


class PaneTabs(LineBar[str]):
    """The names of the panes, shown where only one of them has room."""

    _shown = ""

    def line(self, width: int) -> Text:
        """The line, with the pane that is shown marked."""
        line = Text()
        for name in TABS:
            line.append(f" {name} ", "reverse bold" if name == self._shown else "dim")
            line.append(" ")
        return line

    def on_resize(self) -> None:
        """Draw the pane of the focus when the screen has got narrow; hidden containers hear of no size."""
        panes = self.query_ancestor(LowerPanes)
        panes.watch_current(panes.current)


class StripPane(LinesPane):
    """Draws one of the other panes, which are hidden: to show and hide them would take a layout and a frame more."""

    DEFAULT_CSS = """
    StripPane { display: none; }
    """

    _pane: LinesPane | None = None

    def show(self, pane: LinesPane) -> None:
        """Draw a pane as it is now."""
        self._pane = pane
        self.redraw(pane.focused_line or 0)

    def count(self, width: int) -> int:
        """As many lines as the pane has."""
        return self._pane.count(width) if self._pane else 0

    def line(self, y: int, width: int) -> Text:
        """The pane's line."""
        return self._pane.line(y, width) if self._pane else Text()

    def click(self, y: int, x: int, width: int) -> None:
        """The pane knows what was clicked."""
        if self._pane is not None:
            self._pane.click(y, x, width)


class LowerPanes(Vertical):
    """Relations above clusters and inspector; where there is no room for all, one of them in a strip."""

    current: reactive[str] = reactive("Focus", repaint=False)

    _front = ""

    def __init__(self, id: str | None = None) -> None:
        super().__init__(id=id)
        self._number, self._rows = 0, dict[LinesPane, int]()

    def compose(self) -> ComposeResult:
        """Tabs and panes."""
        yield PaneTabs(id="strip-tabs")
        yield StripPane(id="strip")
        yield RelationsPane(id="relations")
        with Horizontal(id="below"):
            yield ClustersPane(id="clusters")
            yield InspectorPane(id="inspector")

    def _share(self, pane: LinesPane, rows: int) -> None:
        """Give a pane no more than so many rows; without any it is the line of its title.

        While an abstract is open it only grows: every other height would take a layout of the screen.
        """
        known = self._rows.get(pane, -1)
        if rows > known or (not rows and known):
            self._rows[pane] = rows
            pane.styles.max_height = 1 + rows
            title = pane.BORDER_TITLE if rows else f"{pane.BORDER_TITLE}: none"
            if title != pane.border_title:  # the toolkit draws all its lines anew
                pane.border_title = title

    def watch_current(self, current: str) -> None:
        """Draw one pane in the strip, where there is one."""
        # The first value is watched before the panes are there.
        if self.is_mounted and self.screen.has_class("-narrow"):
            panes: tuple[type[LinesPane], ...] = (RelationsPane, ClustersPane, InspectorPane)
            self.query_one(PaneTabs).show(current)
            self.query_one(StripPane).show(self.query_one(panes[TABS.index(current)]))

    def show(
        self,
        relations: tuple[RelationLine, ...],
        clusters: tuple[ClusterLine, ...],
        inspector: Inspector,
        most_relations: int,
        number: int,
    ) -> None:
        """Draw all panes, and bring the one of the focused item to the front.

        Args:
            relations: Those to list.
            clusters: All of the abstract.
            inspector: About the focus.
            most_relations: As many are listed while the focus moves, so that the panes stay in their places.
            number: The abstract.
        """
        if number != self._number:
            self._number = number
            self._rows.clear()
        of_clusters = self.query_one(ClustersPane)
        self.query_one(RelationsPane).show(relations)
        of_clusters.show(clusters)
        self._share(self.query_one(RelationsPane), most_relations)
        width = of_clusters.scrollable_content_region.width
        lines = of_clusters.count(width) if clusters and width else len(clusters)
        self._share(of_clusters, lines)
        self.set_class(not clusters, "-alone")
        self.query_one(InspectorPane).show(inspector)
        in_clusters = any(cluster.focused is not None for cluster in clusters)
        in_relations = any(relation.focused for relation in relations)
        self.query_one(RelationsPane).mark(in_relations)
        self.query_one(ClustersPane).mark(in_clusters)
        before, front = self.current, TABS[0 if in_relations else 1 if in_clusters else 2]
        # Only a move of the focus changes the pane: else nobody could look at another one.
        if front != self._front:
            self._front = self.current = front
        if self.current == before:
            self.watch_current(before)

    def show_next(self) -> None:
        """Show the next pane."""
        self.current = TABS[(TABS.index(self.current) + 1) % len(TABS)]

    def on_click(self, event: events.Click) -> None:
        """A click on a tab shows its pane."""
        if isinstance(event.widget, PaneTabs):
            self.current = TABS[min(event.x // 11, len(TABS) - 1)]
