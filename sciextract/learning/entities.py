"""The head that predicts entities: which spans are what."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from sciextract.documents.annotations import Annotations, Entity, Layer
from sciextract.inference.network import Floats, Ints
from sciextract.inference.pipeline import Labels
from sciextract.learning.head import Examples, Head, Training
from sciextract.learning.spans import (
    COMPONENTS,
    ROLES,
    SHAPES,
    SPELLINGS,
    Memory,
    Place,
    Words,
    model_scores,
    products,
    projection_of,
    shape_features,
    spelling_features,
    total,
    wide_features,
)
from sciextract.retraining.snapshot.documents import TrainingDocument
from sciextract.retraining.snapshot.supervision import Verdict, Verdicts, verdicts_of

MASKED = -1
"""The class of a span that says nothing."""

_WIDEST = 16
_HARD, _RANDOM, _MOST_WEIGHT = 6, 4, 6.0
"""Negatives for each positive: such that overlap it or that the model considers, and any others; most weight of one."""

_CONSIDERED = np.log(0.02)
_LEAST = -3.0
"""Where the weight of a label that the model lacks starts, for spans that are too wide for the model."""

_MEMORY_WEIGHT = 0.5
_CONSISTENCY = 0.5
"""How far scores are drawn to the mean of the same surface form in a document, 0 to 1."""


@dataclass(frozen=True, slots=True)
class Supervised:
    """A finished abstract, ready to learn from.

    Attributes:
        words: Its words.
        annotations: Its items.
        verdicts: What they say.
        layers: Complete layers: there what is not positive is negative.
        classes: The class of each decided span: 0 for no entity, 1 + label, ``MASKED``.
        labelled: Positive entities by id with their spans.
    """

    words: Words
    annotations: Annotations
    verdicts: Verdicts
    layers: frozenset[Layer]
    classes: Mapping[Place, int]
    labelled: Mapping[str, Place]

    @property
    def complete(self) -> bool:
        """Whether every span that was not decided is not an entity."""
        return Layer.ENTITIES in self.layers


def supervised(words: Words, example: TrainingDocument, labels: Sequence[str]) -> Supervised:
    """What an abstract says about spans; entities of several fragments or of labels unknown now say nothing."""
    annotations, tokens = example.annotated.annotations, words.document.tokens
    verdicts = verdicts_of(example)
    classes: dict[Place, int] = {}
    labelled: dict[str, Place] = {}

    def place_of(entity: Entity) -> Place | None:
        found = tokens.covering(entity.span)
        return None if found is None else (found.token_start, found.token_end - 1)

    for entity in annotations.entities:
        place = place_of(entity)
        if place is None:
            continue
        verdict = verdicts.entities[entity.id]
        if verdict is Verdict.POSITIVE:
            labelled[entity.id] = place
        known = entity.label in labels and len(entity.fragments) == 1
        if verdict is Verdict.POSITIVE and known:
            if classes.get(place, 0) <= 0:  # of two labels on one span the first one is used
                classes[place] = 1 + labels.index(entity.label)
        elif verdict is Verdict.NEGATIVE:
            classes.setdefault(place, 0)
        elif classes.get(place, 0) <= 0:
            classes[place] = MASKED
    return Supervised(words, annotations, verdicts, example.complete, classes, labelled)


@dataclass(frozen=True, slots=True)
class EntityModel:
    """A trained head with what its features need.

    Attributes:
        head: The head; its classes are "no entity" and the labels.
        memory: Surface forms of finished abstracts.
        labels: What it predicts, with the widest span that it considers.
        projection: float32 (hidden, components), of states.
    """

    head: Head
    memory: Memory
    labels: Labels
    projection: Floats

    def logits(self, words: Words) -> Floats:
        """Logits of all spans. Shape: (words, max width, 1 + labels), as a bundled model has them."""
        count, width = len(words.stems), self.labels.max_span_width
        found = np.zeros((count, width, 1 + len(self.labels.entities)), np.float32)
        spans = words.all_spans(width)
        if len(spans):
            narrow = _narrow(words, spans, self.memory, None)
            linear = products(words, spans, self.projection, self.head.linear)
            inner = products(words, spans, self.projection, self.head.inner)
            logits = self.head.finished(linear, inner, narrow)
            logits = _consistent(logits, words, spans)
            found[spans[:, 0], spans[:, 1] - spans[:, 0]] = logits
        return found


def _consistent(logits: Floats, words: Words, spans: Ints) -> Floats:
    """Logits drawn towards the mean of all occurrences of the same surface form in the document."""
    numbers: dict[str, int] = {}
    groups = np.array([numbers.setdefault(each, len(numbers)) for each in words.surfaces(spans)])
    counts = np.bincount(groups)
    sums = np.zeros((len(counts), logits.shape[1]), np.float32)
    np.add.at(sums, groups, logits)
    mean = sums[groups] / counts[groups, None].astype(np.float32)
    return np.asarray(logits + np.float32(_CONSISTENCY) * (mean - logits))


def learn_entities(
    abstracts: Sequence[Supervised], labels: Labels, base: Labels, hidden: int, training: Training
) -> EntityModel:
    """Train the head on finished abstracts.

    Args:
        abstracts: What they say about spans.
        labels: What is to be predicted; the widest span is set here.
        base: The labels of the bundled model, whose scores the head starts from where it knows a label.
        hidden: Length of a state of the encoder.
        training: How.
    """
    classes = 1 + len(labels.entities)
    labels = replace(labels, max_span_width=_width(abstracts, base))
    memories = _memories(abstracts, classes, labels.max_span_width)
    memory = total(memories, classes)
    projection = projection_of([each.words.encoded for each in abstracts], hidden)
    random = np.random.default_rng(training.seed)
    parts = [
        _examples(each, memory, own, labels, projection, random)
        for each, own in zip(abstracts, memories, strict=True)
    ]
    parts = [each for each in parts if len(each)]
    head = Head.untrained(ROLES * COMPONENTS, _first_weights(labels, base), training)
    if parts:
        head.train(Examples.joined(parts), training)
    return EntityModel(head, memory, labels, projection)


def _width(abstracts: Sequence[Supervised], base: Labels) -> int:
    widths = [
        last - first + 1
        for each in abstracts
        for (first, last), number in each.classes.items()
        if number > 0
    ]
    return max(base.max_span_width, min(max(widths, default=1), _WIDEST))


def _memories(abstracts: Sequence[Supervised], classes: int, width: int) -> list[Memory]:
    memories, known = [Memory(classes) for _ in abstracts], set[str]()
    certain = [
        {place: number for place, number in each.classes.items() if number != MASKED}
        for each in abstracts
    ]
    for each, memory, decided in zip(abstracts, memories, certain, strict=True):
        memory.add(each.words, decided, each.complete)
        known |= memory.surfaces.keys()
    for each, memory in zip(abstracts, memories, strict=True):
        if each.complete:
            memory.add_absent(each.words, each.classes, known, width)
    return memories


def _narrow(words: Words, spans: Ints, memory: Memory, own: Memory | None) -> Floats:
    parts = (
        model_scores(words, spans),
        memory.features(words, spans, own),
        shape_features(words, spans),
        spelling_features(words, spans),
    )
    return np.concatenate(parts, axis=1)


def _first_weights(labels: Labels, base: Labels) -> Floats:
    """Where the features' weights start: scores of labels that the model knows count once, memory counts half."""
    classes = 1 + len(labels.entities)
    of_model = np.zeros((2 + len(base.entities), classes), np.float32)
    known = [label for label in labels.entities if label in base.entities]
    for label in known:
        of_model[1 + base.entities.index(label), 1 + labels.entities.index(label)] = 1
    if known:
        of_model[0, 0] = 1
        rest = [1 + labels.entities.index(each) for each in labels.entities if each not in known]
        of_model[-1, rest] = _LEAST
    of_memory = np.zeros((2 * classes + 1, classes), np.float32)
    of_memory[:classes] = np.eye(classes) * _MEMORY_WEIGHT
    shapes = np.zeros((SHAPES + SPELLINGS, classes), np.float32)
    if not known:
        shapes[0, 0] = 3  # without any knowledge a span is not an entity
    return np.concatenate([of_model, of_memory, shapes])


