"""The terminal under our apps: input driver, output, themes, true size, and signals of the system."""

from __future__ import annotations

import asyncio
import logging
import os
import selectors
import shutil
import signal
import time
from codecs import getincrementaldecoder
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from threading import Timer
from typing import IO, Any, ClassVar

from textual import events
from textual.app import App
from textual.binding import BindingType
from textual.driver import Driver
from textual.geometry import Size

from sciextract_app.keyboard import Burst, KeyboardParser
from sciextract_app.settings import QUIT, load_theme
from sciextract_app.themes import THEMES, usual_theme
from sciextract_app.widgets.bars import COLUMNS, ROWS


class LastingOutput:
    """The file of a terminal that takes what is written also when the terminal is gone: a line dropped, a window closed.

    Textual writes in a thread of its own, which an error would end. The short queue before it would then fill up, and the
    app would wait for ever at its next word, the one that ends it among them.
    """

    def __init__(self, file: IO[str]) -> None:
        self._file = file
        self._gone = False

    def write(self, text: str) -> int:
        """Write, or forget; gives the number of characters."""
        self._do(self._file.write, text)
        return len(text)

    def flush(self) -> None:
        """Bring what was written to the terminal, while there is one."""
        self._do(self._file.flush)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)

    def _do(self, action: Any, *words: str) -> None:
        if not self._gone:
            try:
                action(*words)
            except OSError:
                self._gone = True
                # What is still buffered goes nowhere, else Python tries it again at its end and exits with 120.
                with suppress(OSError, ValueError), open(os.devnull, "w") as nowhere:
                    os.dup2(nowhere.fileno(), self._file.fileno())


def encoding_warning(encoding: str) -> str:
    """What to tell where the signs of the desk cannot be written; empty for UTF-8.

    >>> encoding_warning("UTF-8")
    ''
    """
    if encoding.lower().replace("-", "") in ("", "utf8"):
        return ""
    return f"This terminal takes {encoding}, so signs are missing: start it with LANG=C.UTF-8, or PYTHONIOENCODING=utf-8"


# Large, so that a paste comes in few pieces.
_READ_BYTES = 1 << 16
_TOGETHER_SECONDS, _GATHER_SECONDS = 0.005, 0.05
"""Characters that follow each other faster came together, and for how long such are gathered. A key held down repeats every
30 milliseconds, and nobody types faster; a serial line brings a paste one character in a millisecond."""


def lasting_driver(driver: type[Driver]) -> type[Driver]:
    """A driver that reads pastes as such where it reads a terminal, and ends the app when its input ends."""
    # Imported late: other systems cannot import it.
    from textual.drivers import web_driver
    from textual.drivers.linux_driver import LinuxDriver
    from textual.drivers.web_driver import WebDriver

    class ServedDriver(WebDriver):
        """The driver of browsers; without the server the app would run for ever."""

        def on_meta(self, packet_type: str, payload: dict[str, object]) -> None:
            """Take a message of the server; nothing follows the last one."""
            if packet_type == "quit":
                leave_in_time()
            super().on_meta(packet_type, payload)

        def run_input_thread(self) -> None:
            """Read until the app ends, or the server does."""
            super().run_input_thread()
            leave_in_time()
            self._app.call_later(self._app.action_quit)

    if driver is WebDriver:
        # Its loop has no hook for a parser of one's own, and ends with the first report that the toolkit's cannot read.
        web_driver.XTermParser = KeyboardParser  # type: ignore[attr-defined]
        return ServedDriver
    if driver is not LinuxDriver:
        return driver

    class PastingDriver(LinuxDriver):
        """The driver of POSIX terminals, reading through :class:`KeyboardParser`."""

        def __init__(self, app: App[Any], **settings: Any) -> None:
            super().__init__(app, **settings)
            self._file: Any = LastingOutput(self._file)

        def start_application_mode(self) -> None:
            """Begin, or begin again when the process was stopped and continues.

            A terminal that hangs up says "go on", too. Textual would then start a second reader next to the
            first, which nothing ends: the process would outlive its terminal, busy for ever.
            """
            if self._key_thread is not None and self._key_thread.is_alive():
                self.disable_input()
                self.close()
            super().start_application_mode()  # type: ignore[no-untyped-call]

        def run_input_thread(self) -> None:
            """Read until the app ends, or the terminal does."""
            parser = KeyboardParser(self._debug)
            decoder = getincrementaldecoder("utf-8")("replace")
            with selectors.SelectSelector() as selector:
                selector.register(self.fileno, selectors.EVENT_READ)
                while not self.exit_event.is_set():
                    # Never waits for long: the end of the app, and that nothing follows an Esc, must be noticed.
                    if selector.select(0.1):
                        found = os.read(self.fileno, _READ_BYTES)
                        if not found:
                            leave_in_time()
                            self._app.call_later(self._app.action_quit)
                            return
                        end = time.monotonic() + _GATHER_SECONDS
                        # Reports of the mouse, which begin with Esc, wait for nothing.
                        while (
                            not found.startswith(b"\x1b")
                            and time.monotonic() < end
                            and selector.select(_TOGETHER_SECONDS)
                            and (more := os.read(self.fileno, _READ_BYTES))
                        ):
                            found += more
                        typed = decoder.decode(found)
                        for event in parser.feed(typed) if typed else ():
                            self.process_message(event)
                    for event in parser.tick():
                        self.process_message(event)

    return PastingDriver


