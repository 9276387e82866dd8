"""What a training snapshot is made of: documents with complete layers, in three splits, and what their items say.

To a model an item is positive, an explicit negative, or nothing at all (:class:`Verdict`). The rules, for items of any
layer:

- accepted, edited, added and imported items are positive, rejected ones negative, undecided ones masked;
- a relation, or a mention's place in a cluster, is masked where an entity of it is undecided, whatever its
  own state and its layer;
- what went with a rejected entity is negative, too, unless another entity stands on the same characters:
  then nobody has judged the pair that is there now, and it is masked where the layer is not done.

Whatever is not an item is negative where its layer is in ``TrainingDocument.complete``, and masked elsewhere.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import combinations
from typing import Any

from sciextract.documents.annotations import (
    ALL_LAYERS,
    Annotations,
    Cluster,
    Layer,
    Relation,
    Span,
    State,
)
from sciextract.documents.document import AnnotatedDocument
from sciextract.formats.exchange import encode
from sciextract.store.coverage import with_types
from sciextract.store.rows import IN_VIEW, covered_name


class Split(StrEnum):
    """What a document is used for."""

    TRAIN = "train"
    DEV = "dev"
    GATE = "gate"


class Origin(StrEnum):
    """Where a document comes from: the project, ``--base`` (replay) or ``--gate`` (held-out gold)."""

    PROJECT = "project"
    BASE = "base"
    GATE = "gate"


@dataclass(frozen=True, slots=True)
class TrainingDocument:
    """A document with every item, whatever its state, and what is known to be complete.

    Attributes:
        annotated: Positives (accepted, edited, added, imported), explicit negatives (rejected) and items
            that nobody has decided (undecided). The state of a mention's place in a cluster is in the
            cluster's ``mention_states``. A snapshot leaves out the fields of the input.
        complete: The layers that are done: there everything that is not positive is negative. In the
            others only explicit decisions count; see :class:`Verdict`.
        origin: Where it comes from.
        uncovered: Types of complete layers that nobody has looked for, by layer: that an item of such a type
            is absent says nothing.
    """

    annotated: AnnotatedDocument
    complete: frozenset[Layer] = ALL_LAYERS
    origin: Origin = Origin.PROJECT
    uncovered: frozenset[tuple[Layer, str]] = frozenset()

    @property
    def covered_layers(self) -> frozenset[Layer]:
        """The complete layers in which somebody has looked for every type."""
        return self.complete - {layer for layer, _ in self.uncovered}

    def uncovered_labels(self, layer: Layer) -> frozenset[str]:
        """The types of a layer that nobody has looked for."""
        return frozenset([label for found, label in self.uncovered if found is layer])


DEV_SHARE = 0.1
GATE_SHARE = 0.2
_DIGITS = 13
"""Hexadecimal digits of the hash that decide: 52 bits, which a float holds exactly."""
_PLACES = float(1 << 4 * _DIGITS)


def place_of(text_sha256: str) -> float:
    """The place of a text on the line from 0 to 1 (exclusive) along which the splits lie."""
    return int(text_sha256[:_DIGITS], 16) / _PLACES


def split_of(text_sha256: str) -> Split:
    """The split of a project's text: 10 % dev, 20 % gate, the rest train.

    >>> split_of("0" * 64), split_of("2" * 64), split_of("f" * 64)
    (<Split.DEV: 'dev'>, <Split.GATE: 'gate'>, <Split.TRAIN: 'train'>)
    """
    place = place_of(text_sha256)
    if place < DEV_SHARE:
        return Split.DEV
    return Split.GATE if place < DEV_SHARE + GATE_SHARE else Split.TRAIN


def in_folds(papers: Sequence[Hashable], most: int) -> list[list[int]]:
    """Places by fold, dealt out in turn; the abstracts of one paper share a fold.

    >>> in_folds("abacd", 2)
    [[0, 2, 3], [1, 4]]
    """
    order = {paper: number for number, paper in enumerate(dict.fromkeys(papers))}
    folds: list[list[int]] = [[] for _ in range(min(most, len(order)))]
    for place, paper in enumerate(papers):
        folds[order[paper] % most].append(place)
    return folds


TRAINING = "training"
"""The field next to those of the exchange format: ``{"complete": [LAYER, ...], "origin": ORIGIN, "uncovered": [[LAYER, TYPE], ...]}``."""


def to_line(document: TrainingDocument) -> str:
    """A training document as one line without a line feed; tokens stay as they are, fields are left out."""
    marks: dict[str, Any] = {
        "complete": sorted(layer.value for layer in document.complete),
        "origin": document.origin.value,
    }
    if document.uncovered:
        marks["uncovered"] = sorted([layer.value, label] for layer, label in document.uncovered)
    return encode(with_fields(document.annotated, {TRAINING: marks}), split=False)


def from_read(read: AnnotatedDocument) -> TrainingDocument | None:
    """The training document of a line that was read; ``None`` where the line does not state which layers are
    complete."""
    marks: Any = read.document.fields.get(TRAINING)
    try:
        complete = frozenset(Layer(mark) for mark in marks["complete"])
        origin = Origin(marks["origin"])
        late = marks.get("uncovered", ())
        uncovered = frozenset((Layer(layer), str(label)) for layer, label in late)
    except (AttributeError, KeyError, TypeError, ValueError):
        return None
    return TrainingDocument(with_fields(read, {}), complete, origin, uncovered)


def with_fields(annotated: AnnotatedDocument, fields: Mapping[str, Any]) -> AnnotatedDocument:
    """A document with other fields of the input, such as none."""
    return replace(annotated, document=replace(annotated.document, fields=fields))


class Verdict(StrEnum):
    """What an item says to a model; a masked one says nothing."""

    POSITIVE = "positive"
    NEGATIVE = "negative"
    MASKED = "masked"


Fragments = tuple[Span, ...]
Pair = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Verdicts:
    """The verdicts on all items of a document, by id.

    Attributes:
        entities: Of each entity.
        spans: Of each range that some entity stands on, over all entities there: positive if one is,
            else masked if one is, else negative.
        relations: Of each relation.
        mentions: Of each mention's place in a cluster, by cluster and entity.
        pairs: Of each two mentions that some cluster has, in the order of the document's entities: whether
            they mean the same thing. Positive if a cluster says so, else negative if one does, else masked.
            Two that were both rejected from a cluster are negative where coreference is done, masked elsewhere.
        settled: Positive entities whose links are complete: everything that is not positive in ``pairs`` is
            negative, so that a mention without a positive earlier one begins a cluster, or is alone. Empty
            where coreference is not done. Elsewhere only ``pairs`` count; that a mention is not the first of
            its cluster is known wherever a pair with an earlier one is positive. Pairs with a masked entity
            are masked, also when they are not in ``pairs``.
    """

    entities: Mapping[str, Verdict]
    spans: Mapping[Fragments, Verdict]
    relations: Mapping[str, Verdict]
    mentions: Mapping[Pair, Verdict]
    pairs: Mapping[Pair, Verdict]
    settled: frozenset[str]


def verdicts_of(document: TrainingDocument) -> Verdicts:
    annotations = document.annotated.annotations
    judge = _Judge(annotations, document.complete)
    mentions = dict(judge.mentions())
    done = Layer.COREFERENCE in document.complete
    pairs = judge.pairs(mentions)
    unclear = {
        entity for pair, verdict in pairs.items() if verdict is Verdict.MASKED for entity in pair
    }
    clear = (entity for entity in judge.entities if entity not in unclear) if done else ()
    return Verdicts(
        entities=judge.entities,
        spans=judge.spans,
        relations={relation.id: judge.relation(relation) for relation in annotations.relations},
        mentions=mentions,
        pairs=pairs,
        settled=frozenset(entity for entity in clear if judge.entities[entity] is Verdict.POSITIVE),
    )


def positive_part(document: TrainingDocument) -> AnnotatedDocument:
    """A document with its positive items only: the gold to compare predictions with."""
    annotations, verdicts = document.annotated.annotations, verdicts_of(document)
    # What is negative or masked is no gold: only what a person or a file says is there.
    clusters = []
    for cluster in annotations.clusters:
        kept = [m for m in cluster.mentions if verdicts.mentions[cluster.id, m] is Verdict.POSITIVE]
        clusters.append(
            replace(cluster, mentions=tuple(kept), mention_scores=(), mention_states=())
        )
    positive = Annotations(
        tuple(e for e in annotations.entities if verdicts.entities[e.id] is Verdict.POSITIVE),
        tuple(e for e in annotations.relations if verdicts.relations[e.id] is Verdict.POSITIVE),
        tuple(clusters),
    )
    return replace(document.annotated, annotations=positive)


def covered_part(predicted: AnnotatedDocument, document: TrainingDocument) -> AnnotatedDocument:
    """What is predicted for a document without the types that nobody has looked for: neither right nor wrong."""
    if not document.uncovered:
        return predicted
    late = {covered_name(layer, label) for layer, label in document.uncovered}
    return with_types(predicted, lambda name: name not in late)


def verdict_of(state: State) -> Verdict:
    """What an item of that state says, taken by itself."""
    if state in IN_VIEW:
        return Verdict.POSITIVE
    return Verdict.NEGATIVE if state is State.REJECTED else Verdict.MASKED


def mention_states(cluster: Cluster) -> tuple[State, ...]:
    """Per mention the state of its place in the cluster."""
    return cluster.mention_states or (cluster.state,) * len(cluster.mentions)


class _Judge:
    def __init__(self, annotations: Annotations, complete: frozenset[Layer]) -> None:
        self._annotations = annotations
        self._complete = complete
        self.entities = {entity.id: verdict_of(entity.state) for entity in annotations.entities}
        order = (Verdict.POSITIVE, Verdict.MASKED, Verdict.NEGATIVE)
        self.spans: dict[Fragments, Verdict] = {}
        for entity in annotations.entities:
            known = self.spans.get(entity.fragments, Verdict.NEGATIVE)
            self.spans[entity.fragments] = min(self.entities[entity.id], known, key=order.index)

    def relation(self, relation: Relation) -> Verdict:
        return self._with_entities(relation.state, (relation.head, relation.tail), Layer.RELATIONS)

    def mentions(self) -> Iterator[tuple[Pair, Verdict]]:
        for cluster in self._annotations.clusters:
            for entity, state in zip(cluster.mentions, mention_states(cluster), strict=True):
                yield (cluster.id, entity), self._with_entities(state, (entity,), Layer.COREFERENCE)

    def _with_entities(self, state: State, entities: tuple[str, ...], layer: Layer) -> Verdict:
        """What an item says, given what is known of the entities that it needs."""
        verdicts = {self.entities[id_] for id_ in entities}
        if Verdict.MASKED in verdicts:
            return Verdict.MASKED
        if Verdict.NEGATIVE not in verdicts:
            return verdict_of(state)
        gone = [id_ for id_ in entities if self.entities[id_] is Verdict.NEGATIVE]
        there_now = {self.spans[self._annotations.entity(id_).fragments] for id_ in gone}
        there_now -= {Verdict.NEGATIVE}
        known = not there_now or (layer in self._complete and Verdict.MASKED not in there_now)
        return Verdict.NEGATIVE if state is State.REJECTED and known else Verdict.MASKED

    def pairs(self, mentions: Mapping[Pair, Verdict]) -> dict[Pair, Verdict]:
        """Whether each two mentions of some cluster mean the same, given their places in clusters."""
        order = (Verdict.POSITIVE, Verdict.NEGATIVE, Verdict.MASKED)
        position = {entity.id: place for place, entity in enumerate(self._annotations.entities)}
        done = Layer.COREFERENCE in self._complete
        by_pair: dict[Pair, Verdict] = {}
        for cluster in self._annotations.clusters:
            ordered = sorted(set(cluster.mentions), key=position.__getitem__)
            for first, second in combinations(ordered, 2):
                places = [mentions[cluster.id, mention] for mention in (first, second)]
                # Two that do not belong to a cluster may still belong together, unless they are all that it had,
                # or somebody looked through the whole abstract for links.
                apart = Verdict.POSITIVE in places or done or len(ordered) == 2
                if Verdict.MASKED in places:
                    verdict = Verdict.MASKED
                elif Verdict.NEGATIVE not in places:
                    verdict = Verdict.POSITIVE
                else:
                    verdict = Verdict.NEGATIVE if apart else Verdict.MASKED
                verdicts = (verdict, by_pair.get((first, second), Verdict.MASKED))
                by_pair[first, second] = min(verdicts, key=order.index)
        return by_pair
