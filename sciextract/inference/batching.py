"""Which windows share a call of the encoder: similar lengths together, because a call is as long as its longest window."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

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
        most_pieces: Word pieces of a call with its padding: windows times the longest one; any number when ``None``.
    """

    most_windows: int | None = 1
    most_pieces: int | None = None

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
        return few and (self.most_pieces is None or windows * longest <= self.most_pieces)

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
        return self.most_pieces is not None and words >= POOLED_CALLS * self.most_pieces


SINGLE = Batching()
"""Every window by itself."""
