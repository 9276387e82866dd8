"""The heads that predict relations and coreference between mentions."""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from sciextract.documents.annotations import Layer
from sciextract.inference.candidates import (
    DISTANCE_BUCKETS,
    antecedent_distances,
    antecedent_pairs,
    between_words,
    bucket,
    relation_input,
    relation_pairs,
)
from sciextract.inference.label_layout import RelationLayout, softmax, type_probabilities
from sciextract.inference.lexical import FEATURES, MentionWords
from sciextract.inference.mentions import Mentions
from sciextract.inference.network import Floats, Ints, WordStates
from sciextract.inference.pipeline import Pipeline
from sciextract.inference.relations import ScoredPairs, combine_directions
from sciextract.learning.entities import Supervised
from sciextract.learning.head import Examples, Head, Training
from sciextract.learning.spans import Place, Words
from sciextract.retraining.snapshot.supervision import Verdict, Verdicts

_LEAST_PROBABILITY = 1e-4
_WORD_BUCKETS = 96
_MOST_BETWEEN = 12
"""Words between two mentions that are looked at; more are as good as none."""

_ROLES = 3


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
        every = np.ones(len(spans), np.bool_)
        return cls(words, Mentions(spans, types, types, every), states)

    def base_relations(self, pairs: Ints, pipeline: Pipeline) -> ScoredPairs:
        """What the bundled model says of unordered pairs; ``pairs`` has every mirror."""
        layout, width = pipeline.labels.relations, pipeline.labels.max_span_width
        if not layout.labels:
            forward = pairs[pairs[:, 0] < pairs[:, 1]]
            return ScoredPairs(forward, np.ones((len(forward), 1), np.float32))
        scores = pipeline.network.score_pairs(
            relation_input(self.states, self.mentions, pairs, width)
        )
        return combine_directions(pairs, scores.relation_logits, layout, 1.0)

    def base_links(self, links: Ints, pipeline: Pipeline) -> Floats:
        """Antecedent scores of the bundled model; -2 where it does not link. Shape: (links,)."""
        if not pipeline.labels.coreference or not len(links):
            return np.full(len(links), -2, np.float32)
        first = self.states.first[self.mentions.spans[:, 0]]
        last = self.states.last[self.mentions.spans[:, 1]]
        document = self.words.document
        return pipeline.link_scores(self.mentions, first, last, links, document)


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

    def scored(
        self, found: MentionStates, labels: Sequence[str], pipeline: Pipeline
    ) -> ScoredPairs:
        """Probabilities of all pairs of mentions in one sentence; ``labels`` are those of the mentions."""
        pairs = _sentence_pairs(found)
        if not self.layout.labels or not len(pairs):
            return ScoredPairs.none()
        base = found.base_relations(pairs, pipeline)
        narrow = _relation_features(found, base, labels, self.entity_labels)
        logits = self.head.logits(_relation_states(found, base.pairs, self.projection), narrow)
        return ScoredPairs(base.pairs, softmax(logits))


def learn_relations(
    abstracts: Sequence[Supervised],
    entity_labels: tuple[str, ...],
    layout: RelationLayout,
    pipeline: Pipeline,
    projection: Floats,
    training: Training,
) -> RelationModel:
    """Train the relation head on the pairs of positive mentions in finished abstracts."""
    examples = [
        _relation_examples(each, entity_labels, layout, pipeline, projection)
        for each in (abstracts if layout.labels else ())
    ]
    parts = [each for each in examples if each is not None]
    first = _first_relation_weights(layout, pipeline.labels.relations, len(entity_labels))
    head = Head.untrained(_ROLES * projection.shape[1], first, training)
    if parts:
        head.train(Examples.joined(parts), training)
    return RelationModel(head, layout, entity_labels, projection)


