"""The rules that a document's rows keep among themselves: undo and redo are refused where they would break one.

Actions, model runs and imports keep these rules by themselves; undo only puts rows back, and others may have
acted on neighbouring rows since.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from sciextract.documents.annotations import State
from sciextract.store.state.draft import Draft
from sciextract.store.state.rows import EntityRow, Key, LinkRow, RelationRow

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


def problems(draft: Draft, symmetric: frozenset[str]) -> set[Problem]:
    """What in a document breaks a rule.

    Args:
        draft: The document.
        symmetric: Labels of the relations without direction.
    """
    return {*_dangling(draft), *_alone(draft), *_twice(draft, symmetric)}


def _dangling(draft: Draft) -> Iterator[Problem]:
    """Relations and links whose entity or cluster is not there, or is less certain than they are."""
    for relation in draft.relations:
        if not all(_carries(draft.entity(end), relation) for end in (relation.head, relation.tail)):
            place = (relation.TABLE, relation.key)
            yield Problem("a relation needs both its mentions", frozenset({place}))
    for link in draft.links:
        cluster, mention = draft.cluster(link.cluster_id), draft.entity(link.entity_id)
        if cluster is None or not _carries(mention, link):
            yield Problem("a cluster needs its mentions", frozenset({(link.TABLE, link.key)}))


def _carries(entity: EntityRow | None, item: RelationRow | LinkRow) -> bool:
    if entity is None or item.state is State.REJECTED:
        return entity is not None
    return entity.in_view or (not item.in_view and entity.state is State.UNDECIDED)


def _alone(draft: Draft) -> Iterator[Problem]:
    """Clusters of one mention, unless they were imported so."""
    members = Counter(link.cluster_id for link in _live(draft.links))
    for cluster in draft.clusters:
        if cluster.state is not State.IMPORTED and members[cluster.id] == 1:
            places = frozenset({(cluster.TABLE, cluster.key), (LinkRow.TABLE, cluster.key)})
            yield Problem("a cluster needs two mentions", places)


def _twice(draft: Draft, symmetric: frozenset[str]) -> Iterator[Problem]:
    """Mentions in two clusters, and items that say the same."""

    def ends(relation: RelationRow) -> object:
        both = (relation.head, relation.tail)
        return relation.label, frozenset(both) if relation.label in symmetric else both

    links, entities, relations = draft.links, draft.all_entities, draft.relations
    one_home, same, again = (
        "a mention belongs to one cluster",
        "the same mention is there",
        "the same relation is there",
    )
    yield from _several(one_home, [*_live(links)], lambda link: link.entity_id)
    yield from _several(same, [*_live(entities)], lambda entity: (entity.label, entity.fragments))
    yield from _several(again, [*_live(relations)], ends)


def _several(
    what: str, rows: Sequence[_Item], said: Callable[[_Item], object]
) -> Iterator[Problem]:
    """Rows that say the same; nearly always there are none."""
    keys = [said(row) for row in rows]
    for key in [key for key, count in Counter(keys).items() if count > 1]:
        group = (row for row, own in zip(rows, keys, strict=True) if own == key)
        places = frozenset((row.TABLE, row.key) for row in group)
        yield Problem(what, places, by_import=True)


def _live(rows: Iterable[_Item]) -> Iterator[_Item]:
    return (row for row in rows if row.state is not State.REJECTED)
