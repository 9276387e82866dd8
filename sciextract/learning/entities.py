"""What finished abstracts teach the head that predicts entities."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from sciextract.documents.annotations import Layer
from sciextract.inference.adapter.entities import EntityModel, first_span_weights, span_features
from sciextract.inference.adapter.spans import (
    ROLES,
    Memory,
    Place,
    Words,
    model_scores,
    projection_of,
    total,
    wide_features,
)
from sciextract.inference.network import Floats, Ints
from sciextract.inference.pipeline import Labels
from sciextract.learning.head import Examples, HeadTraining
from sciextract.snapshot.documents import TrainingDocument, Verdict, Verdicts, verdicts_of

# The class of a span that says nothing.
MASKED = -1

_WIDEST = 16
# Negatives for each positive: such that overlap it or that the model considers, and any others; most weight of one.
_HARD, _RANDOM, _MOST_WEIGHT = 6, 4, 6.0

_CONSIDERED = np.log(0.02)


@dataclass(frozen=True, slots=True)
class Supervised:
    """A finished abstract, ready to learn from.

    Attributes:
        words: Its words.
        example: It, with what is decided.
        verdicts: What its items say.
        classes: The class of each decided span: 0 for no entity, 1 + label, ``MASKED``.
        labelled: Positive entities by id with their spans.
        uncovered: Classes of types that nobody has looked for: what is not positive may be of such a type.
    """

    words: Words
    example: TrainingDocument
    verdicts: Verdicts
    classes: Mapping[Place, int]
    labelled: Mapping[str, Place]
    uncovered: tuple[int, ...] = ()

    @property
    def complete(self) -> bool:
        """Whether every span that was not decided is not an entity."""
        return Layer.ENTITIES in self.example.complete


def read_supervision(words: Words, example: TrainingDocument, labels: Sequence[str]) -> Supervised:
    """What an abstract says about spans; entities of several fragments or of labels unknown now say nothing."""
    verdicts = verdicts_of(example)
    classes: dict[Place, int] = {}
    labelled: dict[str, Place] = {}
    for entity in example.annotated.annotations.entities:
        found = words.document.tokens.covering(entity.span)
        if found is None:
            continue
        place = found.token_start, found.token_end - 1
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
    late = example.uncovered_labels(Layer.ENTITIES)
    uncovered = tuple([1 + number for number, label in enumerate(labels) if label in late])
    return Supervised(words, example, verdicts, classes, labelled, uncovered)


def learn_entities(
    abstracts: Sequence[Supervised],
    labels: Labels,
    base: Labels,
    hidden: int,
    training: HeadTraining,
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
    widths = [
        last - first + 1
        for abstract in abstracts
        for (first, last), number in abstract.classes.items()
        if number > 0
    ]
    # As wide as the widest entity that was decided, but not wider than _WIDEST: spans grow with the width.
    widest = max(base.max_span_width, min(max(widths, default=1), _WIDEST))
    labels = replace(labels, max_span_width=widest)
    memories = _memories(abstracts, classes, labels.max_span_width)
    memory = total(memories, classes)
    projection = projection_of([abstract.words.encoded for abstract in abstracts], hidden)
    random = np.random.default_rng(training.seed)
    parts = [
        _examples(abstract, memory, own, labels, projection, random)
        for abstract, own in zip(abstracts, memories, strict=True)
    ]
    parts = [part for part in parts if len(part)]
    head = training.untrained(ROLES * projection.shape[1], first_span_weights(labels, base))
    if parts:
        training.fit(head, Examples.join(parts))
    return EntityModel(head, memory, labels, projection)


def _memories(abstracts: Sequence[Supervised], classes: int, width: int) -> list[Memory]:
    # Each abstract keeps its own share, which is taken off when the head is trained on it: else it would learn to
    # trust a memory that has seen the answer.
    memories, known = [Memory(classes) for _ in abstracts], set[str]()
    certain = [
        {place: number for place, number in abstract.classes.items() if number != MASKED}
        for abstract in abstracts
    ]
    for abstract, memory, decided in zip(abstracts, memories, certain, strict=True):
        memory.add(abstract.words, decided, abstract.complete)
        known |= memory.surfaces.keys()
    for abstract, memory in zip(abstracts, memories, strict=True):
        if abstract.complete:
            memory.add_absent(abstract.words, abstract.classes, known, width)
    late = [abstract.uncovered for abstract in abstracts]
    if any(late):
        seen = total(memories, classes)
        for memory, uncovered in zip(memories, late, strict=True):
            memory.forget_absence(seen, uncovered)
    return memories


def _examples(
    abstract: Supervised,
    memory: Memory,
    own: Memory,
    labels: Labels,
    projection: Floats,
    random: np.random.Generator,
) -> Examples:
    """Decided spans of an abstract, and some of the others where it is complete."""
    words, count = abstract.words, 1 + len(labels.entities)
    width = labels.max_span_width
    decided = [
        (place, number)
        for place, number in sorted(abstract.classes.items())
        if number != MASKED and place[1] - place[0] < width
    ]
    spans = np.array([place for place, _ in decided], np.int64).reshape(-1, 2)
    numbers = np.array([number for _, number in decided], np.int64)
    weights = np.ones(len(spans), np.float32)
    if abstract.complete:
        others, their_weights = _negatives(abstract, width, random)
        spans = np.concatenate([spans, others])
        numbers = np.concatenate([numbers, np.zeros(len(others), np.int64)])
        weights = np.concatenate([weights, their_weights])
    targets = np.eye(count, dtype=np.float32)[numbers]
    # Of what is no entity of the types that somebody has looked for, any other type is right as well.
    targets[np.ix_(numbers == 0, abstract.uncovered)] = 1
    narrow = span_features(words, spans, memory, own)
    return Examples(wide_features(words, spans, projection), narrow, targets, weights)


def _negatives(
    abstract: Supervised, width: int, random: np.random.Generator
) -> tuple[Ints, Floats]:
    """A sample of the spans that are not entities, with weights that stand for those left out."""
    spans = abstract.words.all_spans(width)
    free = np.ones(len(spans), np.bool_)
    near = np.zeros(len(spans), np.bool_)
    positives = 0
    for (first, last), number in abstract.classes.items():
        free &= (spans[:, 0] != first) | (spans[:, 1] != last)
        if number > 0:
            positives += 1
            near |= (spans[:, 0] <= last) & (spans[:, 1] >= first)
    scores = model_scores(abstract.words, spans)
    near |= scores[:, 1:-1].max(axis=1, initial=-99) > _CONSIDERED
    chosen, weights = [], []
    for pool, most in ((near & free, _HARD), (~near & free, _RANDOM)):
        rows = np.flatnonzero(pool)
        wanted = min(len(rows), most * max(positives, 5))
        if wanted:
            chosen.append(np.sort(random.choice(rows, wanted, replace=False)))
            weights.append(np.full(wanted, min(len(rows) / wanted, _MOST_WEIGHT), np.float32))
    if not chosen:
        return np.zeros((0, 2), np.int64), np.zeros(0, np.float32)
    return spans[np.concatenate(chosen)], np.concatenate(weights)
