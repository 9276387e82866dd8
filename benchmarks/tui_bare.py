"""The least that the toolkit can do: an app that answers each key by painting the whole screen anew.

Usage: ``python -m benchmarks.tui_bare``; Ctrl+Q leaves.
"""

from __future__ import annotations

from textual import events
from textual.app import App, ComposeResult
from textual.widgets import Static

WORDS = "bare"


class BareApp(App[None]):
    """One widget as large as the screen."""

    def compose(self) -> ComposeResult:
        """The widget."""
        yield Static(self._text(0), markup=False)

    def on_mount(self) -> None:
        """No key is pressed yet."""
        self._pressed = 0

    def on_key(self, event: events.Key) -> None:
        """Paint other words."""
        self._pressed += 1
        self.query_one(Static).update(self._text(self._pressed))

    def _text(self, number: int) -> str:
        columns, rows = self.size
        line = (f"{WORDS} {number} " * columns)[: max(1, columns)]
        return "\n".join([line] * max(1, rows))


if __name__ == "__main__":
    BareApp().run()
