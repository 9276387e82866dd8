"""The panes below the passage: side by side where there is room, one at a time behind tabs elsewhere."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text
from textual import events
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.reactive import reactive
from textual.widgets import Static

from sciextract_app.presenters.desk import Desk
from sciextract_app.presenters.view_models import ClusterLine, RelationLine
from sciextract_app.widgets.panes import ClustersPane, InspectorPane, RelationsPane

TABS = ("Relations", "Clusters", "Focus")


class StripTabs(Static):
    """The names of the panes, shown where only one of them has room."""

    def show(self, current: str) -> None:
        """Mark the pane that is shown."""
        line = Text()
        for name in TABS:
            line.append(f" {name} ", "reverse bold" if name == current else "dim")
            line.append(" ")
        self.update(line, layout=False)


def _front(relations: Sequence[RelationLine], clusters: Sequence[ClusterLine]) -> str:
    """The pane that a focused relation, link or mention belongs to."""
    if any(each.focused for each in relations):
        return TABS[0]
    return TABS[1] if any(each.focused is not None for each in clusters) else TABS[2]


class LowerPanes(Vertical):
    """Relations above clusters and inspector."""

    current: reactive[str] = reactive("Focus", repaint=False)

    def __init__(self, id: str | None = None) -> None:
        super().__init__(id=id)
        self._front = ""

    def compose(self) -> ComposeResult:
        """Tabs and panes."""
        yield StripTabs(id="strip-tabs")
        yield RelationsPane(id="relations")
        with Horizontal(id="below"):
            yield ClustersPane(id="clusters")
            yield InspectorPane(id="inspector")

    def watch_current(self, current: str) -> None:
        """Show one pane; where all have room the stylesheet shows all, and nothing changes."""
        if not self.screen.has_class("-narrow"):
            return
        for name, pane in zip(TABS, ("#relations", "#clusters", "#inspector"), strict=True):
            for found in self.query(pane):
                found.set_class(name != current, "-behind")
        for row in self.query("#below"):
            row.set_class(current == TABS[0], "-behind")
        for tabs in self.query(StripTabs):
            tabs.show(current)

    def on_resize(self) -> None:
        """Show the pane of the focus where there is room for one."""
        self.watch_current(self.current)

    def show(self, desk: Desk) -> None:
        """Draw all panes, and bring the one of the focused item to the front."""
        relations, clusters = desk.relations(), desk.clusters()
        self.query_one(RelationsPane).show(relations)
        self.query_one(ClustersPane).show(clusters)
        self.query_one(InspectorPane).show(desk.inspector())
        front = _front(relations, clusters)
        if front != self._front:
            self._front = self.current = front

    def next(self) -> None:
        """Show the next pane."""
        self.current = TABS[(TABS.index(self.current) + 1) % len(TABS)]

    def on_click(self, event: events.Click) -> None:
        """A click on a tab shows its pane."""
        if isinstance(event.widget, StripTabs):
            self.current = TABS[min(event.x // 11, len(TABS) - 1)]
