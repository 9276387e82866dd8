"""A pseudo-terminal that tells when a key's last frame has arrived, and when the first text did."""

from __future__ import annotations

import os
import select
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pyte

from tests.e2e.terminal import KEYS, Terminal

ROOT = Path(__file__).resolve().parent.parent
DESK = (sys.executable, "-m", "sciextract", "tui")
BARE = (sys.executable, "-m", "benchmarks.tui_bare")
Size = tuple[int, int]
_ASKS_FOR_FRAMES, _SAYS_FRAMES = b"\x1b[?2026$p", b"\x1b[?2026;2$y"
_FRAME_ENDS, _TAIL = b"\x1b[?2026l", 16
_QUIET_SECONDS = 0.15
"""So long after its last frame a key is taken to be answered: on busy cores the second one comes late."""


@dataclass(frozen=True)
class Repaint:
    """How a key was answered.

    Attributes:
        first: Seconds to the end of its first frame.
        last: Seconds to the end of its last frame.
        cpu: Seconds that the process computed for it.
        frames: How many frames it caused.
    """

    first: float
    last: float
    cpu: float
    frames: int


class TimedTerminal(Terminal):
    """Reads frames as they come; what it draws them with waits until they have been timed."""

    def repaint(self, key: str, patience: float = 5.0) -> Repaint | None:
        """Times from a key to the frames that it causes, ``None`` when it changes nothing.

        Frames are told apart by the marks of synchronised output, which the terminal says it knows.
        """
        worked, begin, ends = self._cpu_seconds(), time.perf_counter(), list[float]()
        os.write(self._master, KEYS.get(key, key).encode())
        seen, wait = b"", patience
        while select.select([self._master], [], [], wait)[0]:
            seen += os.read(self._master, 1 << 16)
            if _FRAME_ENDS in seen[-_TAIL:]:
                ends.append(time.perf_counter() - begin)
            wait = _QUIET_SECONDS
        self._show(seen)
        if not ends:
            return None
        return Repaint(ends[0], ends[-1], self._cpu_seconds() - worked, seen.count(_FRAME_ENDS))

    def open(self, words: str, patience: float = 120.0) -> tuple[float, float]:
        """Seconds from the start of the process to the first character, and to some words on the screen."""
        chunks: list[tuple[float, bytes]] = []
        wanted, end = words.encode(), time.monotonic() + patience
        while wanted not in self._all(chunks) and time.monotonic() < end:
            if select.select([self._master], [], [], 0.2)[0]:
                chunks.append((time.monotonic() - self.started, os.read(self._master, 1 << 16)))
                self._answer(chunks[-1][1])
        screen = pyte.Screen(self._screen.columns, self._screen.lines)
        stream, first = pyte.ByteStream(screen), 0.0
        for seconds, data in chunks:
            stream.feed(data)
            text = "\n".join(screen.display)
            first = first or (seconds if text.strip() else 0.0)
            self._show(data)
        if words not in text:
            raise SystemExit(f"waited in vain for {words!r}; the screen:\n{text}")
        return first, chunks[-1][0]

    def settle(self) -> None:
        """Read until nothing comes any more."""
        while select.select([self._master], [], [], 0.4)[0]:
            data = os.read(self._master, 1 << 16)
            self._answer(data)
            self._show(data)

    def leave(self) -> None:
        """End the program as a person does, so that it writes what it writes at its end."""
        self.press("ctrl+q")
        self.wait_for_end()

    def memory(self) -> dict[str, float]:
        """Resident memory of the process now and at its highest, in MiB, where the system tells that."""
        lines = Path(f"/proc/{self.process.pid}/status").read_text().splitlines()
        found = {line.split(":")[0]: line.split()[1] for line in lines if line.startswith("Vm")}
        return {"now": int(found["VmRSS"]) / 1024, "peak": int(found["VmHWM"]) / 1024}

    def _cpu_seconds(self) -> float:
        """What all threads of the process have computed so far; other work on the machine does not count."""
        tasks = Path(f"/proc/{self.process.pid}/task").glob("*/schedstat")
        return sum(int(task.read_text().split()[0]) for task in tasks) / 1e9

    def _answer(self, data: bytes) -> None:
        if _ASKS_FOR_FRAMES in data:
            os.write(self._master, _SAYS_FRAMES)

    def _show(self, data: bytes) -> None:
        self.raw += data
        self._stream.feed(data)

    @staticmethod
    def _all(chunks: list[tuple[float, bytes]]) -> bytes:
        return b"".join(data for _, data in chunks[-8:])


@contextmanager
def started(
    command: tuple[str, ...], folder: Path, size: Size = (120, 40)
) -> Iterator[TimedTerminal]:
    """A command in a terminal of its own; it is ended in the end."""
    terminal = TimedTerminal(command, folder, environment(), *size)
    try:
        yield terminal
    finally:
        terminal.close()


def environment() -> dict[str, str]:
    """The variables of the desk's process: ours, without those that change how it draws."""
    hidden = {"NO_COLOR", "COLUMNS", "LINES", "TEXTUAL"}
    kept = {name: value for name, value in os.environ.items() if name not in hidden}
    paths = os.pathsep.join(str(ROOT / folder) for folder in ("", "app", "trainer"))
    return kept | {"PYTHONPATH": paths}
