"""Work in threads, results in the order of the input."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Generic, TypeVar

ITEMS_AHEAD = 4
"""Items per worker that are read ahead, so that a long document does not leave the others idle."""

Item = TypeVar("Item")
Result = TypeVar("Result")


def in_order(
    work: Callable[[Item], Result], items: Iterable[Item], workers: int
) -> Iterator[Result]:
    """Results of ``work`` in input order, in constant memory.

    Args:
        work: Called in a thread; its errors are raised where its result would be.
        items: Read in the caller's thread, at most ``ITEMS_AHEAD`` per worker ahead of the last result.
            An error that they raise comes after the results of all items before it.
        workers: Threads.
    """
    waiting: deque[Future[Result]] = deque()
    pool = ThreadPoolExecutor(workers)
    reading = _Reading(items)
    try:
        for item in reading:
            waiting.append(pool.submit(work, item))
            if len(waiting) > ITEMS_AHEAD * workers:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
    if reading.error is not None:
        raise reading.error


class _Reading(Generic[Item]):
    """Items up to the first error, which is kept."""

    def __init__(self, items: Iterable[Item]) -> None:
        self.error: Exception | None = None
        self._items = items

    def __iter__(self) -> Iterator[Item]:
        try:
            yield from self._items
        except Exception as error:  # noqa: BLE001 - whatever it is, it is raised after the results
            self.error = error
