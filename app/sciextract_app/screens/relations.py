"""All relations of the open abstract on the whole screen, over the review screen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from rich.style import Style
from rich.text import Text
from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import Screen

from sciextract_app.presenters.actions import Action
from sciextract_app.presenters.desk import Desk
from sciextract_app.presenters.relation_map import Grouping, MapRow, RelationMap
from sciextract_app.presenters.view_models import Feedback, Mode
from sciextract_app.settings import key_name
from sciextract_app.widgets.bars import FooterBar, LegendBar, MessageBar, TabLine, TooSmall
from sciextract_app.widgets.lines import RowsPane, fit
from sciextract_app.widgets.panes import relation_columns, relation_text


class MapPane(RowsPane[MapRow]):
    """Draws headings, mentions with arcs, and relations."""

    NOTHING = "no relations here: Esc, then r on a mention makes one"

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
        relations = [each.relation for each in self._rows if each.relation]
        columns = relation_columns(relations, room)
        return line.append_text(relation_text(row.relation, columns, room, style))


class RelationsScreen(Screen[Feedback]):
    """Grouped by sentence or type, or a map; every relation is decided with the keys of the desk.

    Args:
        desk: The desk.
        keys: What each key does there.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+q", "app.quit", "leave", priority=True, show=False)
    ]
    AUTO_FOCUS = ""  # nothing: keys are the presenter's

    def __init__(self, desk: Desk, keys: Mapping[str, Action]) -> None:
        super().__init__()
        self._desk = desk
        self._keys = keys
        self.presenter = RelationMap(desk)
        self._changed = False

    def compose(self) -> ComposeResult:
        """The title with the groupings, the lines, and the bars."""
        # Digits give types here, so the groupings are not numbered.
        yield TabLine(self.presenter.title, tuple(Grouping), numbered=False, id="title")
        yield MapPane(id="map")
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
        action = self._keys.get(key)
        if key in ("escape", "q") or (action is not None and action.id == "relations"):
            self.dismiss(Feedback(changed=self._changed))
            return
        feedback = self.presenter.press(key, action)
        self._changed = self._changed or feedback.changed
        self.draw(feedback)

    def draw(self, feedback: Feedback) -> None:
        """Show everything as it is now."""
        title = self.query_one(TabLine)
        title.title = self.presenter.title
        title.show(list(Grouping).index(self.presenter.grouping))
        title.refresh()
        self.query_one(MapPane).show(self.presenter.rows())
        self.query_one(MessageBar).show(feedback)
        self.query_one(LegendBar).show(self._desk.legend())
        self.query_one(FooterBar).show(self.presenter.footer(), Mode.REVIEW)
