"""The heads that predict relations and coreference between mentions."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sciextract.inference.adapter.head import Head
from sciextract.inference.adapter.spans import Words
from sciextract.inference.candidates import (
    DISTANCE_BUCKETS,
    antecedent_distances,
    between_words,
    bucket,
    relation_input,
    relation_pairs,
)
from sciextract.inference.decoding import (
    Mentions,
    RelationLayout,
    ScoredPairs,
    combine_directions,
    softmax,
    type_probabilities,
)
from sciextract.inference.lexical import FEATURES, MentionWords
from sciextract.inference.network import Floats, Ints, WordStates
from sciextract.inference.pipeline import Pipeline

_LEAST_PROBABILITY = 1e-4
_WORD_BUCKETS = 96
_MOST_BETWEEN = 12
"""Words between two mentions that are looked at; more are as good as none."""

PAIR_ROLES = 3


@dataclass(frozen=True, slots=True)
class MentionStates:
    """Mentions of a document as the bundled model's pair graph takes them.

    Attributes:
        words: The document.
        mentions: The mentions with the label probabilities of the bundled model.
        states: The states of the words, in float32.
    """

    words: Words
    mentions: Mentions
    states: WordStates

    @classmethod
    def of(cls, words: Words, spans: Ints, pipeline: Pipeline) -> MentionStates:
        """Mentions at spans (mentions, 2), first and last word inclusive, in text order."""
        encoded = words.encoded
        logits = encoded.span_logits.astype(np.float32)
        states = WordStates(
            encoded.first.astype(np.float32), encoded.last.astype(np.float32), logits
        )
        types = np.zeros((len(spans), 1 + len(pipeline.labels.entities)), np.float32)
        types[:, 0] = 1
        width = spans[:, 1] - spans[:, 0]
        rows = np.flatnonzero(width < logits.shape[1])
        if len(rows):
            own = logits[spans[rows, 0], width[rows]]
            types[rows] = type_probabilities(own, pipeline.labels.group_columns)
        return cls(words, Mentions(spans, types, np.ones(len(spans), np.bool_)), states)

    def base_relations(self, pairs: Ints, pipeline: Pipeline) -> ScoredPairs:
        """What the bundled model says of unordered pairs; ``pairs`` has every mirror."""
        layout, width = pipeline.labels.relations, pipeline.labels.max_span_width
        if not layout.labels:
            forward = pairs[pairs[:, 0] < pairs[:, 1]]
            return ScoredPairs(forward, np.ones((len(forward), 1), np.float32))
        scores = pipeline.network.score_pairs(
            relation_input(self.states, self.mentions, pairs, width)
        )
        return combine_directions(pairs, scores.relation_logits, layout)

    def base_links(self, links: Ints, pipeline: Pipeline) -> Floats:
        """Antecedent scores of the bundled model; -2 where it does not link. Shape: (links,)."""
        if not pipeline.labels.coreference or not len(links):
            return np.full(len(links), -2, np.float32)
        first = self.states.first[self.mentions.spans[:, 0]]
        last = self.states.last[self.mentions.spans[:, 1]]
        return pipeline.link_scores(self.mentions, first, last, links, self.words.document)


@dataclass(frozen=True, slots=True)
class RelationModel:
    """A trained relation head; its classes are those of the layout, read from the earlier to the later mention.

    Attributes:
        head: The head.
        layout: Its classes.
        entity_labels: The labels of mentions.
        projection: float32 (hidden, components), of states.
    """

    head: Head
    layout: RelationLayout
    entity_labels: tuple[str, ...]
    projection: Floats

    def score(self, found: MentionStates, labels: Sequence[str], pipeline: Pipeline) -> ScoredPairs:
        """Probabilities of all pairs of mentions in one sentence; ``labels`` are those of the mentions."""
        pairs = sentence_pairs(found)
        if not self.layout.labels or not len(pairs):
            return ScoredPairs.none()
        base = found.base_relations(pairs, pipeline)
        narrow = relation_features(found, base, labels, self.entity_labels)
        logits = self.head.logits(relation_states(found, base.pairs, self.projection), narrow)
        return ScoredPairs(base.pairs, softmax(logits))


def sentence_pairs(found: MentionStates) -> Ints:
    """The ordered pairs of mentions that stand in one sentence. Shape: (pairs, 2)."""
    spans = found.mentions.spans
    return relation_pairs(spans, found.words.ends[spans[:, 0]])


def relation_states(found: MentionStates, pairs: Ints, projection: Floats) -> Floats:
    """Projected states of both mentions and the mean of the words between. Shape: (pairs, 3 * components)."""
    spans, states = found.mentions.spans, found.states
    mention = (states.first[spans[:, 0]] + states.last[spans[:, 1]]) / 2 @ projection
    words = states.last @ projection
    sums = np.pad(np.cumsum(words, axis=0, dtype=np.float32), ((1, 0), (0, 0)))
    between = between_words(spans, pairs)
    count = np.maximum(between[:, 1] - between[:, 0], 1)[:, None].astype(np.float32)
    mean = (sums[between[:, 1]] - sums[between[:, 0]]) / count
    return np.concatenate([mention[pairs[:, 0]], mention[pairs[:, 1]], mean], axis=1)


def relation_features(
    found: MentionStates, base: ScoredPairs, labels: Sequence[str], known: Sequence[str]
) -> Floats:
    """Scores of the bundled model, labels of both mentions, distance, words between."""
    pairs = base.pairs
    types = np.array([1 + known.index(label) if label else 0 for label in labels], np.int64)
    classes = 1 + len(known)
    both = types[pairs[:, 0]] * classes + types[pairs[:, 1]]
    between = between_words(found.mentions.spans, pairs)
    length = between[:, 1] - between[:, 0]
    bag = np.zeros((len(pairs), _WORD_BUCKETS), np.float32)
    for row, (start, end) in enumerate(between.tolist()):
        for stem in found.words.stems[start : min(end, start + _MOST_BETWEEN)]:
            bag[row, zlib.crc32(stem.encode("utf-8", "replace")) % _WORD_BUCKETS] = 1
    return np.concatenate(
        [
            np.log(np.maximum(base.probabilities, _LEAST_PROBABILITY)),
            np.ones((len(pairs), 1), np.float32),
            np.eye(classes * classes, dtype=np.float32)[both],
            np.eye(DISTANCE_BUCKETS, dtype=np.float32)[bucket(length)],
            bag,
        ],
        axis=1,
    )


def first_relation_weights(
    layout: RelationLayout, base: RelationLayout, entity_labels: int
) -> Floats:
    """Scores of labels that the bundled model knows count once; without any a pair is not a relation."""
    of_model = np.zeros((base.class_count if base.labels else 1, layout.class_count), np.float32)
    known = [label for label in layout.labels if label in base.labels]
    for label in known:
        old, new = base.forward_class(label), layout.forward_class(label)
        of_model[old, new] = 1
        of_model[base.mirror()[old], layout.mirror()[new]] = 1
    if known:
        of_model[0, 0] = 1
    bias = np.zeros((1, layout.class_count), np.float32)
    if known:
        rest = [layout.forward_class(label) for label in layout.labels if label not in known]
        bias[0, [*rest, *layout.mirror()[rest]]] = -6
    else:
        bias[0, 0] = 3
    others = (1 + entity_labels) ** 2 + DISTANCE_BUCKETS + _WORD_BUCKETS
    return np.concatenate([of_model, bias, np.zeros((others, layout.class_count), np.float32)])


@dataclass(frozen=True, slots=True)
class LinkModel:
    """What lexical features and distance add to the antecedent scores of the bundled model.

    Attributes:
        weights: float32 (1 + lexical features + distance buckets,); the first one is that of the bundled score.
    """

    weights: Floats

    def scores(self, found: MentionStates, links: Ints, pipeline: Pipeline) -> Floats:
        """Antecedent scores; "no antecedent" has 0. Shape: (links,)."""
        if np.array_equal(self.weights, first_link_weights()):
            return found.base_links(links, pipeline)  # half of the time of links goes into features
        return np.asarray(link_features(found, links, pipeline) @ self.weights)


def first_link_weights() -> Floats:
    """Weights with which links have the scores of the bundled model."""
    first = np.zeros(1 + len(FEATURES) + DISTANCE_BUCKETS, np.float32)
    first[0] = 1
    return first


def link_features(found: MentionStates, links: Ints, pipeline: Pipeline) -> Floats:
    """The base's score of each link, lexical features and distance. Shape: (links, features)."""
    document, spans = found.words.document, found.mentions.spans
    words = MentionWords.of(document.tokens.slices(document.text), spans, found.words.ends)
    distances = np.eye(DISTANCE_BUCKETS, dtype=np.float32)[antecedent_distances(spans, links)]
    base = found.base_links(links, pipeline)[:, None]
    return np.concatenate([base, words.features(links), distances], axis=1)
