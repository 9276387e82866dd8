"""What imports and model runs share: finding the row that says the same, and adding rows that are new."""

from __future__ import annotations

import json
from collections.abc import Iterable

from sciextract.documents.annotations import Cluster, Entity, Relation, State
from sciextract.store.file.sql_text import to_sql
from sciextract.store.incoming.context import Context
from sciextract.store.state.draft import Draft
from sciextract.store.state.rows import ClusterRow, EntityRow, LinkRow, RelationRow

Pair = tuple[str, str]
_TWO = 2


def free_id(draft: Draft, wanted: str, context: Context) -> str:
    """The id itself, or a fresh one when the document has an item of that id, or it cannot be kept."""
    taken = draft.entity(wanted) or draft.relation(wanted) or draft.cluster(wanted)
    usable = bool(wanted) and isinstance(to_sql(wanted), str)
    return wanted if usable and not taken else context.fresh_id()


def add_entity(
    draft: Draft, entity: Entity, state: State, source_id: int, context: Context
) -> EntityRow:
    """Add an incoming entity as a row."""
    row = EntityRow(
        *(free_id(draft, entity.id, context), entity.fragments, entity.label, entity.score, state),
        *(source_id, context.event_id, None, entity.alternatives),
    )
    draft.put(row)
    context.items += 1
    return row


def add_relation(
    draft: Draft, relation: Relation, ends: Pair, state: State, source_id: int, context: Context
) -> RelationRow:
    """Add an incoming relation between two entities of the project as a row."""
    row = RelationRow(
        *(free_id(draft, relation.id, context), *ends, relation.label, relation.score, state),
        *(source_id, context.event_id, None, relation.alternatives),
    )
    draft.put(row)
    context.items += 1
    return row


def add_cluster(
    draft: Draft, cluster: Cluster, state: State, source_id: int, context: Context
) -> ClusterRow:
    """Add an incoming cluster as a row, still without links."""
    row = ClusterRow(
        free_id(draft, cluster.id, context), cluster.score, state, source_id, context.event_id
    )
    draft.put(row)
    return row


def add_link(
    draft: Draft,
    cluster_id: str,
    mention: str,
    score: float | None,
    like: ClusterRow,
    context: Context,
) -> None:
    """Add a mention to a cluster, in the cluster's own state and from its source."""
    draft.put(LinkRow(cluster_id, mention, score, like.state, like.source_id, context.event_id))
    context.items += 1


def leaves_alone(draft: Draft, link: LinkRow) -> bool:
    """Whether a mention whose link is decided would be alone in its cluster without this link."""
    return is_awaited(draft, link) and len(draft.members(link.cluster_id)) == _TWO


def is_awaited(draft: Draft, link: LinkRow) -> bool:
    """Whether one other mention of the cluster is decided, which cannot stay there alone."""
    cluster = draft.cluster(link.cluster_id)
    by_import = cluster is not None and cluster.state is State.IMPORTED
    others = [each for each in draft.members(link.cluster_id) if each.key != link.key]
    return not by_import and sum(each.in_view for each in others) == 1


def same_relations(
    draft: Draft, ends: Pair, symmetric: bool, label: str | None = None
) -> list[RelationRow]:
    """Relations between two entities in that direction (either one, for symmetric types)."""
    return [
        each
        for each in draft.relations
        if ((each.head, each.tail) == ends or (symmetric and (each.tail, each.head) == ends))
        and label in (None, each.label)
    ]


def once_was(rows: Iterable[EntityRow], entity: Entity) -> EntityRow | None:
    """The row that had this label and these fragments before a person edited it."""
    fragments = [[each.char_start, each.char_end] for each in entity.fragments]
    wanted = {"label": entity.label, "fragments": fragments}
    return next((row for row in rows if row.was and json.loads(row.was) == wanted), None)


def relation_once_was(draft: Draft, ends: Pair, label: str) -> RelationRow | None:
    """The relation that was this one before a person edited it."""
    wanted = {"label": label, "head": ends[0], "tail": ends[1]}
    return next((row for row in draft.relations if row.was and json.loads(row.was) == wanted), None)
