"""Which windows share a call of the encoder, how many cores there are, and threads with results in order."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from itertools import islice
from typing import Generic, TypeVar

from sciextract.documents.document import Document

POOLED_CALLS = 8
"""Calls that documents are collected for; among more of them lengths are more alike, and the first result comes later."""

MOST_POOLED = 2_000
"""Documents collected at most, however short they are."""


@dataclass(frozen=True, slots=True)
class Batching:
    """How large a call may be. A call has one window at least, however long that is.

    Attributes:
        most_windows: Windows of a call; any number when ``None``.
        max_subwords: Subwords of a call with its padding: windows times the longest one; any number when ``None``.
    """

    most_windows: int | None = 1
    max_subwords: int | None = None

    @property
    def single(self) -> bool:
        """Whether every window has a call of its own."""
        return self.most_windows == 1

    def calls(self, lengths: Sequence[int]) -> list[list[int]]:
        """Indices of the windows of each call, the longest first.

        >>> Batching(None, 100).calls([10, 90, 45, 50, 9])
        [[1], [3, 2], [0, 4]]
        """
        if self.single:
            return [[index] for index in range(len(lengths))]
        calls: list[list[int]] = []
        for index in sorted(range(len(lengths)), key=lambda each: -lengths[each]):
            if calls and self._fits(1 + len(calls[-1]), lengths[calls[-1][0]]):
                calls[-1].append(index)
            else:
                calls.append([index])
        return calls

    def _fits(self, windows: int, longest: int) -> bool:
        few = self.most_windows is None or windows <= self.most_windows
        return few and (self.max_subwords is None or windows * longest <= self.max_subwords)

    def pools(self, documents: Iterable[Document]) -> Iterator[list[Document]]:
        """Documents in order, as many together as fill some calls."""
        source = iter(documents)
        most = min(MOST_POOLED, POOLED_CALLS * (self.most_windows or MOST_POOLED))
        while first := list(islice(source, 1)):
            pool, words = first, len(first[0].tokens)
            while (
                len(pool) < most and not self._filled(words) and (more := list(islice(source, 1)))
            ):
                pool += more
                words += len(more[0].tokens)
            yield pool

    def _filled(self, words: int) -> bool:
        return self.max_subwords is not None and words >= POOLED_CALLS * self.max_subwords


SINGLE = Batching()
"""Every window by itself."""


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


def usable_cores() -> int:
    """Cores this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