def _relation_examples(
    each: Supervised,
    entity_labels: tuple[str, ...],
    layout: RelationLayout,
    pipeline: Pipeline,
    projection: Floats,
) -> Examples | None:
    """Decided pairs of an abstract, and all others where its relations are complete; ``None`` where there are none."""
    classes = _pair_classes(each, layout)
    places = sorted(set(each.labelled.values()))
    found = MentionStates.of(each.words, _spans(places), pipeline)
    pairs = _sentence_pairs(found)
    if not len(pairs):
        return None
    base = found.base_relations(pairs, pipeline)
    keyed = [(places[a], places[b]) for a, b in base.pairs.tolist()]
    default = 0 if Layer.RELATIONS in each.layers else -1
    numbers = np.array([classes.get(key, default) for key in keyed])
    rows = np.flatnonzero(numbers >= 0)
    if not len(rows):
        return None
    labels = _labels_at(each, places, entity_labels)
    narrow = _relation_features(found, base, labels, entity_labels)[rows]
    wide = _relation_states(found, base.pairs, projection)[rows]
    targets = np.eye(layout.class_count, dtype=np.float32)[numbers[rows]]
    return Examples(wide, narrow, targets, np.ones(len(rows), np.float32))


def _spans(places: Sequence[Place]) -> Ints:
    return np.array(places, np.int64).reshape(-1, 2)


def _labels_at(each: Supervised, places: Sequence[Place], labels: Sequence[str]) -> list[str]:
    numbers = (each.classes.get(place, 0) for place in places)
    return [labels[number - 1] if number > 0 else "" for number in numbers]


def _sentence_pairs(found: MentionStates) -> Ints:
    spans = found.mentions.spans
    return relation_pairs(spans, found.words.ends[spans[:, 0]])


def _pair_classes(each: Supervised, layout: RelationLayout) -> dict[tuple[Place, Place], int]:
    """The class of each decided pair, the earlier mention first; -1 for one that says nothing."""
    classes: dict[tuple[Place, Place], int] = {}
    for relation in each.annotations.relations:
        head, tail = each.labelled.get(relation.head), each.labelled.get(relation.tail)
        if head is None or tail is None:
            continue
        pair = (min(head, tail), max(head, tail))
        verdict = each.verdicts.relations[relation.id]
        if verdict is Verdict.POSITIVE and relation.label in layout.labels:
            number = layout.forward_class(relation.label)
            if tail < head:
                number = int(layout.mirror()[number])
            if classes.get(pair, 0) <= 0:
                classes[pair] = number
        elif verdict is Verdict.NEGATIVE:
            classes.setdefault(pair, 0)
        elif classes.get(pair, 0) <= 0:
            classes[pair] = -1
    return classes


def _relation_states(found: MentionStates, pairs: Ints, projection: Floats) -> Floats:
    """Projected states of both mentions and the mean of the words between. Shape: (pairs, 3 * components)."""
    spans, states = found.mentions.spans, found.states
    mention = (states.first[spans[:, 0]] + states.last[spans[:, 1]]) / 2 @ projection
    words = states.last @ projection
    sums = np.pad(np.cumsum(words, axis=0, dtype=np.float32), ((1, 0), (0, 0)))
    between = between_words(spans, pairs)
    count = np.maximum(between[:, 1] - between[:, 0], 1)[:, None].astype(np.float32)
    mean = (sums[between[:, 1]] - sums[between[:, 0]]) / count
    return np.concatenate([mention[pairs[:, 0]], mention[pairs[:, 1]], mean], axis=1)


def _relation_features(
    found: MentionStates, base: ScoredPairs, labels: Sequence[str], known: Sequence[str]
) -> Floats:
    """Scores of the bundled model, labels of both mentions, distance, words between."""
    pairs = base.pairs
    types = np.array([1 + known.index(each) if each else 0 for each in labels], np.int64)
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


