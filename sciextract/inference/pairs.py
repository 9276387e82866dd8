"""Pair enumeration and the distance features of pairs. One owner for training and inference."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]

DISTANCE_BUCKETS = 10
"""Buckets of a distance: 0, 1, 2, 3, 4, 5-7, 8-15, 16-31, 32-63, 64+ (Lee et al. 2017, section 4)."""

RELATION_DISTANCES = 2 * DISTANCE_BUCKETS
"""Signed: tail after head first, then tail before head."""

NO_PAIRS: Ints = np.zeros((0, 2), dtype=np.int64)

_EDGES = np.array([1, 2, 3, 4, 5, 8, 16, 32, 64])


def bucket(distances: Ints) -> Ints:
    """Bucket index of each non-negative distance, elementwise."""
    return np.searchsorted(_EDGES, distances, side="right").astype(np.int64)


def relation_pairs(spans: Ints, sentences: Ints) -> Ints:
    """Ordered pairs of spans of one sentence that do not overlap.

    Args:
        spans: (spans, 2) first and last word, inclusive.
        sentences: (spans,) sentence index of each span.

    Returns:
        (pairs, 2) indices of head and tail; for each pair its mirror is present too.
    """
    same = sentences[:, None] == sentences[None, :]
    apart = (spans[:, None, 1] < spans[None, :, 0]) | (spans[None, :, 1] < spans[:, None, 0])
    return np.argwhere(same & apart)


def relation_distances(spans: Ints, pairs: Ints) -> Ints:
    """Signed bucket of the words between head and tail. Shape: (pairs,)."""
    heads, tails = spans[pairs[:, 0]], spans[pairs[:, 1]]
    after = tails[:, 0] > heads[:, 1]
    gap = np.where(after, tails[:, 0] - heads[:, 1], heads[:, 0] - tails[:, 1]) - 1
    return bucket(np.maximum(gap, 0)) + np.where(after, 0, DISTANCE_BUCKETS)


def between_words(spans: Ints, pairs: Ints) -> Ints:
    """Words between the two spans of each pair as [start, end). Shape: (pairs, 2)."""
    heads, tails = spans[pairs[:, 0]], spans[pairs[:, 1]]
    start = np.minimum(heads[:, 1], tails[:, 1]) + 1
    end = np.maximum(heads[:, 0], tails[:, 0])
    return np.stack([start, np.maximum(start, end)], axis=1)


def antecedent_pairs(count: int, max_antecedents: int) -> Ints:
    """Pairs (mention, earlier mention) of ``count`` mentions in text order, nearest ones only.

    Returns:
        (pairs, 2), grouped by mention, antecedents ascending.
    """
    counts = np.minimum(np.arange(count), max_antecedents)
    mentions = np.repeat(np.arange(count), counts)
    begins = np.cumsum(counts) - counts  # where each mention's links start
    nearest = np.arange(count) - counts
    antecedents = np.arange(len(mentions)) - np.repeat(begins - nearest, counts)
    return np.stack([mentions, antecedents], axis=1).astype(np.int64)


def antecedent_distances(spans: Ints, pairs: Ints) -> Ints:
    """Bucket of the words from antecedent to mention. Shape: (pairs,)."""
    return bucket(np.maximum(spans[pairs[:, 0], 0] - spans[pairs[:, 1], 1], 0))
