"""Mentions as the input of the pair heads: relations within a window, links within a document."""

from __future__ import annotations

import numpy as np

from sciextract.inference import pairs as pairing
from sciextract.inference.mentions import Mentions
from sciextract.inference.network import Floats, Ints, PairInput, WordStates

NO_PAIRS = np.zeros((0, 2), dtype=np.int64)
NO_DISTANCES = np.zeros(0, dtype=np.int64)


def relation_input(
    states: WordStates, mentions: Mentions, pairs: Ints, max_width: int
) -> PairInput:
    """Pairs (pairs, 2) of the mentions of one window, without links."""
    spans = mentions.spans
    return PairInput(
        span_first=states.first[spans[:, 0]],
        span_last=states.last[spans[:, 1]],
        span_width=_widths(spans, max_width),
        span_types=mentions.features,
        words=states.last,
        relation_pairs=pairs,
        relation_between=pairing.between_words(spans, pairs),
        relation_distance=pairing.relation_distances(spans, pairs),
        link_pairs=NO_PAIRS,
        link_distance=NO_DISTANCES,
    )


def link_input(
    spans: Ints, first: Floats, last: Floats, types: Floats, links: Ints, max_width: int
) -> PairInput:
    """Links (links, 2) between spans of a document with their states, without relations."""
    return PairInput(
        span_first=first,
        span_last=last,
        span_width=_widths(spans, max_width),
        span_types=types,
        words=last,
        relation_pairs=NO_PAIRS,
        relation_between=NO_PAIRS,
        relation_distance=NO_DISTANCES,
        link_pairs=links,
        link_distance=pairing.antecedent_distances(spans, links),
    )


def _widths(spans: Ints, max_width: int) -> Ints:
    """Words of each span less one; given entities wider than any predicted one count as the widest."""
    return np.asarray(np.minimum(spans[:, 1] - spans[:, 0], max_width - 1), dtype=np.int64)
