"""Where and how a model runs: device, precision, which windows share a call of the encoder, threads with results in order."""

from __future__ import annotations

import math
import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import TypeVar

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
        for index in sorted(range(len(lengths)), key=lambda window: -lengths[window]):
            windows = 1 + len(calls[-1]) if calls else 1
            # The first window of a call is its longest one, to which all others are padded.
            subwords = windows * lengths[calls[-1][0]] if calls else 0
            if (
                calls
                and windows <= (self.most_windows or windows)
                and subwords <= (self.max_subwords or subwords)
            ):
                calls[-1].append(index)
            else:
                calls.append([index])
        return calls

    def pools(self, documents: Iterable[Document]) -> Iterator[list[Document]]:
        """Documents in order, as many together as fill some calls."""
        most = min(MOST_POOLED, POOLED_CALLS * (self.most_windows or MOST_POOLED))
        most_words = POOLED_CALLS * self.max_subwords if self.max_subwords else math.inf
        pool: list[Document] = []
        words = 0
        for document in documents:
            pool.append(document)
            words += len(document.tokens)
            if len(pool) >= most or words >= most_words:
                yield pool
                pool, words = [], 0
        if pool:
            yield pool


SINGLE = Batching()
"""Every window by itself."""

CPU, CUDA, AUTO = "cpu", "cuda", "auto"
DEVICES = (CPU, CUDA, AUTO)


@dataclass(frozen=True, slots=True)
class RunOptions:
    """Where and how a model shall run; ``None`` leaves it open.

    Attributes:
        threads: Cores to use, all usable ones when ``None``. Documents are predicted side by side, one core each,
            which is half as fast again as all cores on one document; batches of an fp32 graph share the cores.
        precision: ``int8``, ``int4``, ``fp32`` or ``fp16``; what the device prefers of the model's graphs when ``None``.
        batch_size: Windows per call of an fp32 or fp16 graph. An int8 graph always runs one, because its output
            depends on what shares the batch.
        batch_tokens: Subwords per call of such a graph, padding counted; windows of similar length share it.
        device: ``cpu``, ``cuda``, or ``auto``: a GPU if this machine and the model's graphs allow.
    """

    threads: int | None = None
    precision: str | None = None
    batch_size: int | None = None
    batch_tokens: int | None = None
    device: str = CPU

    @property
    def batching(self) -> Batching:
        if self.batch_tokens is None:
            return Batching(self.batch_size or 1)
        return Batching(self.batch_size, self.batch_tokens)

    @property
    def records_a_call(self) -> int:
        """Records that a process of a large run is given at a time: one, or as many as fill some batches."""
        return 1 if self.device == CPU and self.batching.single else MOST_POOLED


DEFAULT_OPTIONS = RunOptions()
"""On the processor, with all usable cores and what it prefers."""


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
    source, error = iter(items), None
    pool = ThreadPoolExecutor(workers)
    try:
        while True:
            try:
                item = next(source)
            except StopIteration:
                break
            except Exception as problem:  # noqa: BLE001 - an input that fails must not hide earlier results
                error = problem
                break
            waiting.append(pool.submit(work, item))
            if len(waiting) > ITEMS_AHEAD * workers:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
    if error is not None:
        raise error


def usable_cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
