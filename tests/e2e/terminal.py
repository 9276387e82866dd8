"""A real pseudo-terminal with a real process in it, read through a terminal emulator."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import termios
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pyte

KEYS = {
    "enter": "\r",
    "tab": "\t",
    "space": " ",
    "escape": "\x1b",
    "shift+tab": "\x1b[Z",
    "down": "\x1b[B",
    "up": "\x1b[A",
    "pagedown": "\x1b[6~",
    "pageup": "\x1b[5~",
    "home": "\x1b[H",
    "end": "\x1b[F",
    "ctrl+c": "\x03",
    "ctrl+l": "\x0c",
    "ctrl+q": "\x11",
    "ctrl+r": "\x12",
}
PATIENCE = 60.0
_FINGERS_SECONDS = 0.1
# The first terminal that the leader of a session opens is its own, so that hanging up reaches it.
_IN_TERMINAL = ("sh", "-c", 'exec "$0" "$@" <>"$TTY" >&0 2>&0')


class Terminal:
    """A terminal of some size in which one command runs.

    Args:
        command: The command.
        cwd: Where it runs.
        environment: Its environment variables.
        columns: Width.
        rows: Height.
        kind: What the terminal says that it is.
    """

    def __init__(
        self,
        command: Sequence[str | Path],
        cwd: Path,
        environment: dict[str, str],
        columns: int = 80,
        rows: int = 24,
        kind: str = "xterm-256color",
    ) -> None:
        self._screen = pyte.Screen(columns, rows)
        self._stream = pyte.ByteStream(self._screen)
        self.raw = b""
        self._master, self._slave = pty.openpty()
        self.resize(columns, rows, told=False)
        self.modes_before = self._modes()
        self.started = time.monotonic()
        self.process = subprocess.Popen(
            [*_IN_TERMINAL, *(str(word) for word in command)],
            cwd=cwd,
            env={**environment, "TERM": kind, "TTY": os.ttyname(self._slave)},
            start_new_session=True,
        )

    @property
    def text(self) -> str:
        """What stands on the screen."""
        return "\n".join(self._screen.display)

    def press(self, *keys: str) -> None:
        """Type keys, not faster than fingers do: what comes all at once is no key."""
        for place, key in enumerate(keys):
            end = time.monotonic() + (_FINGERS_SECONDS if place else 0)
            while (left := end - time.monotonic()) > 0:
                self._read(left)
            self.send(key if len(key) == 1 else KEYS[key])

    def send(self, characters: str) -> None:
        """Let characters arrive all at once."""
        os.write(self._master, characters.encode())

    def mouse(self, button: int, column: int, line: int, ends: str = "Mm") -> None:
        """Report a mouse button over a cell, both from one: pressed or moved (``M``), and let go (``m``)."""
        reports = (f"\x1b[<{button};{column};{line}{end}" for end in ends)
        os.write(self._master, "".join(reports).encode())

    def wait_for(self, wanted: str | Callable[[], Any], seconds: float = PATIENCE) -> float:
        """Read until a text stands on the screen, or something holds; gives seconds since the start."""
        holds = (lambda: wanted in self.text) if isinstance(wanted, str) else wanted
        end = time.monotonic() + seconds
        while not holds():
            if time.monotonic() > end:
                raise AssertionError(f"waited in vain for {wanted!r}; the screen:\n{self.text}")
            self._read(0.05)
        return time.monotonic() - self.started

    def wait_for_end(self, seconds: float = PATIENCE) -> int:
        """Read until the process has ended; gives its exit code."""
        self.wait_for(lambda: self.process.poll() is not None, seconds)
        while self._read(0.05):
            pass
        return self.process.returncode

    def resize(self, columns: int, rows: int, told: bool = True) -> None:
        """Give the terminal another size."""
        fcntl.ioctl(self._master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self._screen.resize(rows, columns)
        if told:
            self.process.send_signal(signal.SIGWINCH)

    def hang_up(self) -> None:
        """Take the terminal away, as when a connection breaks."""
        os.close(self._slave)
        os.close(self._master)
        self._master = self._slave = -1

    def is_restored(self) -> bool:
        """Whether the terminal is as it was: modes, main screen, cursor, no mouse, no pasting marks."""
        ended = (b"\x1b[?1049l", b"\x1b[?25h", b"\x1b[?1000l", b"\x1b[?2004l")
        begun = [sequence[:-1] + (b"l" if sequence.endswith(b"h") else b"h") for sequence in ended]
        last = [
            self.raw.rfind(end) > self.raw.rfind(begin)
            for begin, end in zip(begun, ended, strict=True)
        ]
        return self._modes() == self.modes_before and all(last)

    def close(self) -> None:
        """End the process if it still runs, and let the terminal go."""
        with contextlib.suppress(ProcessLookupError):
            self.process.kill()
        self.process.wait()
        for descriptor in {self._master, self._slave} - {-1}:
            os.close(descriptor)

    def _modes(self) -> list[Any]:
        return termios.tcgetattr(self._slave)

    def _read(self, seconds: float) -> bool:
        waiting = select.poll()  # select() refuses descriptors above 1023
        waiting.register(self._master, select.POLLIN | select.POLLHUP)
        if not waiting.poll(seconds * 1000):
            return False
        try:
            data = os.read(self._master, 1 << 16)
        except OSError:  # the other side is closed
            return False
        self.raw += data
        self._stream.feed(data)
        return bool(data)
