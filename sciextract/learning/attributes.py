"""Heads that say attributes, on the states of an encoder: of a mention by its words, of a relation by its ends, of an
abstract by all its words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from sciextract.documents.annotations import Annotations, Attribute, LabelScore, State, stable_id
from sciextract.documents.document import AnnotatedDocument
from sciextract.documents.schema import ABSTRACT, RELATION_PREFIX, AttributeKind, AttributeType
from sciextract.inference.adapter.head import Head, one_core
from sciextract.inference.adapter.states import EncodedDocument, EncoderStates
from sciextract.inference.decoding import softmax
from sciextract.inference.held_out import HeldOut, HeldOutItem
from sciextract.inference.network import Floats
from sciextract.inference.settings import ATTRIBUTE
from sciextract.learning.head import Examples, HeadTraining
from sciextract.snapshot.documents import in_folds

LEAST = 4
"""Finished abstracts below which no attribute is learned."""

FOLDS = 5
_TRAINING = HeadTraining(hidden=16)
_ENTITY, _RELATION = "entity", "relation"
_Place = tuple[str, str, Floats]
"""What an attribute may be said of: abstract, entity or relation; its id; and its features."""


@dataclass(frozen=True, slots=True)
class _Example:
    """A place, what was decided there (``None``: the attribute is not said), and the number of its abstract."""

    features: Floats
    value: str | None
    abstract: int


@dataclass(frozen=True, slots=True)
class _ValueHead:
    """A head, and the value of each of its classes; ``None`` is that the attribute is not said."""

    head: Head
    values: tuple[str | None, ...]

    def probabilities(self, features: Floats) -> dict[str | None, float]:
        """How likely each value is."""
        scores = softmax(self.head.logits(features[None], np.ones((1, 1), np.float32))[0])
        return dict(zip(self.values, scores.tolist(), strict=True))


@dataclass(frozen=True, slots=True)
class AttributeScore:
    """How good suggestions of an attribute are on abstracts that they were not learned from.

    Attributes:
        label: The attribute.
        places: Where it might have been said in the finished abstracts.
        right: Share of them that the folds get right, 0 to 1.
        commonest: Share of the commonest value, what one is right with who always says that.
    """

    label: str
    places: int
    right: float
    commonest: float


class AttributeHeads:
    """What is learned of the attributes of finished abstracts.

    Args:
        finished: By attribute the abstracts in which somebody has looked for it.
        states: Of the encoder.
    """

    def __init__(
        self,
        finished: Iterable[tuple[AttributeType, Sequence[AnnotatedDocument]]],
        states: EncoderStates,
    ) -> None:
        self._states = states
        self._examples: dict[tuple[str, str], list[_Example]] = {}
        self._kinds: dict[str, AttributeType] = {}
        self._numbers: dict[str, int] = {}
        for kind, documents in finished:
            if kind.kind in (AttributeKind.FLAG, AttributeKind.CHOICE) and len(documents) >= LEAST:
                self._kinds[kind.label] = kind
                self._gather(kind, documents)
        with one_core():
            self._heads = {
                place: head
                for place, examples in self._examples.items()
                if (head := _fit(examples)) is not None
            }

    def _gather(self, kind: AttributeType, documents: Sequence[AnnotatedDocument]) -> None:
        for found in documents:
            number = self._numbers.setdefault(found.document.text_sha256, len(self._numbers))
            said = {
                attribute.target: attribute.value
                for attribute in found.annotations.attributes
                if attribute.label == kind.label
            }
            encoded = self._states.of(found.document)
            for group, target, features in _places(kind, found.annotations, encoded):
                examples = self._examples.setdefault((kind.label, group), [])
                examples.append(_Example(features, said.get(target), number))

    def suggest(self, document: AnnotatedDocument) -> tuple[Attribute, ...]:
        """Attributes of an abstract and its items, where they are likelier than not to be there, each with its likeliest value."""
        encoded, found = self._states.of(document.document), []
        for kind in self._kinds.values():
            for group, target, features in _places(kind, document.annotations, encoded):
                if (head := self._heads.get((kind.label, group))) is None:
                    continue
                shares = head.probabilities(features)
                ranked = sorted(
                    ((share, value) for value, share in shares.items() if value is not None),
                    reverse=True,
                )
                score, value = ranked[0]
                if score > shares.get(None, 0.0):
                    others = tuple(LabelScore(value, share) for share, value in ranked[1:])
                    made = stable_id(document.document.text_sha256, target, kind.label)
                    found.append(
                        Attribute(made, target, kind.label, value, score, alternatives=others)
                    )
        return tuple(found)

    def probability_of(self, document: AnnotatedDocument, label: str, value: str) -> float | None:
        """How likely an attribute of the abstract has a value; ``None`` where it was not learned."""
        head = self._heads.get((label, ABSTRACT))
        if head is None or value not in head.values:
            return None
        features = _features_of_abstract(self._states.of(document.document))
        return head.probabilities(features)[value]

    def rescored(self, found: AnnotatedDocument) -> AnnotatedDocument:
        """An abstract whose suggested attributes have today's scores; what would not be suggested any more has none."""
        said = found.annotations.attributes
        if not any(attribute.state is State.UNDECIDED for attribute in said):
            return found
        now = {(one.target, one.label, one.value): one.score for one in self.suggest(found)}
        scored = [
            replace(one, score=now.get((one.target, one.label, one.value), 0.0)) for one in said
        ]
        return replace(found, annotations=replace(found.annotations, attributes=tuple(scored)))

    def held_out(self) -> HeldOut:
        """What folds over the abstracts suggest, and whether it is right."""
        items, gold = list[HeldOutItem](), Counter[str]()
        for (label, _), examples in self._examples.items():
            gold[label] += sum(example.value is not None for example in examples)
            for example, value, score in _said_in_folds(examples):
                if value is not None:
                    right = value == example.value
                    items.append(HeldOutItem(example.abstract, label, score, right))
        number = len(self._numbers)
        source = f"{number} finished abstracts, each by what the others teach"
        return HeldOut(source, number, {ATTRIBUTE: tuple(items)}, {ATTRIBUTE: dict(gold)})

    def scores(self) -> list[AttributeScore]:
        """How good suggestions are, by folds over the abstracts."""
        found = []
        for label in self._kinds:
            groups = [examples for (of, _), examples in self._examples.items() if of == label]
            hits = [
                value == example.value
                for examples in groups
                for example, value, _ in _said_in_folds(examples)
            ]
            if hits:
                counts = Counter(example.value for examples in groups for example in examples)
                common = counts.most_common(1)[0][1] / counts.total()
                found.append(AttributeScore(label, len(hits), sum(hits) / len(hits), common))
        return found


