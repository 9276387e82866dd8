"""From the scores of a network to predictions: its classes, mentions, then relations and clusters between them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from sciextract.inference.network import NO_PAIRS, Floats, Ints
from sciextract.inference.settings import DecodeSettings


@dataclass(frozen=True, slots=True)
class RelationLayout:
    """Which class index means which label in which direction. Class 0 is "no relation".

    Attributes:
        labels: Relation labels; label ``k`` is class ``k + 1`` from head to tail.
        symmetric: The labels without direction.
    """

    labels: tuple[str, ...]
    symmetric: frozenset[str]

    @property
    def directed(self) -> tuple[str, ...]:
        """Labels that have an inverse class, in the order of their inverse classes."""
        return tuple(label for label in self.labels if label not in self.symmetric)

    @property
    def class_count(self) -> int:
        """Number of classes of the head: 1 + labels + directed labels."""
        return 1 + len(self.labels) + len(self.directed)

    def mirror(self) -> NDArray[np.int64]:
        """Permutation (classes,) that maps the class of (a, b) to the class of (b, a)."""
        mirrored = np.arange(self.class_count)
        for offset, label in enumerate(self.directed):
            forward = 1 + self.labels.index(label)
            inverse = 1 + len(self.labels) + offset
            mirrored[forward], mirrored[inverse] = inverse, forward
        return mirrored

    def forward_class(self, label: str) -> int:
        """Class index of a label read from head to tail.

        Raises:
            ValueError: The layout does not know the label.
        """
        return 1 + self.labels.index(label)


Columns = tuple[tuple[int, ...], ...]
"""Per group the classes of its labels; class 0, "no entity", belongs to all. Empty: one softmax over everything."""


def softmax(logits: Floats) -> Floats:
    """Probabilities along the last axis."""
    shifted = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return np.asarray(shifted / shifted.sum(axis=-1, keepdims=True))


def columns_of(labels: tuple[str, ...], groups: tuple[tuple[str, ...], ...]) -> Columns:
    """The classes of groups of labels; label ``k`` is class ``k + 1``.

    Raises:
        ValueError: A group names an unknown label, or a label is not in exactly one group.
    """
    if not groups:
        return ()
    if sorted([label for group in groups for label in group]) != sorted(labels):
        raise ValueError(f"the groups {groups} do not hold each of {labels} once")
    return tuple(tuple(1 + labels.index(label) for label in group) for group in groups)


def without_classes(logits: Floats, classes: Sequence[int]) -> Floats:
    """The logits of a model without some of its labels: what those had goes to the others and to "no entity".

    >>> softmax(without_classes(np.zeros((1, 3), dtype=np.float32), [2])).tolist()
    [[0.5, 0.5, 0.0]]
    """
    if not classes:
        return logits
    kept = logits.copy()
    kept[..., list(classes)] = -np.inf
    return kept


def type_probabilities(logits: Floats, groups: Columns) -> Floats:
    """Probabilities of the labels along the last axis, class 0 being "no entity".

    With groups a label's probability is that within its group, and "no entity" has what the surest group leaves,
    so that a row may sum to more than 1.

    >>> type_probabilities(np.zeros((1, 3), dtype=np.float32), ((1,), (2,))).tolist()
    [[0.5, 0.5, 0.5]]
    """
    if not groups:
        return softmax(logits)
    probabilities = np.empty_like(logits)
    none = np.ones(logits.shape[:-1], dtype=logits.dtype)
    for classes in groups:
        within = softmax(logits[..., [0, *classes]])
        probabilities[..., list(classes)] = within[..., 1:]
        none = np.minimum(none, within[..., 0])
    probabilities[..., 0] = none
    return probabilities


MOST_CANDIDATES_PER_WORD = 0.5


@dataclass(frozen=True, slots=True)
class Mentions:
    """Spans in text order with their label probabilities.

    Attributes:
        spans: int64 (spans, 2), first and last word, inclusive.
        types: float32 (spans, 1 + labels), probabilities, class 0 is "no entity".
        predicted: bool (spans,), whether the span is a prediction; the others are candidates.
    """

    spans: Ints
    types: Floats
    predicted: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.spans)

    def at(self, rows: Ints | slice) -> Mentions:
        """Some of the mentions."""
        return Mentions(self.spans[rows], self.types[rows], self.predicted[rows])

    @property
    def labels(self) -> Ints:
        """Index of the best entity label of each span (0-based, "no entity" left out)."""
        return np.asarray(np.argmax(self.types[:, 1:], axis=1))

    @property
    def scores(self) -> Floats:
        """Probability of the best entity label of each span."""
        return np.asarray(self.types[:, 1:].max(axis=1, initial=0.0))


def select_mentions(
    span_logits: Floats, allowed: NDArray[np.bool_], settings: DecodeSettings, groups: Columns = ()
) -> Mentions:
    """The predicted spans, those that a relation may rescue, and with ``settings.candidates`` the candidates.

    Args:
        span_logits: float32 (words, max width, 1 + labels).
        allowed: bool (words, max width), cells that are spans of interest.
        settings: Threshold and overlap rule, for probabilities as the network has them.
        groups: Classes that exclude each other; all do when there are no groups.
    """
    rescue = settings.rescue
    floor = min(
        settings.thresholds.entity,
        settings.candidate_score if settings.candidates else 1.0,
        rescue.entity if rescue else 1.0,
    )
    if floor > 0:
        # The best label must beat "no entity" by enough to have the probability ``floor``; the other labels can
        # only lower it, so that nothing is lost, and few cells are left for the softmax.
        bounded = min(floor, 0.999)
        margin = np.log(bounded / (1 - bounded)) - 1e-3  # the tolerance of float32
        best = np.full(span_logits.shape[:2], -np.inf, dtype=np.float32)
        for label_class in range(1, span_logits.shape[2]):
            # Ten times as fast as max over a short axis.
            np.maximum(best, span_logits[:, :, label_class], out=best)
        allowed = allowed & (best - span_logits[:, :, 0] >= margin)
    starts, widths = np.nonzero(allowed)
    types = type_probabilities(span_logits[starts, widths], groups)
    likely = np.flatnonzero(types[:, 1:].max(axis=1, initial=0.0) >= floor)
    spans = np.stack([starts[likely], starts[likely] + widths[likely]], axis=1).astype(np.int64)
    predicted = np.zeros(len(likely), dtype=np.bool_)
    mentions = Mentions(spans, types[likely], predicted)
    # Of overlapping spans the best one is predicted; of equal ones the first, whatever the sort does.
    scores, free = mentions.scores, np.ones(len(likely), dtype=np.bool_)
    order = np.argsort(-scores, kind="stable")
    for index in order[: int((scores >= settings.thresholds.entity).sum())].tolist():
        if free[index]:
            predicted[index] = True
            free &= ~conflicts(spans, index, settings.nesting)
    kept = predicted.copy()
    if rescue:
        kept |= free & (scores >= rescue.entity)
    if settings.candidates:
        # Bounded, because a floor of 0.05 lets hundreds of spans of a long text through.
        kept[order[: max(16, int(len(span_logits) * MOST_CANDIDATES_PER_WORD))]] = True
    return mentions.at(np.flatnonzero(kept))


def conflicts(spans: Ints, index: int, nesting: bool) -> NDArray[np.bool_]:
    """Which spans may not stand next to the one at ``index``."""
    first, last = spans[index]
    overlap = (spans[:, 0] <= last) & (spans[:, 1] >= first)
    if nesting:
        inside = (spans[:, 0] >= first) & (spans[:, 1] <= last)
        around = (spans[:, 0] <= first) & (spans[:, 1] >= last)
        same = inside & around
        overlap &= ~(inside | around) | same
    return np.asarray(overlap)


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


def combine_directions(pairs: Ints, logits: Floats, layout: RelationLayout) -> ScoredPairs:
    """Averages the log-probabilities of (a, b) and of the mirrored (b, a).

    Args:
        pairs: (pairs, 2) with every mirror present, as ``relation_pairs`` makes them.
        logits: float32 (pairs, classes).
        layout: The classes.
    """
    if not len(pairs):
        return ScoredPairs(pairs, logits)
    # A probability that is 0 in float32 has no logarithm.
    logs = np.log(softmax(logits) + np.float32(1e-9))
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


def direct_relation(
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
    relations = []
    for row in np.flatnonzero(scores >= threshold).tolist():
        earlier, later = scored.pairs[row].tolist()
        relations.append(
            direct_relation((earlier, later), int(best[row]), float(scores[row]), layout)
        )
    return relations


def rescue_mentions(mentions: Mentions, pairs: ScoredPairs, settings: DecodeSettings) -> Mentions:
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
    sure = pairs.probabilities[:, 1:].max(axis=1, initial=0.0) >= settings.rescue.relation
    ends = pairs.pairs[sure]
    within = mentions.predicted[ends]
    # The end that is no prediction, where the other one is.
    others = ends[~within & within[:, ::-1]]
    wanted = np.unique(others[scores[others] >= settings.rescue.entity])
    for index in wanted[np.argsort(-scores[wanted], kind="stable")].tolist():
        overlapping = conflicts(mentions.spans, index, settings.nesting)
        predicted[index] = not (predicted & overlapping).any()
    return replace(mentions, predicted=predicted)


@dataclass(frozen=True, slots=True)
class AntecedentScores:
    """Probabilities of the antecedents of each mention.

    Attributes:
        links: int64 (links, 2), mention and antecedent, grouped by mention.
        probabilities: float32 (links,); per mention they sum to 1 minus "no antecedent".
    """

    links: Ints
    probabilities: Floats

    @classmethod
    def none(cls) -> AntecedentScores:
        """Not a single link."""
        return cls(NO_PAIRS, np.zeros(0, dtype=np.float32))

    def renumbered(self, rows: Ints) -> AntecedentScores:
        """The same links when mention ``k`` is called ``rows[k]``."""
        return AntecedentScores(rows[self.links], self.probabilities)


def antecedent_probabilities(links: Ints, scores: Floats, count: int) -> AntecedentScores:
    """Softmax over the antecedents of each mention and the dummy, which scores 0 (Lee et al. 2017).

    Args:
        links: (links, 2), grouped by mention.
        scores: float32 (links,).
        count: Number of mentions.
    """
    # At least 0, the score of the dummy, so that no exponential overflows.
    peaks = np.zeros(count, dtype=np.float32)
    np.maximum.at(peaks, links[:, 0], scores)
    weights = np.exp(scores - peaks[links[:, 0]])
    totals = np.exp(-peaks) + np.bincount(links[:, 0], weights=weights, minlength=count)
    probabilities = weights / totals[links[:, 0]]
    return AntecedentScores(links, probabilities.astype(np.float32))


@dataclass(frozen=True, slots=True)
class PredictedCluster:
    """Mentions (indices in text order) with the probability of each one's best link."""

    mentions: tuple[int, ...]
    scores: tuple[float, ...]

    def renumbered(self, rows: Ints) -> PredictedCluster:
        """The same cluster when mention ``k`` is called ``rows[k]``."""
        return PredictedCluster(tuple(int(rows[mention]) for mention in self.mentions), self.scores)


def predict_clusters(
    scored: AntecedentScores, count: int, threshold: float
) -> list[PredictedCluster]:
    """Links each mention to its best antecedent if having one reaches the threshold; no singletons."""
    mass = np.bincount(scored.links[:, 0], weights=scored.probabilities, minlength=count)
    bounds = np.searchsorted(scored.links[:, 0], np.arange(count + 1))
    clusters = [[mention] for mention in range(count)]
    link_score = np.zeros(count)
    linked = (mass >= threshold) & (np.diff(bounds) > 0)
    # In text order, so that the cluster of an antecedent is known when a mention joins it.
    for mention in np.flatnonzero(linked).tolist():
        start, end = bounds[mention], bounds[mention + 1]
        best = start + int(np.argmax(scored.probabilities[start:end]))
        antecedent = int(scored.links[best, 1])
        clusters[mention] = clusters[antecedent]
        clusters[mention].append(mention)
        link_score[mention] = mass[mention]
        link_score[antecedent] = max(link_score[antecedent], mass[mention])
    return [
        PredictedCluster(tuple(members), tuple(min(1.0, float(link_score[m])) for m in members))
        for number, members in enumerate(clusters)
        if len(members) > 1 and members[0] == number
    ]
