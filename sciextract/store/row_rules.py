"""The rules that the rows of a document keep: what a relation, a link and a cluster need, and what may be there once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TypeVar

from sciextract.documents.annotations import State
from sciextract.store.document_state import DocumentState
from sciextract.store.rows import EntityRow, Key, LinkRow, RelationRow

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
    found = set()
    for relation in doc.relations:
        if not all(_carries(doc.entity(end), relation) for end in (relation.head, relation.tail)):
            place = (relation.TABLE, relation.key)
            found.add(Problem("a relation needs both its mentions", frozenset({place})))
    members: Counter[str] = Counter()
    for link in doc.links:
        members[link.cluster_id] += link.state is not State.REJECTED
        if doc.cluster(link.cluster_id) is None or not _carries(doc.entity(link.entity_id), link):
            place = (link.TABLE, link.key)
            found.add(Problem("a cluster needs its mentions", frozenset({place})))
    for cluster in doc.clusters:
        if cluster.state is not State.IMPORTED and members[cluster.id] == 1:
            places = frozenset({(cluster.TABLE, cluster.key), (LinkRow.TABLE, cluster.key)})
            found.add(Problem("a cluster needs two mentions", places))

    def content_of(relation: RelationRow) -> object:
        both = (relation.head, relation.tail)
        return relation.label, frozenset(both) if relation.label in symmetric else both

    found.update(_find_twins("a mention belongs to one cluster", doc.links, lambda l: l.entity_id))
    found.update(
        _find_twins("the same mention is there", doc.all_entities, lambda e: (e.label, e.fragments))
    )
    found.update(_find_twins("the same relation is there", doc.relations, content_of))
    return found


def _carries(entity: EntityRow | None, item: RelationRow | LinkRow) -> bool:
    """Whether an entity is there, and no less certain than what stands on it."""
    if entity is None or item.state is State.REJECTED:
        return entity is not None
    # An undecided item may stand on an undecided mention, a decided one may not.
    return entity.in_view or (not item.in_view and entity.state is State.UNDECIDED)


def _find_twins(
    what: str, rows: Iterable[_Item], content_of: Callable[[_Item], object]
) -> Iterator[Problem]:
    """Rows that say the same, rejected ones left out; nearly always there are none."""
    by_content: dict[object, list[Place]] = {}
    for row in rows:
        if row.state is not State.REJECTED:
            by_content.setdefault(content_of(row), []).append((row.TABLE, row.key))
    # Files may say things twice, and imports take them as they are.
    for places in by_content.values():
        if len(places) > 1:
            yield Problem(what, frozenset(places), by_import=True)
