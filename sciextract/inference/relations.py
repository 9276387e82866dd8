"""From relation scores in both directions to typed, directed pairs."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from sciextract.inference.candidates import NO_PAIRS
from sciextract.inference.label_layout import RelationLayout, softmax
from sciextract.inference.mentions import Mentions, conflicts
from sciextract.inference.network import Floats, Ints
from sciextract.inference.settings import DecodeSettings, Rescue


@dataclass(frozen=True, slots=True)
class ScoredPairs:
    """Unordered pairs of spans with the probabilities of all relation classes.

    Attributes:
        pairs: int64 (pairs, 2), the earlier span first.
        probabilities: float32 (pairs, classes), read from the earlier to the later span.
    """

    pairs: Ints
    probabilities: Floats

    @classmethod
    def none(cls) -> ScoredPairs:
        """Not a single pair."""
        return cls(NO_PAIRS, np.zeros((0, 1), dtype=np.float32))

    def between(self, chosen: NDArray[np.bool_]) -> ScoredPairs:
        """The pairs whose two spans are both chosen; ``chosen`` is bool (spans,)."""
        if not len(self.pairs) or chosen.all():
            return self
        rows = np.flatnonzero(chosen[self.pairs].all(axis=1))
        return ScoredPairs(self.pairs[rows], self.probabilities[rows])


def combine_directions(
    pairs: Ints, logits: Floats, layout: RelationLayout, temperature: float
) -> ScoredPairs:
    """Averages the log-probabilities of (a, b) and of the mirrored (b, a).

    Args:
        pairs: (pairs, 2) with every mirror present, as ``relation_pairs`` makes them.
        logits: float32 (pairs, classes).
        layout: The classes.
        temperature: Divisor of the logits.
    """
    if not len(pairs):
        return ScoredPairs(pairs, logits)
    logs = np.log(softmax(logits / np.float32(temperature)) + np.float32(1e-9))
    size = int(pairs.max()) + 1
    position = np.zeros((size, size), dtype=np.int64)
    position[pairs[:, 0], pairs[:, 1]] = np.arange(len(pairs))
    forward = np.flatnonzero(pairs[:, 0] < pairs[:, 1])
    backward = position[pairs[forward, 1], pairs[forward, 0]]
    mean = (logs[forward] + logs[backward][:, layout.mirror()]) / 2
    return ScoredPairs(pairs[forward], softmax(mean))


@dataclass(frozen=True, slots=True)
class PredictedRelation:
    """A relation between two spans (indices), with its probability."""

    head: int
    tail: int
    label: str
    score: float


def directed(
    pair: tuple[int, int], relation_class: int, score: float, layout: RelationLayout
) -> PredictedRelation:
    """The relation that a non-null class of (earlier, later) means."""
    label_count = len(layout.labels)
    if relation_class <= label_count:
        return PredictedRelation(*pair, layout.labels[relation_class - 1], score)
    label = layout.directed[relation_class - 1 - label_count]
    return PredictedRelation(pair[1], pair[0], label, score)


def predict_relations(
    scored: ScoredPairs, layout: RelationLayout, threshold: float
) -> list[PredictedRelation]:
    """At most one relation per unordered pair: the best class that reaches the threshold."""
    if not len(scored.pairs):
        return []
    best = 1 + np.argmax(scored.probabilities[:, 1:], axis=1)
    scores = scored.probabilities[np.arange(len(best)), best]
    rows = np.flatnonzero(scores >= threshold)
    return [
        directed(
            (int(scored.pairs[row, 0]), int(scored.pairs[row, 1])),
            int(best[row]),
            float(scores[row]),
            layout,
        )
        for row in rows
    ]


def rescued(mentions: Mentions, pairs: ScoredPairs, settings: DecodeSettings) -> Mentions:
    """The mentions, with those predicted that a sure relation ties to a prediction.

    Entity and relation are two opinions on one thing: a span that is hardly likely as an entity by itself becomes
    likely when something is surely used for it. This is the joint inference of Roth and Yih 2004 (CoNLL, section 2)
    in its simplest form: one step, no optimisation. A rescued mention rescues no others.

    Args:
        mentions: Spans of a document, those below the threshold among them.
        pairs: Probabilities of relations between them.
        settings: Least probabilities, as the network has them, and the overlap rule.
    """
    if settings.rescue is None:
        return mentions
    predicted, scores = mentions.predicted.copy(), mentions.scores
    wanted = _tied_to_predictions(mentions, pairs, settings.rescue)
    for index in wanted[np.argsort(-scores[wanted], kind="stable")].tolist():
        overlapping = conflicts(mentions.spans, index, settings.nesting)
        predicted[index] = not (predicted & overlapping).any()
    return replace(mentions, predicted=predicted)


def _tied_to_predictions(mentions: Mentions, pairs: ScoredPairs, rescue: Rescue) -> Ints:
    """Likely enough spans with a sure relation to a prediction, in text order. Shape: (spans,)."""
    sure = pairs.probabilities[:, 1:].max(axis=1, initial=0.0) >= rescue.relation
    ends = pairs.pairs[sure]
    within = mentions.predicted[ends]
    others = ends[~within & within[:, ::-1]]
    return np.unique(others[mentions.scores[others] >= rescue.entity])
