"""Where two annotators of a text differ, item by item: what adjudication decides on."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Collection, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise
from typing import NamedTuple, TypeAlias

from sciextract.documents.annotations import (
    NOT_REJECTED,
    Attribute,
    Cluster,
    Entity,
    Layer,
    Span,
)
from sciextract.documents.document import AnnotatedDocument
from sciextract.documents.schema import ABSTRACT, RELATION_PREFIX, AttributeType
from sciextract.metrics.counts import (
    Mention,
    Partition,
    best_total,
    mention_of,
    partition,
    without_singletons,
)


@dataclass(frozen=True, slots=True)
class AnnotatedItem:
    """What one annotator has.

    Attributes:
        id: Id of the entity, the relation or the attribute; of a link its cluster's.
        label: Its label; empty for a link.
        entities: Ids of the entities: itself; head and tail; the earlier and the later mention. Of an attribute the id of what
            it is said of by the first annotator.
        fragments: The character ranges of each; of an attribute those of what it is said of, none for the abstract.
        entity_labels: The label of each.
        on: What an attribute is said of, ``abstract``, an entity type or ``relation:LABEL``; empty for other items.
        value: What an attribute says; empty for a flag.
    """

    id: str
    label: str
    entities: tuple[str, ...]
    fragments: tuple[tuple[Span, ...], ...]
    entity_labels: tuple[str, ...]
    on: str = ""
    value: str = ""


class Item(NamedTuple):
    """An entity, relation or link. A symmetric relation has its mentions in text order."""

    mentions: tuple[Mention, ...]
    label: str
    symmetric: bool
    annotated: AnnotatedItem


class Side:
    """The items that one annotator has not rejected."""

    def __init__(self, document: AnnotatedDocument) -> None:
        found = document.annotations.in_states(NOT_REJECTED)
        self._entities = {entity.id: entity for entity in found.entities}
        self._relations, self._clusters = found.relations, found.clusters

    def entities(self) -> Iterator[Item]:
        """The entities that have a type."""
        for entity in self._entities.values():
            if entity.label:
                annotated = _annotated_item(entity.id, entity.label, [entity])
                yield Item((mention_of(entity),), entity.label, False, annotated)

    def relations(self, symmetric_labels: frozenset[str]) -> Iterator[Item]:
        for relation in self._relations:
            ends = [self._entities[relation.head], self._entities[relation.tail]]
            symmetric = relation.label in symmetric_labels
            mentions = [mention_of(end) for end in ends]
            ordered = tuple(sorted(mentions) if symmetric else mentions)
            annotated = _annotated_item(relation.id, relation.label, ends)
            yield Item(ordered, relation.label, symmetric, annotated)

    def partition(self) -> Partition:
        """The clusters of two and more mentions, as the coreference scores have them."""
        clusters = [frozenset(self._members(cluster)) for cluster in self._clusters]
        # Singletons link nothing; most annotators do not mark them.
        return without_singletons(partition(clusters))

    def links(self) -> Iterator[Item]:
        """Every mention of a cluster with the one before it."""
        members = [(cluster, self._members(cluster)) for cluster in self._clusters]
        for mentions in self.partition():
            for pair in pairwise(sorted(mentions)):
                cluster, home = next(member for member in members if member[1].keys() >= {*pair})
                annotated = _annotated_item(cluster.id, "", [home[mention] for mention in pair])
                yield Item(pair, "", True, annotated)

    def _members(self, cluster: Cluster) -> dict[Mention, Entity]:
        """The mentions of a cluster; of several entities in one place the first."""
        members: dict[Mention, Entity] = {}
        for entity_id in cluster.mentions:
            entity = self._entities[entity_id]
            members.setdefault(mention_of(entity), entity)
        return members


def _annotated_item(item_id: str, label: str, entities: Sequence[Entity]) -> AnnotatedItem:
    ids, labels = [entity.id for entity in entities], [entity.label for entity in entities]
    fragments = [entity.fragments for entity in entities]
    return AnnotatedItem(item_id, label, tuple(ids), tuple(fragments), tuple(labels))


#: First and last offset, end exclusive.
Extent: TypeAlias = tuple[int, int]


def extent_of(mentions: Iterable[Mention]) -> Extent:
    """The range from the first to the last offset of mentions."""
    edges = [edge for mention in mentions for edge in (mention[0], mention[-1])]
    return min(edges), max(edges)


def find_crossing(first: Sequence[Extent], second: Sequence[Extent]) -> Iterator[tuple[int, int]]:
    """Index pairs of ranges that share an offset, ``first`` in order."""
    order = sorted(range(len(second)), key=second.__getitem__)
    starts = [second[index][0] for index in order]
    # Whatever begins further back than the longest range cannot reach this one.
    longest = max((end - start for start, end in second), default=0)
    for index, (start, end) in enumerate(first):
        low, high = bisect_left(starts, start - longest), bisect_left(starts, end)
        yield from ((index, other) for other in order[low:high] if second[other][1] > start)


def shared_length(first: Mention, second: Mention) -> int:
    """How many offsets two mentions share, fragment by fragment.

    >>> shared_length((0, 4, 6, 9), (3, 7))
    2
    """
    return sum(
        [
            max(0, min(end, other_end) - max(start, other_start))
            for start, end in zip(first[::2], first[1::2], strict=True)
            for other_start, other_end in zip(second[::2], second[1::2], strict=True)
        ]
    )


def closeness(first: Mention, second: Mention) -> float:
    """Shared offsets over all, 0 to 1 (Dice 1945, "Measures of the Amount of Ecologic Association").

    >>> closeness((0, 4), (2, 6))
    0.5
    """
    both = sum([sum(mention[1::2]) - sum(mention[::2]) for mention in (first, second)])
    return 2 * shared_length(first, second) / both if both else 0.0


def count_matches(first: Sequence[Mention], second: Sequence[Mention]) -> int:
    """The greatest number of overlapping mentions that can be paired, each at most once.

    The number does not depend on the order of the mentions, nor of the sides.
    """
    extents = [[extent_of([mention]) for mention in side] for side in (first, second)]
    overlapping = {
        (one, other): 1.0
        for one, other in find_crossing(*extents)
        if shared_length(first[one], second[other])
    }
    return int(best_total(overlapping))


class DifferenceKind(StrEnum):
    """How they differ.

    ``other_label``: the same mentions, but another label; of a relation also the other direction.
    ``other_boundaries``: mentions that overlap, paired one to one; their labels may differ, too.
    """

    ONLY_FIRST = "only_first"
    ONLY_SECOND = "only_second"
    OTHER_LABEL = "other_label"
    OTHER_BOUNDARIES = "other_boundaries"


@dataclass(frozen=True, slots=True)
class Difference:
    """One thing to decide.

    Attributes:
        doc_key: The document, as the first annotator calls it.
        first: What the first annotator has, ``None`` for nothing.
        second: What the second annotator has, ``None`` for nothing.
    """

    doc_key: str
    layer: Layer
    kind: DifferenceKind
    first: AnnotatedItem | None
    second: AnnotatedItem | None

    @classmethod
    def of(
        cls,
        document: AnnotatedDocument,
        layer: Layer,
        items: Sequence[AnnotatedItem | None],
        both: DifferenceKind,
    ) -> Difference:
        """The difference between two items in a document, one of which may be missing; ``both`` is its kind where none is."""
        first, second = items
        kind = both if first and second else DifferenceKind.ONLY_SECOND
        kind = DifferenceKind.ONLY_FIRST if second is None else kind
        return cls(document.document.doc_key, layer, kind, first, second)

    @property
    def items(self) -> list[AnnotatedItem]:
        """What there is of both."""
        return [item for item in (self.first, self.second) if item is not None]

    @property
    def is_attribute(self) -> bool:
        """Whether it is about an attribute; its layer is that of what the attribute is said of."""
        return bool(self.items[0].on)

    @property
    def item(self) -> str:
        """What kind of item it is about, in a word."""
        return "attribute" if self.is_attribute else self.layer.item


#: What the first and the second annotator have; ``None`` for nothing.
Sides: TypeAlias = tuple[Item | None, Item | None]
#: What makes two items equal.
Key: TypeAlias = tuple[tuple[Mention, ...], str]
#: Whether the mentions differ, whether the labels do, how little they overlap, and both keys.
Rank: TypeAlias = tuple[bool, bool, float, tuple[Key, Key]]


def differences(
    first: AnnotatedDocument, second: AnnotatedDocument, symmetric_labels: frozenset[str]
) -> Iterator[Difference]:
    """All differences in a document, by the place of their first mention in the text.

    Rejected items are left out; equal items of one annotator count once. Entities without a type only
    take part in relations and links. A link joins a mention of a cluster to the one before it; it differs
    when the other annotator does not have both in one cluster. There is no difference exactly when the typed
    entities, the relations between equal mentions, and the clusters of two and more mentions are equal.

    Args:
        first: The document as the first annotator has it.
        second: The same text as the second annotator has it.
        symmetric_labels: Relation labels without direction (``LabelSchema.symmetric_labels``).
    """
    mine, theirs = Side(first), Side(second)
    relations = (side.relations(symmetric_labels) for side in (mine, theirs))
    pairs: list[tuple[Layer, Sides]] = [
        *((Layer.ENTITIES, pair) for pair in _pair(mine.entities(), theirs.entities())),
        *((Layer.RELATIONS, pair) for pair in _pair(*relations)),
        *((Layer.COREFERENCE, (link, None)) for link in _unshared(mine, theirs)),
        *((Layer.COREFERENCE, (None, link)) for link in _unshared(theirs, mine)),
    ]
    for layer, sides in sorted(pairs, key=_position):
        places = {tuple(sorted(item.mentions)) for item in sides if item is not None}
        same = len(places) == 1
        both = DifferenceKind.OTHER_LABEL if same else DifferenceKind.OTHER_BOUNDARIES
        yield Difference.of(first, layer, [item and item.annotated for item in sides], both)


def _position(pair: tuple[Layer, Sides]) -> tuple[Mention, int, list[Key]]:
    """The first mention in the text, then the layer, then what makes the order the same every time."""
    layer, sides = pair
    items = sorted([_key(item) for item in sides if item is not None])
    first = min([mention for mentions, _ in items for mention in mentions])
    return first, list(Layer).index(layer), items


def _unshared(side: Side, other: Side) -> Iterator[Item]:
    """The links of a side whose mentions do not stand in one cluster of the other one."""
    clusters = enumerate(other.partition())
    home = {mention: index for index, cluster in clusters for mention in cluster}
    for link in side.links():
        earlier, later = (home.get(mention) for mention in link.mentions)
        if earlier is None or earlier != later:
            yield link


def _pair(first: Iterable[Item], second: Iterable[Item]) -> Iterator[Sides]:
    """Items that differ, each at most once: closest pairs first, then what is left alone.

    Closest are the same mentions, then an equal label, then the greatest overlap; ties go by text order,
    so that the pairs do not depend on which annotator is the first.
    """
    ours, theirs = ({_key(item): item for item in reversed([*side])} for side in (first, second))
    left = [item for key, item in ours.items() if key not in theirs]
    right = [item for key, item in theirs.items() if key not in ours]
    extents = [[extent_of(item.mentions) for item in side] for side in (left, right)]
    ranked = [
        (rank, left[one], right[other])
        for one, other in find_crossing(*extents)
        if (rank := _rank(left[one], right[other])) is not None
    ]
    taken: set[Key] = set()
    # By the rank alone: items themselves have no order. No key of one side occurs on the other.
    for _, one, other in sorted(ranked, key=lambda pair: pair[0]):
        if not taken & {_key(one), _key(other)}:
            taken |= {_key(one), _key(other)}
            yield one, other
    yield from ((item, None) for item in left if _key(item) not in taken)
    yield from ((None, item) for item in right if _key(item) not in taken)


def _rank(one: Item, other: Item) -> Rank | None:
    """How close two items are, smaller is closer; ``None`` where they have nothing to do with each other."""
    orders = [other.mentions]
    if one.symmetric and other.symmetric:
        orders.append(other.mentions[::-1])
    shares = [
        [closeness(*pair) for pair in zip(one.mentions, order, strict=True)] for order in orders
    ]
    # All mentions have to overlap: one shared argument does not make two relations the same.
    overlap = max([sum(row) for row in shares if all(row)], default=0.0)
    same = sorted(one.mentions) == sorted(other.mentions)
    if not same and not overlap:
        return None
    keys = sorted([_key(one), _key(other)])
    return not same, one.label != other.label, -overlap, (keys[0], keys[1])


def _key(item: Item) -> Key:
    return item.mentions, item.label


def differing_attributes(
    first: AnnotatedDocument,
    second: AnnotatedDocument,
    kinds: Collection[AttributeType],
    symmetric_labels: frozenset[str],
) -> Iterator[Difference]:
    """Where two annotators of a text say different things of items that both have, or of the abstract."""
    for label, mine, theirs in pair_attributes(first, second, kinds, symmetric_labels):
        if mine.value_of(label) != theirs.value_of(label):
            place = (mine.target,), mine.fragments, mine.labels, mine.on
            said = (side.said.get(label) for side in (mine, theirs))
            items = [
                None if one is None else AnnotatedItem(one.id, label, *place, one.value)
                for one in said
            ]
            layer = Layer.RELATIONS if mine.on.startswith(RELATION_PREFIX) else Layer.ENTITIES
            yield Difference.of(first, layer, items, DifferenceKind.OTHER_LABEL)


def value_at(
    document: AnnotatedDocument, item: AnnotatedItem, symmetric_labels: frozenset[str]
) -> tuple[bool, str | None]:
    """Whether an annotator has what an attribute is said of, and the value there, ``None`` for nothing."""
    side = _find_said(document, symmetric_labels).get((item.on, item.fragments))
    return side is not None, side.value_of(item.label) if side else None


class _Said(NamedTuple):
    """What is said of an item or the abstract: its kind, id, fragments and labels, and the attributes by label."""

    on: str
    target: str
    fragments: tuple[tuple[Span, ...], ...]
    labels: tuple[str, ...]
    said: dict[str, Attribute]

    def value_of(self, label: str) -> str | None:
        return self.said[label].value if label in self.said else None


def pair_attributes(
    first: AnnotatedDocument,
    second: AnnotatedDocument,
    kinds: Collection[AttributeType],
    symmetric_labels: frozenset[str],
) -> Iterator[tuple[str, _Said, _Said]]:
    """Each attribute with every item that both have and that it may stand on, or the abstract, as both have it.

    Items are the same with equal fragments and labels.
    """
    if not kinds:
        return
    mine, theirs = (_find_said(side, symmetric_labels) for side in (first, second))
    for kind in kinds:
        for place, side in mine.items():
            if place in theirs and kind.allows(side.on):
                yield kind.label, side, theirs[place]


def _find_said(
    document: AnnotatedDocument, symmetric_labels: frozenset[str]
) -> dict[Hashable, _Said]:
    """By what makes items equal, kind and fragments, what is said of them."""
    found = document.annotations.in_states(NOT_REJECTED)
    said = defaultdict[str, dict[str, Attribute]](dict)
    for attribute in found.attributes:
        said[attribute.target][attribute.label] = attribute
    sides = [_Said(ABSTRACT, "", (), (), said[""])]
    places = {entity.id: (entity.fragments, entity.label) for entity in found.entities}
    for name, (fragments, label) in places.items():
        sides.append(_Said(label, name, (fragments,), (label,), said[name]))
    for link in found.relations:
        ends = [places[link.head], places[link.tail]]
        ordered = sorted(ends) if link.label in symmetric_labels else ends
        both = tuple(place for place, _ in ordered), tuple(label for _, label in ordered)
        sides.append(_Said(RELATION_PREFIX + link.label, link.id, *both, said[link.id]))
    # Of several items in one place the first.
    return {(side.on, side.fragments): side for side in reversed(sides)}
