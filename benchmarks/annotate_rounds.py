"""Interleaved timing: contenders take turns on the same chunks of texts, so that load meets all of them alike."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping, Sequence

Contender = Callable[[int], None]
"""Does its work on the chunk of that number."""


def take_turns(
    contenders: Mapping[str, Contender], chunks: int, rounds: int
) -> dict[str, list[float]]:
    """Seconds per round of each contender, after one chunk each to warm up.

    Within a round every chunk is done by all contenders in turn; who begins changes with each chunk.
    """
    names = list(contenders)
    for contender in contenders.values():
        contender(0)
    seconds: dict[str, list[float]] = {name: [] for name in names}
    for number in range(rounds):
        spent = dict.fromkeys(names, 0.0)
        for chunk in range(chunks):
            first = (number + chunk) % len(names)
            for name in [*names[first:], *names[:first]]:
                begin = time.perf_counter()
                contenders[name](chunk)
                spent[name] += time.perf_counter() - begin
        for name in names:
            seconds[name].append(spent[name])
    return seconds


def median_ratio(numerator: Sequence[float], denominator: Sequence[float]) -> float:
    """Median over the rounds of the ratio within a round."""
    return statistics.median(a / b for a, b in zip(numerator, denominator, strict=True))


def spread(seconds: Sequence[float]) -> str:
    """Slowest over fastest round: how noisy the machine was."""
    return f"{max(seconds) / min(seconds):.2f}"
