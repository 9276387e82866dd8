"""Screens over the review that take its keys, and that of all relations."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import ClassVar

from rich.style import Style
from rich.text import Text
from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import Screen
from textual.widget import Widget

from sciextract_app.review.keys.desk import Desk
from sciextract_app.review.keys.questions import Questions
from sciextract_app.review.keys.relation_map import Grouping, MapRow, RelationMap
from sciextract_app.review.view.lower_panes import relation_columns, relation_text
from sciextract_app.settings import key_name
from sciextract_app.shared.actions import action_of, nothing_left
from sciextract_app.shared.view_models import Feedback, Mode
from sciextract_app.widgets.bars import FooterBar, LegendBar, MessageBar, TabLine, TooSmall
from sciextract_app.widgets.cells import fit
from sciextract_app.widgets.lines import RowsPane


class MapPane(RowsPane[MapRow]):
    """Draws headings, mentions with arcs, and relations."""

    NOTHING = "no relations here: go back to the passage, where a mention gets one"

    def show(self, rows: Sequence[MapRow]) -> None:
        """Draw these rows; the relation in focus is scrolled into sight, also after a key that changes nothing."""
        self._rows = rows
        self.redraw(self.focused_line)

    @property
    def focused_line(self) -> int:
        """The relation in focus."""
        rows = enumerate(self._rows)
        return next((y for y, row in rows if row.relation and row.relation.focused), 0)

    def row_text(self, row: MapRow, width: int) -> Text:
        """A heading, a mention or a relation."""
        line = Text(row.margin)
        room = width - line.cell_len
        look = self.label_look(row.relation.label if row.relation else row.label)
        style = Style(color=look.color, bold=True)
        if row.relation is None:
            heading = not row.margin.strip() and not row.label
            style = Style(bold=True) if heading or not row.margin else style
            return line.append(fit(row.words, room), style)
        relations = [map_row.relation for map_row in self._rows if map_row.relation]
        columns = relation_columns(relations, room)
        return line.append_text(relation_text(row.relation, columns, room, style))


class OverReview(Screen[Feedback]):
    """A screen over the review, with the keys and the bars of the desk.

    Args:
        desk: The desk.
        presenter: Takes the keys, but for those that leave.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+q", "app.quit", "leave", priority=True, show=False)
    ]
    AUTO_FOCUS = ""  # nothing: keys are the presenter's
    OPENED_BY = ""
    """The action that opens the screen, and leaves it."""

    def __init__(self, desk: Desk, presenter: RelationMap | Questions) -> None:
        super().__init__()
        self._desk = desk
        self._takes_keys = presenter
        self._changed, self._from = False, desk.number

    def content(self) -> Iterable[Widget]:
        """What stands over the bars."""
        return ()

    def compose(self) -> ComposeResult:
        """The content, and the bars."""
        yield from self.content()
        yield MessageBar(id="message")
        yield LegendBar(id="legend")
        yield FooterBar(id="footer")
        yield TooSmall()

    def on_mount(self) -> None:
        """Show everything."""
        self.draw(Feedback())

    def on_key(self, event: events.Key) -> None:
        """Leave, or hand a key to the presenter."""
        # Such keys are the app's, but for redo.
        if event.key.startswith("ctrl+") and event.key != "ctrl+r":
            return
        event.stop()
        event.prevent_default()
        key = key_name(event)
        action = action_of(key)
        if key in ("escape", "q") or (action is not None and action.id == self.OPENED_BY):
            self.leave()
            return
        feedback = self._takes_keys.press(key, action)
        # The key that ends an abstract does nothing here.
        said = feedback.message.replace(nothing_left(), "Nothing is undecided in this abstract")
        self.show(replace(feedback, message=said))

    def show(self, feedback: Feedback) -> None:
        """Show what was done."""
        self._changed = self._changed or feedback.changed
        self.draw(feedback)

    def leave(self) -> None:
        """Back to the desk."""
        self.dismiss(Feedback(changed=self._changed, moved=self._desk.number != self._from))

    def draw(self, feedback: Feedback) -> None:
        """Show everything as it is now."""
        self.query_one(MessageBar).tell(feedback)
        self.query_one(LegendBar).show(self._desk.legend())
        self.query_one(FooterBar).show((self._takes_keys.footer(), Mode.REVIEW))


class RelationsScreen(OverReview):
    """Grouped by sentence or type, or a map; every relation is decided with the keys of the desk.

    Args:
        desk: The desk.
    """

    OPENED_BY = "relations"

    def __init__(self, desk: Desk) -> None:
        self.presenter = RelationMap(desk)
        super().__init__(desk, self.presenter)

    def content(self) -> Iterable[Widget]:
        """The title with the groupings, and the lines."""
        yield TabLine(self.presenter.title, tuple(Grouping), id="title")
        yield MapPane(id="map")

    def leave(self) -> None:
        """Back to the desk, and to what had the focus there."""
        self.presenter.leave()
        super().leave()

    def draw(self, feedback: Feedback) -> None:
        """Show everything as it is now."""
        title = self.query_one(TabLine)
        title.title = self.presenter.title
        title.show(list(Grouping).index(self.presenter.grouping))
        title.refresh()
        self.query_one(MapPane).show(self.presenter.rows())
        super().draw(feedback)
