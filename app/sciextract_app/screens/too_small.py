"""What covers the screen while the terminal is too small for it."""

from __future__ import annotations

from textual import events
from textual.widgets import Static

LEAST_COLUMNS, LEAST_ROWS = 60, 15


class TooSmall(Static):
    """Says how large the terminal must be; shows itself only as long as it is smaller."""

    DEFAULT_CSS = """
    TooSmall { display: none; layer: above; width: 100%; height: 100%; content-align: center middle;
               text-align: center; background: $background; }
    """

    def __init__(self) -> None:
        super().__init__()
        self._told = (0, 0)

    def on_mount(self) -> None:
        """Watch the size of the screen."""
        self.screen.screen_layout_refresh_signal.subscribe(self, lambda _: self.look())
        self.look()

    def on_resize(self, event: events.Resize) -> None:
        """The own size follows the screen's."""
        self.look()

    def look(self) -> None:
        """Compare the size of the screen with what is needed."""
        columns, rows = self.screen.size
        small = is_too_small(columns, rows)
        if small and (columns, rows) != self._told:  # new words cause the layout that calls this
            self._told = (columns, rows)
            self.update(
                f"The terminal has {columns}x{rows} characters.\n"
                f"The desk needs {LEAST_COLUMNS}x{LEAST_ROWS}: enlarge it.\n"
                "Nothing is lost. Ctrl+Q leaves."
            )
        self.display = small


def is_too_small(columns: int, rows: int) -> bool:
    """Whether a terminal has too few characters for the desk."""
    return columns < LEAST_COLUMNS or rows < LEAST_ROWS
