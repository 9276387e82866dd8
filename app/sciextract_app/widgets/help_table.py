"""All keys and what they do, by group."""

from __future__ import annotations

from collections.abc import Iterable

from rich.table import Table
from rich.text import Text
from textual.widgets import Static

from sciextract.text.visible import visible

HelpRow = tuple[str, str, str]
"""Key, words, group."""


class HelpTable(Static):
    """Draws keys beside their words, under the names of their groups.

    Args:
        rows: Key, words and group of every action, groups together.
    """

    ALLOW_SELECT = False
    DEFAULT_CSS = """
    HelpTable { height: auto; width: 1fr; }
    """

    def __init__(
        self,
        rows: Iterable[HelpRow] = (),
        *,
        name: str | None = None,
        id: str | None = None,
        classes: str | None = None,
    ) -> None:
        super().__init__(help_grid(rows), name=name, id=id, classes=classes)

    def show(self, rows: Iterable[HelpRow]) -> None:
        """Draw these keys."""
        self.update(help_grid(rows))


def help_grid(rows: Iterable[HelpRow]) -> Table:
    """The keys as a table of two columns; words wrap, keys do not."""
    grid = Table.grid(padding=(0, 2))
    grid.add_column(justify="right", no_wrap=True)
    grid.add_column(ratio=1)
    last = None
    for key, words, group in rows:
        if group != last:
            if last is not None:
                grid.add_row()
            grid.add_row("", Text(visible(group).capitalize(), "bold underline"))
            last = group
        grid.add_row(Text(visible(key), "bold"), Text(visible(words)))
    return grid
