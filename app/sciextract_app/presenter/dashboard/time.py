"""How long abstracts take: the distribution, without the few that lay open overnight."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import quantiles

_MOST_BARS = 24
_WIDTHS = (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 1800, 3600)


@dataclass(frozen=True, slots=True)
class TimePage:
    """Time per abstract.

    Attributes:
        summary: Lines of words.
        width_s: Seconds that each count stands for.
        counts: Abstracts per so many seconds, the last one with all that took longer.
    """

    summary: tuple[str, ...]
    width_s: int
    counts: tuple[int, ...]


def time_page(seconds: Sequence[float]) -> TimePage:
    """The page from recorded seconds of abstracts that are done, shortest first."""
    if not seconds:
        words = "no abstract is done yet, or none with recorded time"
        return TimePage((words, "the desk records the time between keys"), 1, ())
    width = next((w for w in _WIDTHS if _high(seconds) <= w * _MOST_BARS), _WIDTHS[-1])
    counts = [0] * min(_MOST_BARS, int(_high(seconds) // width) + 1)
    for each in seconds:
        counts[min(len(counts) - 1, int(each // width))] += 1
    return TimePage((_summary(seconds),), width, tuple(counts))


def duration(seconds: float) -> str:
    """Seconds as people say them.

    >>> duration(42), duration(100), duration(7300)
    ('42 s', '1 min 40 s', '2 h 1 min')
    """
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s" if whole % 60 else f"{whole // 60} min"
    minutes = whole // 60
    return f"{minutes // 60} h {minutes % 60} min" if minutes % 60 else f"{minutes // 60} h"


def _high(seconds: Sequence[float]) -> float:
    """The time within which 95 of 100 abstracts are done: single long ones do not flatten the rest."""
    return seconds[min(len(seconds) - 1, int(len(seconds) * 0.95))]


def _summary(seconds: Sequence[float]) -> str:
    if len(seconds) == 1:
        return f"1 abstract done, in {duration(seconds[0])}"
    low, middle, high = quantiles(seconds, n=4, method="inclusive")
    return (
        f"{len(seconds):,} abstracts done: half of them within {duration(middle)}, "
        f"half between {duration(low)} and {duration(high)}"
    )
