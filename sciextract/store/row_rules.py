"""The rules that the rows of a document keep: what a relation, a link and a cluster need, and what may be there once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from sciextract.documents.annotations import State
from sciextract.store.document_state import DocumentState
from sciextract.store.rows import (
    EntityRow,
    Key,
    LinkRow,
    RelationRow,
)

Place = tuple[str, Key]
_Item = TypeVar("_Item", EntityRow, RelationRow, LinkRow)


@dataclass(frozen=True, slots=True)
class Problem:
    """A rule that is broken.

    Attributes:
        what: The rule in words.
        places: Rows that have to do with it, by table and key, or by table and the beginning of the key.
        by_import: Whether imports may bring it about.
    """

    what: str
    places: frozenset[Place]
    by_import: bool = False

    def concerns(self, table: str, key: Key) -> bool:
        """Whether a row has to do with it."""
        return any(table == name and key[: len(start)] == start for name, start in self.places)


def problems(doc: DocumentState, symmetric: frozenset[str]) -> set[Problem]:
    """What in a document breaks a rule.

    Args:
        doc: The document.
        symmetric: Labels of the relations without direction.
    """
    return {*_dangling(doc), *_alone(doc), *_twice(doc, symmetric)}


def _dangling(doc: DocumentState) -> Iterator[Problem]:
    """Relations and links whose entity or cluster is not there, or is less certain than they are."""
    for relation in doc.relations:
        if not all(_carries(doc.entity(end), relation) for end in (relation.head, relation.tail)):
            place = (relation.TABLE, relation.key)
            yield Problem("a relation needs both its mentions", frozenset({place}))
    for link in doc.links:
        cluster, mention = doc.cluster(link.cluster_id), doc.entity(link.entity_id)
        if cluster is None or not _carries(mention, link):
            yield Problem("a cluster needs its mentions", frozenset({(link.TABLE, link.key)}))


def _carries(entity: EntityRow | None, item: RelationRow | LinkRow) -> bool:
    if entity is None or item.state is State.REJECTED:
        return entity is not None
    return entity.in_view or (not item.in_view and entity.state is State.UNDECIDED)


def _alone(doc: DocumentState) -> Iterator[Problem]:
    """Clusters of one mention, unless they were imported so."""
    members = Counter(link.cluster_id for link in _not_rejected(doc.links))
    for cluster in doc.clusters:
        if cluster.state is not State.IMPORTED and members[cluster.id] == 1:
            places = frozenset({(cluster.TABLE, cluster.key), (LinkRow.TABLE, cluster.key)})
            yield Problem("a cluster needs two mentions", places)


def _twice(doc: DocumentState, symmetric: frozenset[str]) -> Iterator[Problem]:
    """Mentions in two clusters, and items that say the same."""

    def ends(relation: RelationRow) -> object:
        both = (relation.head, relation.tail)
        return relation.label, frozenset(both) if relation.label in symmetric else both

    links, entities, relations = doc.links, doc.all_entities, doc.relations
    one_home, same, again = (
        "a mention belongs to one cluster",
        "the same mention is there",
        "the same relation is there",
    )
    yield from _several(one_home, [*_not_rejected(links)], lambda link: link.entity_id)
    yield from _several(
        same, [*_not_rejected(entities)], lambda entity: (entity.label, entity.fragments)
    )
    yield from _several(again, [*_not_rejected(relations)], ends)


def _several(
    what: str, rows: Sequence[_Item], content: Callable[[_Item], object]
) -> Iterator[Problem]:
    """Rows of the same content; nearly always there are none."""
    keys = [content(row) for row in rows]
    for key in [key for key, count in Counter(keys).items() if count > 1]:
        group = (row for row, own in zip(rows, keys, strict=True) if own == key)
        places = frozenset((row.TABLE, row.key) for row in group)
        yield Problem(what, places, by_import=True)


def _not_rejected(rows: Iterable[_Item]) -> Iterator[_Item]:
    return (row for row in rows if row.state is not State.REJECTED)
