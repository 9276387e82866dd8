"""Hostile texts: time grows linearly, and the table stays sound."""

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


@pytest.mark.parametrize("unit", UNITS)
def test_time_grows_linearly(unit: str) -> None:
    """20 times the length: quadratic growth would cost 400 times as much."""
    short, long = (unit * (length // len(unit)) for length in (5_000, 100_000))
    assert _seconds(long) < 120 * max(_seconds(short), 1e-3)


def test_a_hundred_thousand_words() -> None:
    text = "word " * 100_000
    table = analyse(text)
    assert len(table) == 100_000
    assert table.problems(len(text)) == []


def _seconds(text: str) -> float:
    begin = time.perf_counter()
    analyse(text)
    return time.perf_counter() - begin
