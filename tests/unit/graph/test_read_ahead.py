from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from sciextract.graph.contributions import read_ahead


def test_the_same_in_the_same_order() -> None:
    assert list(read_ahead(range(100), 3)) == list(range(100))
    assert list(read_ahead([], 3)) == []


def test_an_error_comes_after_what_came_before() -> None:
    def broken() -> Iterator[int]:
        yield 1
        raise ValueError("no more")

    items = read_ahead(broken(), 3)
    assert next(items) == 1
    with pytest.raises(ValueError, match="no more"):
        next(items)


def test_who_stops_ends_the_thread() -> None:
    ended = threading.Event()

    def endless() -> Iterator[int]:
        try:
            while True:
                yield 1
        finally:
            ended.set()

    items = read_ahead(endless(), 2)
    assert next(items) == 1
    items.close()
    assert ended.is_set()