def _fit(examples: Sequence[_Example]) -> _ValueHead | None:
    """A head that says what the examples say; ``None`` where they all say the same."""
    values = tuple(sorted({example.value for example in examples}, key=lambda v: (v is None, v)))
    if len(values) < 2:
        return None
    wide = np.stack([example.features for example in examples])
    targets = np.array([[example.value == value for value in values] for example in examples])
    rows = len(examples)
    ones = np.ones((rows, 1), np.float32)
    prior = np.log(targets.mean(axis=0, keepdims=True))
    head = _TRAINING.untrained(wide.shape[1], prior.astype(np.float32))
    _TRAINING.fit(head, Examples(wide, ones, targets.astype(np.float32), ones[:, 0]))
    return _ValueHead(head, values)


def _said_in_folds(
    examples: Sequence[_Example],
) -> Iterator[tuple[_Example, str | None, float]]:
    """Each place with the likeliest value by what the abstracts of other folds teach, and how likely that is."""
    abstracts = sorted({example.abstract for example in examples})
    for fold in in_folds(abstracts, FOLDS):
        held = {abstracts[place] for place in fold}
        rest = [example for example in examples if example.abstract not in held]
        head = _fit(rest) if rest else None
        only = rest[0].value if rest else None
        for example in (example for example in examples if example.abstract in held):
            shares = head.probabilities(example.features) if head else {only: 1.0}
            value = max(shares, key=shares.__getitem__)
            yield example, value, shares[value]


def _places(
    kind: AttributeType, annotations: Annotations, encoded: EncodedDocument
) -> Iterator[_Place]:
    """Everything in an abstract that an attribute may be said of."""
    if kind.allows(ABSTRACT):
        yield ABSTRACT, "", _features_of_abstract(encoded)
    ranges: dict[str, tuple[int, int]] = {}
    for entity in annotations.entities:
        if words := encoded.document.tokens.covering(entity.span):
            ranges[entity.id] = words.token_start, words.token_end
            if kind.allows(entity.label):
                yield _ENTITY, entity.id, _features_of_span(encoded, *ranges[entity.id])
    for relation in annotations.relations:
        ends = [ranges.get(relation.head), ranges.get(relation.tail)]
        if kind.allows(RELATION_PREFIX + relation.label) and ends[0] and ends[1]:
            head, tail = (_mean(encoded, *end) for end in (ends[0], ends[1]))
            between = _mean(encoded, *sorted([*ends[0], *ends[1]])[1:3])
            yield _RELATION, relation.id, np.concatenate([head, tail, between])


def _features_of_abstract(encoded: EncodedDocument) -> Floats:
    if not len(encoded.first):
        return np.zeros(2 * encoded.first.shape[1], np.float32)
    states = encoded.first.astype(np.float32)
    return np.concatenate([states.mean(axis=0), states.max(axis=0)])


def _features_of_span(encoded: EncodedDocument, start: int, end: int) -> Floats:
    edges = encoded.first[start], encoded.last[end - 1]
    return np.concatenate(
        [*(edge.astype(np.float32) for edge in edges), _mean(encoded, start, end)]
    )


def _mean(encoded: EncodedDocument, start: int, end: int) -> Floats:
    """The mean state of some words; of none that of the word at their place."""
    states = encoded.first[start : max(end, start + 1)].astype(np.float32)
    return np.asarray(states.mean(axis=0), np.float32)