def _first_relation_weights(
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
        rest = [layout.forward_class(each) for each in layout.labels if each not in known]
        bias[0, [*rest, *layout.mirror()[rest]]] = -6
    else:
        bias[0, 0] = 3
    others = (1 + entity_labels) ** 2 + DISTANCE_BUCKETS + _WORD_BUCKETS
    return np.concatenate([of_model, bias, np.zeros((others, layout.class_count), np.float32)])


_LINK_RATE, _LINK_STEPS, _LINK_DECAY = 0.02, 150, 0.1


@dataclass(frozen=True, slots=True)
class LinkModel:
    """What lexical features and distance add to the antecedent scores of the bundled model.

    Attributes:
        weights: float32 (1 + lexical features + distance buckets,); the first one is that of the bundled score.
    """

    weights: Floats

    def scores(self, found: MentionStates, links: Ints, pipeline: Pipeline) -> Floats:
        """Antecedent scores; "no antecedent" has 0. Shape: (links,)."""
        return np.asarray(_link_features(found, links, pipeline) @ self.weights)


def _link_features(found: MentionStates, links: Ints, pipeline: Pipeline) -> Floats:
    document, spans = found.words.document, found.mentions.spans
    words = MentionWords.of(document.tokens.slices(document.text), spans, found.words.ends)
    distances = np.eye(DISTANCE_BUCKETS, dtype=np.float32)[antecedent_distances(spans, links)]
    base = found.base_links(links, pipeline)[:, None]
    return np.concatenate([base, words.features(links), distances], axis=1)


def learn_links(
    abstracts: Sequence[Supervised],
    pipeline: Pipeline,
    most: int,
) -> LinkModel:
    """Fit the weights: marginal likelihood of the right antecedents (Lee et al. 2017, section 5), pulled to the model's.

    Args:
        abstracts: Finished abstracts.
        pipeline: The bundled model.
        most: Earlier mentions that a mention is compared with.
    """
    first = np.zeros(1 + len(FEATURES) + DISTANCE_BUCKETS, np.float32)
    first[0] = 1
    parts: list[tuple[Floats, Ints, Floats, Floats]] = []
    mentions = 0
    for each in abstracts:
        taken = _link_examples(each, pipeline, most)
        if taken is not None:
            features, owner, right, alone = taken
            parts.append((features, owner + mentions, right, alone))
            mentions += len(alone)
    if not parts:
        return LinkModel(first)
    features, owner, right, alone = map(np.concatenate, zip(*parts, strict=True))
    weights = first.copy()
    mean, square = np.zeros_like(weights), np.zeros_like(weights)
    pull = np.float32(_LINK_DECAY * min(1.0, 200 / mentions))
    for step in range(_LINK_STEPS):
        scores = np.exp(np.clip(features @ weights, -20, 20))
        total = 1 + np.bincount(owner, scores, mentions)
        good = alone + np.bincount(owner, scores * right, mentions) + 1e-9
        error = scores / total[owner] - scores * right / good[owner]
        gradient = (error.astype(np.float32) @ features) / mentions
        mean += np.float32(0.1) * (gradient - mean)
        square += np.float32(0.01) * (gradient**2 - square)
        corrected = np.sqrt(square / np.float32(1 - 0.99 ** (step + 1))) + np.float32(1e-8)
        rate = np.float32(_LINK_RATE * (1 - step / _LINK_STEPS))
        weights -= rate * (mean / np.float32(1 - 0.9 ** (step + 1)) / corrected)
        weights -= rate * pull * (weights - first)
    return LinkModel(weights)


def _link_examples(
    each: Supervised, pipeline: Pipeline, most: int
) -> tuple[Floats, Ints, Floats, Floats] | None:
    """Links with known answers: features, the mention of each, whether it is right; per mention whether "none" is."""
    places = sorted(set(each.labelled.values()))
    links = antecedent_pairs(len(places), most)
    known = _pair_verdicts(each.verdicts, each.labelled)
    default = Verdict.NEGATIVE if Layer.COREFERENCE in each.layers else Verdict.MASKED
    answers = [known.get((places[b], places[a]), default) for a, b in links.tolist()]
    rows = np.flatnonzero([answer is not Verdict.MASKED for answer in answers])
    if not len(rows):
        return None
    found = MentionStates.of(each.words, _spans(places), pipeline)
    features = _link_features(found, links[rows], pipeline)
    right = np.array([answers[row] is Verdict.POSITIVE for row in rows.tolist()], np.float32)
    numbers, owner = np.unique(links[rows, 0], return_inverse=True)
    alone = (np.bincount(owner, right, len(numbers)) == 0).astype(np.float32)
    return features, owner.astype(np.int64), right, alone


def _pair_verdicts(
    verdicts: Verdicts, labelled: Mapping[str, Place]
) -> dict[tuple[Place, Place], Verdict]:
    """The verdicts on pairs of places, the earlier one first; positive if any is."""
    found: dict[tuple[Place, Place], Verdict] = {}
    for (one, other), verdict in verdicts.pairs.items():
        if one in labelled and other in labelled:
            a, b = sorted((labelled[one], labelled[other]))
            if found.get((a, b)) is not Verdict.POSITIVE:
                found[a, b] = verdict
    return found
