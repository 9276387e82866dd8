"""Hostile texts: work grows linearly, and the table stays sound."""

from __future__ import annotations

import time

import pytest

from sciextract.text.analyse import analyse

UNITS = [
    *[
        "a",
        ".",
        "(",
        "a-",
        "1,",
        "http://",
        "a'",
        "N,",
        "10.1234/",
        "a.B",
        "²",
        "\n",
        "[1]",
        ". ",
        "a\n",
    ],
    *["A b. ", ". [1 ", "AA ", ". ( ", '. "', "(a. ", "x\n\n", ".1,1", ")."],
]
GROWTH = 20
LARGEST_RATIO = 120
"""Between linear (20) and quadratic growth (400), six times the one and less than a third of the other."""
ATTEMPTS = 5


@pytest.mark.parametrize("unit", UNITS)
def test_work_grows_linearly(unit: str) -> None:
    """Twenty times the length costs about twenty times the work, never its square.

    Work is the processor time of this thread: waiting for a busy machine is not part of it. What load
    still adds (cold caches, a slow clock) differs between attempts, while quadratic growth fails them all.
    """
    short, long = (unit * (length // len(unit)) for length in (5_000, 5_000 * GROWTH))
    ratios: list[float] = []
    while len(ratios) < ATTEMPTS and min(ratios, default=LARGEST_RATIO) >= LARGEST_RATIO:
        ratios.append(_work(long) / max(_work(short), 2e-4))
    assert min(ratios) < LARGEST_RATIO


def test_a_hundred_thousand_words() -> None:
    text = "word " * 100_000
    table = analyse(text)
    assert len(table) == 100_000
    assert table.problems(len(text)) == []


def _work(text: str) -> float:
    """Seconds of processor time that this thread spends on one analysis."""
    begin = time.thread_time()
    analyse(text)
    return time.thread_time() - begin
