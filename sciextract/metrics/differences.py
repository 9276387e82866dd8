"""Where two annotators of a text differ, item by item: what adjudication decides on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from sciextract.documents.document import AnnotatedDocument
from sciextract.metrics.coreference import Partition
from sciextract.metrics.overlap import closeness, crossing, extent_of
from sciextract.metrics.scorable import Mention
from sciextract.metrics.sides import Item, Said, Side


class Layer(StrEnum):
    """What kind of item two annotators differ on."""

    ENTITY = "entity"
    RELATION = "relation"
    LINK = "link"


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
        document: Its index among those compared.
        first: What the first annotator has, ``None`` for nothing.
        second: What the second annotator has, ``None`` for nothing.
    """

    doc_key: str
    document: int
    layer: Layer
    kind: DifferenceKind
    first: Said | None
    second: Said | None


#: What the first and the second annotator have; ``None`` for nothing.
Sides: TypeAlias = tuple[Item | None, Item | None]
#: What makes two items equal.
Key: TypeAlias = tuple[tuple[Mention, ...], str]
#: Whether the mentions differ, whether the labels do, how little they overlap, and both keys.
Rank: TypeAlias = tuple[bool, bool, float, tuple[Key, Key]]


def differences(
    first: Sequence[AnnotatedDocument],
    second: Sequence[AnnotatedDocument],
    symmetric_labels: frozenset[str] = frozenset(),
) -> list[Difference]:
    """All differences, document by document, in each by the place of their first mention in the text.

    Rejected items are left out; equal items of one annotator count once. Entities without a type only
    take part in relations and links. A link joins a mention of a cluster to the one before it; it differs
    when the other annotator does not have both in one cluster. There is no difference exactly when the typed
    entities, the relations between equal mentions, and the clusters of two and more mentions are equal.

    Args:
        first: The documents as the first annotator has them.
        second: The same texts in the same order as the second annotator has them.
        symmetric_labels: Relation labels without direction (``LabelSchema.symmetric_labels``).

    Raises:
        ValueError: The two sides have different numbers of documents, or two texts differ.
    """
    found: list[Difference] = []
    for index, (one, other) in enumerate(zip(first, second, strict=True)):
        if one.document.text != other.document.text:
            raise ValueError(f"{one.document.doc_key!r}: the two annotators have different texts")
        for layer, sides in _document_differences(Side(one), Side(other), symmetric_labels):
            said = [item and item.said for item in sides]
            found.append(Difference(one.document.doc_key, index, layer, _kind(sides), *said))
    return found


def _document_differences(
    first: Side, second: Side, symmetric: frozenset[str]
) -> list[tuple[Layer, Sides]]:
    found = [
        *((Layer.ENTITY, each) for each in _paired(first.entities(), second.entities())),
        *(
            (Layer.RELATION, each)
            for each in _paired(first.relations(symmetric), second.relations(symmetric))
        ),
        *((Layer.LINK, (each, None)) for each in _unshared(first.links(), second.partition())),
        *((Layer.LINK, (None, each)) for each in _unshared(second.links(), first.partition())),
    ]
    return sorted(found, key=_position)


def _position(found: tuple[Layer, Sides]) -> tuple[Mention, int, list[Key]]:
    """The first mention in the text, then the layer, then what makes the order the same every time."""
    layer, sides = found
    items = sorted([_key(item) for item in sides if item is not None])
    first = min([mention for mentions, _ in items for mention in mentions])
    return first, list(Layer).index(layer), items


def _kind(sides: Sides) -> DifferenceKind:
    first, second = sides
    if second is None:
        return DifferenceKind.ONLY_FIRST
    if first is None:
        return DifferenceKind.ONLY_SECOND
    if sorted(first.mentions) == sorted(second.mentions):
        return DifferenceKind.OTHER_LABEL
    return DifferenceKind.OTHER_BOUNDARIES


def _unshared(links: Iterable[Item], clusters: Partition) -> Iterator[Item]:
    """The links whose mentions do not stand in one of the clusters."""
    home = {mention: index for index, cluster in enumerate(clusters) for mention in cluster}
    for link in links:
        earlier, later = (home.get(mention) for mention in link.mentions)
        if earlier is None or earlier != later:
            yield link


def _paired(first: Iterable[Item], second: Iterable[Item]) -> Iterator[Sides]:
    """Items that differ, each at most once: closest pairs first, then what is left alone.

    Closest are the same mentions, then an equal label, then the greatest overlap; ties go by text order,
    so that the pairs do not depend on which annotator is the first.
    """
    ours, theirs = ({_key(item): item for item in reversed([*side])} for side in (first, second))
    left = [item for key, item in ours.items() if key not in theirs]
    right = [item for key, item in theirs.items() if key not in ours]
    taken: set[Key] = set()
    for _, one, other in _candidates(left, right):
        if not taken & {_key(one), _key(other)}:
            taken |= {_key(one), _key(other)}
            yield one, other
    yield from ((item, None) for item in left if _key(item) not in taken)
    yield from ((None, item) for item in right if _key(item) not in taken)


def _candidates(left: Sequence[Item], right: Sequence[Item]) -> list[tuple[Rank, Item, Item]]:
    """Pairs that have to do with each other, closest first. No key of one side occurs on the other."""
    extents = [[extent_of(item.mentions) for item in side] for side in (left, right)]
    ranked = [
        (rank, left[one], right[other])
        for one, other in crossing(*extents)
        if (rank := _rank(left[one], right[other])) is not None
    ]
    return sorted(ranked, key=lambda each: each[0])


def _rank(one: Item, other: Item) -> Rank | None:
    same = sorted(one.mentions) == sorted(other.mentions)
    overlap = _overlap(one, other)
    if not same and not overlap:
        return None
    keys = sorted([_key(one), _key(other)])
    return not same, one.label != other.label, -overlap, (keys[0], keys[1])


def _overlap(one: Item, other: Item) -> float:
    """How far all mentions overlap, summed; 0 when one of them does not."""
    orders = [other.mentions]
    if one.symmetric and other.symmetric:
        orders.append(other.mentions[::-1])
    shares = [
        [closeness(*pair) for pair in zip(one.mentions, each, strict=True)] for each in orders
    ]
    return max([sum(each) for each in shares if all(each)], default=0.0)


def _key(item: Item) -> Key:
    return item.mentions, item.label
