"""Candidate spans and pairs with their features. One owner for training and inference."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from sciextract.documents.annotations import TokenRange
from sciextract.inference.decoding import Mentions
from sciextract.inference.lexical import FEATURES, MentionWords
from sciextract.inference.network import NO_PAIRS, Floats, Ints, PairInput, WordStates

FEATURE_VERSION = 2
"""Version of the span, pair and distance features; a graph only fits the features it was trained on.

2 added the lexical features of links; graphs of version 1 do not take them.
"""


def sentence_ends(sentences: tuple[TokenRange, ...], word_count: int) -> Ints:
    """Per word the index after the last word of its sentence. Shape: (words,)."""
    ends = np.full(word_count, word_count, dtype=np.int64)
    for sentence in sentences:
        ends[sentence.token_start : sentence.token_end] = sentence.token_end
    return ends


def span_mask(ends: Ints, max_width: int) -> NDArray[np.bool_]:
    """Cells (start word, width - 1) whose span stays inside its sentence. Shape: (words, max_width)."""
    last_words = np.arange(len(ends))[:, None] + np.arange(max_width)[None, :]
    return np.asarray(last_words < ends[:, None])


DISTANCE_BUCKETS = 10
"""Buckets of a distance: 0, 1, 2, 3, 4, 5-7, 8-15, 16-31, 32-63, 64+ (Lee et al. 2017, section 4)."""

RELATION_DISTANCES = 2 * DISTANCE_BUCKETS
"""Signed: tail after head first, then tail before head."""

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
    # Spans side by side have an empty range between them, not a negative one.
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


LINKS_PER_CALL = 5_000
"""Antecedent links scored in one call, so that a text of 100,000 words stays within memory."""

NO_DISTANCES = np.zeros(0, dtype=np.int64)
# The last fields of a PairInput where there is nothing to relate, or to link.
_NO_RELATIONS = (NO_PAIRS, NO_PAIRS, NO_DISTANCES)
_NO_LINKS = (NO_PAIRS, NO_DISTANCES, np.zeros((0, len(FEATURES)), dtype=np.float32))


def relation_input(
    states: WordStates, mentions: Mentions, pairs: Ints, max_width: int
) -> PairInput:
    """Pairs (pairs, 2) of the mentions of one window, without links."""
    spans = mentions.spans
    ends = (states.first[spans[:, 0]], states.last[spans[:, 1]], _widths(spans, max_width))
    found = (pairs, between_words(spans, pairs), relation_distances(spans, pairs))
    return PairInput(*ends, mentions.types, states.last, *found, *_NO_LINKS)


def link_inputs(
    mentions: Mentions,
    first: Floats,
    last: Floats,
    links: Ints,
    max_width: int,
    words: MentionWords,
) -> Iterator[PairInput]:
    """Links between the mentions of a document, in calls of bounded size with the mentions that each needs.

    Args:
        mentions: What the links are between.
        first: float32 (mentions, hidden), state of each one's first word.
        last: float32 (mentions, hidden), state of its last word.
        links: (links, 2), mention and antecedent, grouped by mention.
        max_width: Most words of a predicted entity.
        words: The words of the mentions.
    """
    for start in range(0, len(links), LINKS_PER_CALL):
        chunk = links[start : start + LINKS_PER_CALL]
        # Links are grouped by mention, so that a call needs one run of mentions.
        low = int(chunk.min())
        part = slice(low, int(chunk.max()) + 1)
        own, here = mentions.at(part), chunk - low
        ends = (first[part], last[part], _widths(own.spans, max_width))
        found = (here, antecedent_distances(own.spans, here), words.features(chunk))
        yield PairInput(*ends, own.types, last[part], *_NO_RELATIONS, *found)


def _widths(spans: Ints, max_width: int) -> Ints:
    """Words of each span less one; given entities wider than any predicted one count as the widest."""
    return np.asarray(np.minimum(spans[:, 1] - spans[:, 0], max_width - 1), dtype=np.int64)
