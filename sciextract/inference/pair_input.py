"""Mentions as the input of the pair heads: relations within a window, links within a document."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from sciextract.inference import pairs as pairing
from sciextract.inference.mentions import Mentions
from sciextract.inference.network import Floats, Ints, PairInput, WordStates
from sciextract.inference.pairs import NO_PAIRS

LINKS_PER_CALL = 5_000
"""Antecedent links scored in one call, so that a text of 100,000 words stays within memory."""

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


def link_inputs(
    mentions: Mentions, first: Floats, last: Floats, links: Ints, max_width: int
) -> Iterator[PairInput]:
    """Links between the mentions of a document, in calls of bounded size with the mentions that each needs.

    Args:
        mentions: What the links are between.
        first: float32 (mentions, hidden), state of each one's first word.
        last: float32 (mentions, hidden), state of its last word.
        links: (links, 2), mention and antecedent, grouped by mention.
        max_width: Most words of a predicted entity.
    """
    for start in range(0, len(links), LINKS_PER_CALL):
        chunk = links[start : start + LINKS_PER_CALL]
        low = int(chunk.min())
        part = slice(low, int(chunk.max()) + 1)
        yield _link_input(mentions.at(part), first[part], last[part], chunk - low, max_width)


def _link_input(
    mentions: Mentions, first: Floats, last: Floats, links: Ints, max_width: int
) -> PairInput:
    """Links (links, 2) between mentions with their states, without relations."""
    spans = mentions.spans
    return PairInput(
        span_first=first,
        span_last=last,
        span_width=_widths(spans, max_width),
        span_types=mentions.features,
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
