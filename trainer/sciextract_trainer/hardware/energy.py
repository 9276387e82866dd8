"""How much energy a training takes, where the machine tells it: RAPL counters of processors, power of NVIDIA cards.

It is the energy of the whole processor packages and cards, whatever else runs on them; memory, disks, fans
and the power supply's losses are not in it.
"""

from __future__ import annotations

import subprocess
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

POWERCAP = Path("/sys/class/powercap")
SECONDS_BETWEEN = 5.0
"""Between two readings: often enough for counters that begin again after minutes, and for a card's power."""

_ANSWER_SECONDS = 10.0
_JOULES_PER_WATT_HOUR = 3600.0


class EnergyUnreadableError(Exception):
    """A source cannot be read; says why."""


@dataclass(slots=True)
class RaplCounter:
    """The energy counter of one processor package (Intel, and AMD since Zen), in microjoules.

    Attributes:
        folder: Its folder in ``/sys/class/powercap``.
        name: What it counts, such as ``package-0``.
        range_uj: Where it begins at zero again.
        last_uj: The last reading.
        joules: Counted so far.
    """

    folder: Path
    name: str
    range_uj: int
    last_uj: int
    joules: float = 0.0

    @classmethod
    def opened(cls, folder: Path) -> RaplCounter:
        """The counter of a folder.

        Raises:
            EnergyUnreadableError: A file is missing, or only root may read it.
        """
        last, most = (_number(folder / file) for file in ("energy_uj", "max_energy_range_uj"))
        return cls(folder, _text(folder / "name"), most, last)

    def read(self) -> None:
        """Adds what was counted since the last reading; a counter that began again at zero once is seen.

        Raises:
            EnergyUnreadableError: It cannot be read any more.
        """
        now = _number(self.folder / "energy_uj")
        counted = now - self.last_uj if now >= self.last_uj else now + self.range_uj - self.last_uj
        self.joules, self.last_uj = self.joules + counted / 1e6, now


@dataclass(slots=True)
class CardPower:
    """The power of NVIDIA cards as ``nvidia-smi`` tells it, added up over time (trapezoids).

    Attributes:
        cards: Numbers or UUIDs of the cards.
        name: What it counts.
        last_watts: Power of all cards at the last reading.
        last_seconds: Its time.
        joules: Added up so far.
    """

    cards: tuple[str, ...]
    name: str
    last_watts: float
    last_seconds: float
    joules: float = 0.0

    @classmethod
    def opened(cls, cards: Sequence[str]) -> CardPower:
        """The power of some cards.

        Raises:
            EnergyUnreadableError: There is no ``nvidia-smi``, or the cards do not tell their power.
        """
        name = f"{len(cards)} NVIDIA card" + ("s" if len(cards) > 1 else "")
        return cls(tuple(cards), name, _watts(cards), time.monotonic())

    def read(self) -> None:
        """Adds the energy since the last reading.

        Raises:
            EnergyUnreadableError: It cannot be read any more.
        """
        watts, now = _watts(self.cards), time.monotonic()
        self.joules += (watts + self.last_watts) / 2 * (now - self.last_seconds)
        self.last_watts, self.last_seconds = watts, now


class EnergyMeter:
    """Measures the energy of a block; nothing in it ever stops the block.

    Args:
        cards: Numbers or UUIDs of the NVIDIA cards that are used.
        powercap: Where Linux keeps the counters of processors.
        seconds_between: Between two readings.
    """

    def __init__(
        self,
        cards: Sequence[str] = (),
        powercap: Path = POWERCAP,
        seconds_between: float = SECONDS_BETWEEN,
    ) -> None:
        self._cards = cards
        self._powercap = powercap
        self._seconds_between = seconds_between
        self._sources: list[RaplCounter | CardPower] = []
        self._problems: list[str] = []
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._read_on, daemon=True)

    def __enter__(self) -> Self:
        for folder in packages(self._powercap):
            self._add(lambda folder=folder: RaplCounter.opened(folder))  # type: ignore[misc]
        if not self._sources and not self._problems:
            self._problems.append(f"no energy counter of a processor in {self._powercap}")
        if self._cards:
            self._add(lambda: CardPower.opened(self._cards))
        if self._sources:
            self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._ended.set()
        if self._sources and self._thread.ident is not None:
            self._thread.join()
            self._read()

    def to_json(self) -> dict[str, Any]:
        """``energy`` with joules, watt-hours and what was counted, else null; and why something is missing."""
        energy = {source.name: round(source.joules, 1) for source in self._sources}
        joules = sum(energy.values())
        told = {
            "joules": round(joules, 1),
            "watt_hours": round(joules / _JOULES_PER_WATT_HOUR, 3),
            "of": energy,
        }
        return {"energy": told if energy else None, "energy_not_read": self._problems}

    def _add(self, opened: Callable[[], RaplCounter | CardPower]) -> None:
        try:
            self._sources.append(opened())
        except EnergyUnreadableError as error:
            self._problems.append(str(error))

    def _read_on(self) -> None:
        while not self._ended.wait(self._seconds_between):
            self._read()

    def _read(self) -> None:
        for source in [*self._sources]:
            try:
                source.read()
            except EnergyUnreadableError as error:
                self._sources.remove(source)
                self._problems.append(str(error))


def packages(powercap: Path) -> list[Path]:
    """The folders of whole processor packages; their parts, which are counted in them, are left out."""
    return sorted(
        folder for folder in powercap.glob("intel-rapl:*") if folder.name.count(":") == 1
        and _is_package(folder)
    )  # fmt: skip


def _is_package(folder: Path) -> bool:
    """Whether a counter is of a package; the platform's (``psys``) counts the packages again."""
    try:
        return _text(folder / "name").startswith("package")
    except EnergyUnreadableError:
        return False


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii", errors="replace").strip()
    except PermissionError:
        raise EnergyUnreadableError(f"{path}: only root may read it") from None
    except OSError as error:
        raise EnergyUnreadableError(f"{path}: {error.strerror}") from None


def _number(path: Path) -> int:
    text = _text(path)
    if not text.isdigit():
        raise EnergyUnreadableError(f"{path}: {text!r} is no number")
    return int(text)


def _watts(cards: Sequence[str]) -> float:
    command = [
        "nvidia-smi", "--query-gpu=power.draw", "--format=csv,noheader,nounits",
        f"--id={','.join(cards)}",
    ]  # fmt: skip
    try:
        told = subprocess.run(
            command, check=False, capture_output=True, text=True, timeout=_ANSWER_SECONDS
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise EnergyUnreadableError(f"nvidia-smi: {error}") from None
    lines = told.stdout.split("\n") if told.returncode == 0 else []
    try:
        watts = [float(line) for line in lines if line.strip()]
    except ValueError:
        watts = []
    if len(watts) != len(cards):
        line = (told.stdout + told.stderr).strip().partition("\n")[0]
        raise EnergyUnreadableError(f"nvidia-smi tells no power: {line}")
    return sum(watts)
