"""Relations of the focused mention, one a line."""

from __future__ import annotations

from dataclasses import dataclass

from rich.cells import cell_len
from rich.style import Style
from rich.text import Text
from textual import events
from textual.message import Message

from sciextract.documents.annotations import State
from sciextract_app.presenter.shown import RelationLine
from sciextract_app.themes.labels import label_style
from sciextract_app.widgets.glyphs import fit, padded
from sciextract_app.widgets.lines import FOCUS, SIGNS, LinesPane, score

ARROW, BOTH_WAYS = " ─▶ ", " ── "
_BEHIND = len("  .91 ?")
_MOST_LABEL = 24


class RelationsPane(LinesPane):
    """Draws head, label, tail, score and state of relations in columns."""

    BORDER_TITLE = "Relations"

    @dataclass
    class RowClicked(Message):
        """A relation was clicked.

        Attributes:
            item_id: The relation.
        """

        item_id: str

    def __init__(
        self, *, name: str | None = None, id: str | None = None, classes: str | None = None
    ) -> None:
        super().__init__(name=name, id=id, classes=classes)
        self._rows: tuple[RelationLine, ...] = ()

    def show(self, relations: tuple[RelationLine, ...]) -> None:
        """Draw these relations; the focused one is scrolled into sight."""
        if relations != self._rows:
            self._rows = relations
            self.redraw(next((y for y, row in enumerate(relations) if row.focused), None))

    def count(self, width: int) -> int:
        """One line a relation; one that says so where there are none."""
        return len(self._rows) or 1

    def line(self, y: int, width: int) -> Text:
        """A relation."""
        if not self._rows:
            return Text("  none", "dim")
        row = self._rows[y]
        return relation_text(row, self._columns(width), width, self._style(row.label))

    def on_click(self, event: events.Click) -> None:
        """Tell which relation was clicked."""
        where = event.get_content_offset(self)
        y = -1 if where is None else where.y + self.scroll_offset.y
        if event.button == 1 and 0 <= y < len(self._rows):
            self.post_message(self.RowClicked(self._rows[y].item_id))

    def _columns(self, width: int) -> tuple[int, int]:
        """Cells for heads, no more than half of what labels leave, and for labels."""
        heads = max(cell_len(fit(row.head, width)) for row in self._rows)
        labels = max(cell_len(fit(row.label, _MOST_LABEL)) for row in self._rows)
        room = width - len("▸ ") - labels - len(ARROW) - _BEHIND - 1
        return max(4, min(heads, room // 2)), labels

    def _style(self, label: str) -> Style:
        app = self.app
        found = label_style(label, app.theme_variables, app.current_theme.dark)
        return Style(color=found.color, bold=True)


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
    line.append(f" {score(row.score)} {SIGNS[row.state]}")
    if row.focused:
        line.stylize("reverse")
    elif row.state is State.UNDECIDED:
        line.stylize("italic")
    return line
