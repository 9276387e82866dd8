"""What our apps have in common: themes, pastes, the terminal's true size, an end that prints no texts."""

from __future__ import annotations

import shutil
from typing import ClassVar

from textual import events
from textual.app import App
from textual.binding import BindingType
from textual.driver import Driver
from textual.geometry import Size

from sciextract_app.driver import reading_pastes
from sciextract_app.keys import QUIT
from sciextract_app.settings import load_theme
from sciextract_app.themes.desk_themes import THEMES, usual_theme

LEAST_SIZE = Size(20, 5)
"""What is laid out at least: the toolkit's lists cannot be wrapped at no width at all."""


class TerminalApp(App[None]):
    """An app of ours.

    Attributes:
        failure: The error that ended the app, ``None`` where none did.
    """

    CSS_PATH = "app.tcss"
    TITLE = "sciextract"
    BINDINGS: ClassVar[list[BindingType]] = [QUIT]

    def __init__(self) -> None:
        super().__init__()
        self.failure: Exception | None = None
        for theme in THEMES:
            self.register_theme(theme)
        colours = self.console.color_system
        self.theme = usual_theme(load_theme(), self.available_themes, colours)

    def get_driver_class(self) -> type[Driver]:
        """What reads the terminal: pastes are never taken for keys."""
        return reading_pastes(super().get_driver_class())

    async def on_event(self, event: events.Event) -> None:
        """Take the terminal's size at the moment when a change is heard of.

        The toolkit asks for it inside of a signal handler, which the next signal interrupts: of two quick changes
        the earlier one may then come last.
        """
        if isinstance(event, events.Resize):
            size = event.size if self.is_headless else Size(*shutil.get_terminal_size())
            size = Size(max(size.width, LEAST_SIZE.width), max(size.height, LEAST_SIZE.height))
            event = events.Resize(size, size)
        await super().on_event(event)

    def _handle_exception(self, error: Exception) -> None:
        """End the app without printing values, which could be texts of the person."""
        self.failure = self.failure or error
        self._return_code = 1
        if self._exception is None:
            self._exception = error
            self._exception_event.set()
        self._close_messages_no_wait()
