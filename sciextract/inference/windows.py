"""Sliding windows for texts beyond the encoder's limit."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sciextract.documents.spans import TokenRange

CONTEXT_SHARE = 4
"""A window gives up to a quarter of its pieces to context on each side."""


@dataclass(frozen=True, slots=True)
class Window:
    """Words the encoder sees, and the part of them whose predictions are kept."""

    seen: TokenRange
    kept: TokenRange

    @property
    def kept_rows(self) -> slice:
        """The kept words, counted from the first one that the encoder sees."""
        first = self.seen.token_start
        return slice(self.kept.token_start - first, self.kept.token_end - first)


def plan_windows(
    piece_counts: NDArray[np.int64], sentences: tuple[TokenRange, ...], limit: int
) -> list[Window]:
    """Windows whose kept parts cover all words once, cut between sentences where possible.

    Args:
        piece_counts: (words,) pieces of each word, each at most ``limit // 2``.
        sentences: Token ranges that cover all words.
        limit: Most pieces a window may hold, special tokens not counted.
    """
    total = int(piece_counts.sum())
    if total <= limit:
        whole = TokenRange(0, len(piece_counts))
        return [Window(whole, whole)] if len(whole) else []
    ends = np.concatenate([[0], np.cumsum(piece_counts)])
    context = limit // CONTEXT_SHARE
    chunks = _chunks(ends, sentences, limit - 2 * context)
    return [Window(_widened(ends, chunk, context), chunk) for chunk in chunks]


def _chunks(
    ends: NDArray[np.int64], sentences: tuple[TokenRange, ...], room: int
) -> Iterator[TokenRange]:
    """Runs of whole sentences with at most ``room`` pieces; longer sentences are cut between words."""
    start = end = 0
    for piece in _short_ranges(ends, sentences, room):
        if end > start and ends[piece.token_end] - ends[start] > room:
            yield TokenRange(start, end)
            start = end
        end = piece.token_end
    if end > start:
        yield TokenRange(start, end)


def _short_ranges(
    ends: NDArray[np.int64], sentences: tuple[TokenRange, ...], room: int
) -> Iterator[TokenRange]:
    for sentence in sentences:
        start = sentence.token_start
        while ends[sentence.token_end] - ends[start] > room:
            cut = int(np.searchsorted(ends, ends[start] + room, side="right")) - 1
            cut = max(cut, start + 1)
            yield TokenRange(start, cut)
            start = cut
        if start < sentence.token_end:
            yield TokenRange(start, sentence.token_end)


def _widened(ends: NDArray[np.int64], chunk: TokenRange, context: int) -> TokenRange:
    left = int(np.searchsorted(ends, ends[chunk.token_start] - context, side="left"))
    right = int(np.searchsorted(ends, ends[chunk.token_end] + context, side="right")) - 1
    return TokenRange(min(left, chunk.token_start), max(right, chunk.token_end))
