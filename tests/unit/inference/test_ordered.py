"""Threads keep the order, read little ahead and pass errors on."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from sciextract.inference.batching import ITEMS_AHEAD, in_order


def test_order_is_kept_when_later_items_finish_first() -> None:
    second_done = threading.Event()

    def work(item: int) -> int:
        if item == 0:
            assert second_done.wait(10)
        if item == 1:
            second_done.set()
        return item * 10

    assert list(in_order(work, range(6), 2)) == [0, 10, 20, 30, 40, 50]


def test_items_are_read_only_a_little_ahead() -> None:
    taken = 0

    def items() -> Iterator[int]:
        nonlocal taken
        for item in range(100):
            taken += 1
            yield item

    results = in_order(lambda item: item, items(), 3)
    for _ in range(10):
        next(results)
    assert taken <= 10 + 3 * ITEMS_AHEAD
    results.close()  # type: ignore[attr-defined]


def test_an_error_comes_where_its_result_would() -> None:
    results = in_order(lambda item: 1 // item, [2, 1, 0, 5], 2)
    assert [next(results), next(results)] == [0, 1]
    with pytest.raises(ZeroDivisionError):
        next(results)


def test_what_was_read_before_the_reader_failed_comes_first() -> None:
    def items() -> Iterator[int]:
        yield from (1, 2, 3)
        raise ValueError("line 4")

    results = in_order(str, items(), 2)
    assert [next(results) for _ in range(3)] == ["1", "2", "3"]
    with pytest.raises(ValueError, match="line 4"):
        next(results)


def test_nothing_in_nothing_out() -> None:
    assert list(in_order(str, [], 2)) == []