LEAST_SIZE, MOST_SIZE = Size(20, 5), Size(1_000, 500)
"""What is laid out at least: the toolkit's lists cannot be wrapped at no width at all."""

LEAVE_SECONDS = 10
"""After that a desk whose browser or terminal has gone is ended; what was decided is in the project by then."""


def leave_in_time() -> None:
    """End the process if the app does not: one that is busy for ever answers no message."""
    # In a thread, since the loop may be what is busy; a daemon, so that it delays no orderly end.
    timer = Timer(LEAVE_SECONDS, os._exit, (1,))
    timer.daemon = True
    timer.start()


class TerminalApp(App[None]):
    """An app of ours.

    Attributes:
        failure: The error that ended the app, ``None`` where none did.
    """

    CSS_PATH = Path(__file__).with_name("app.tcss")  # a name alone is taken as next to the subclass
    TITLE = "sciextract"
    BINDINGS: ClassVar[list[BindingType]] = [QUIT]
    HORIZONTAL_BREAKPOINTS = COLUMNS
    VERTICAL_BREAKPOINTS = ROWS

    def __init__(self) -> None:
        super().__init__()
        # What the core logs would be printed across the screen.
        logging.getLogger("sciextract").addHandler(logging.NullHandler())
        self.failure: Exception | None = None
        for theme in THEMES:
            self.register_theme(theme)
        colours = self.console.color_system
        self.theme = usual_theme(load_theme(), self.available_themes, colours)

    def get_driver_class(self) -> type[Driver]:
        """What reads the terminal: pastes are never taken for keys."""
        return lasting_driver(super().get_driver_class())

    def on_paste(self, event: events.Paste) -> None:
        """Say what no field took, and no screen."""
        if isinstance(event, Burst):
            self.notify(event.words, severity="warning", markup=False)

    async def on_event(self, event: events.Event) -> None:
        """Take the terminal's size at the moment when a change is heard of.

        The toolkit asks for it inside of a signal handler, which the next signal interrupts: of two quick changes
        the earlier one may then come last.
        """
        if isinstance(event, events.Resize):
            size = (
                event.size if self.is_headless or self.is_web else Size(*shutil.get_terminal_size())
            )
            # A page in a browser can name any size, and each cell takes memory.
            width = min(max(size.width, LEAST_SIZE.width), MOST_SIZE.width)
            size = Size(width, min(max(size.height, LEAST_SIZE.height), MOST_SIZE.height))
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


_LEAVING = ("SIGTERM", "SIGHUP")


def install(leave: Callable[[int], object], interrupted: Callable[[], object]) -> None:
    """Answer signals inside of the running event loop, where the platform has that.

    Args:
        leave: Called with the exit code when the app must end.
        interrupted: Called for an interrupt, which ends nothing here.
    """
    loop = asyncio.get_running_loop()
    with suppress(NotImplementedError, RuntimeError):
        for name in _LEAVING:
            number = getattr(signal, name)
            loop.add_signal_handler(number, leave, 128 + number)
        loop.add_signal_handler(signal.SIGINT, interrupted)