def _examples(
    each: Supervised,
    memory: Memory,
    own: Memory,
    labels: Labels,
    projection: Floats,
    random: np.random.Generator,
) -> Examples:
    """Decided spans of an abstract, and some of the others where it is complete."""
    words, count = each.words, 1 + len(labels.entities)
    width = labels.max_span_width
    decided = [
        (place, number)
        for place, number in sorted(each.classes.items())
        if number != MASKED and place[1] - place[0] < width
    ]
    spans = np.array([place for place, _ in decided], np.int64).reshape(-1, 2)
    numbers = np.array([number for _, number in decided], np.int64)
    weights = np.ones(len(spans), np.float32)
    if each.complete:
        others, their_weights = _negatives(each, width, random)
        spans = np.concatenate([spans, others])
        numbers = np.concatenate([numbers, np.zeros(len(others), np.int64)])
        weights = np.concatenate([weights, their_weights])
    targets = np.eye(count, dtype=np.float32)[numbers]
    narrow = _narrow(words, spans, memory, own)
    return Examples(wide_features(words, spans, projection), narrow, targets, weights)


def _negatives(each: Supervised, width: int, random: np.random.Generator) -> tuple[Ints, Floats]:
    """A sample of the spans that are not entities, with weights that stand for those left out."""
    spans = each.words.all_spans(width)
    free = np.ones(len(spans), np.bool_)
    near = np.zeros(len(spans), np.bool_)
    positives = 0
    for (first, last), number in each.classes.items():
        free &= (spans[:, 0] != first) | (spans[:, 1] != last)
        if number > 0:
            positives += 1
            near |= (spans[:, 0] <= last) & (spans[:, 1] >= first)
    scores = model_scores(each.words, spans)
    near |= scores[:, 1:-1].max(axis=1, initial=-99) > _CONSIDERED
    chosen, weights = [], []
    for pool, most in ((near & free, _HARD), (~near & free, _RANDOM)):
        rows = np.flatnonzero(pool)
        wanted = min(len(rows), most * max(positives, 5))
        if wanted:
            chosen.append(np.sort(random.choice(rows, wanted, replace=False)))
            weight = min(len(rows) / wanted, _MOST_WEIGHT)
            weights.append(np.full(wanted, weight, np.float32))
    if not chosen:
        return np.zeros((0, 2), np.int64), np.zeros(0, np.float32)
    return spans[np.concatenate(chosen)], np.concatenate(weights)
