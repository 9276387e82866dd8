"""From state rows to annotated documents: the current view, with or without what is undecided."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from sciextract.documents.annotations import Annotations, Cluster, Entity, Relation, State
from sciextract.documents.document import AnnotatedDocument
from sciextract.store.document_state import DocumentState
from sciextract.store.rows import (
    IN_VIEW,
    ClusterRow,
    Completeness,
    EntityRow,
    LinkRow,
    ProgressRow,
    RelationRow,
)

WITH_UNDECIDED = IN_VIEW | {State.UNDECIDED}
EVERYTHING = frozenset(State)
_TWO = 2


def annotated(
    doc: DocumentState, sources: Mapping[int, str], states: frozenset[State] = IN_VIEW
) -> AnnotatedDocument:
    """A document with those of its items that have one of ``states``.

    Relations and mentions whose entity is left out are left out, too; so are clusters with fewer than two
    mentions, unless they were imported so. A rejected link makes no mention, whatever the states.
    """
    entities = [each for each in doc.entities if each.state in states]
    kept = {each.id: place for place, each in enumerate(entities)}
    relations = [
        each
        for each in doc.relations
        if each.state in states and each.head in kept and each.tail in kept
    ]
    relations.sort(key=lambda each: (kept[each.head], kept[each.tail], each.label, each.id))
    clusters = [_cluster(each, _members(doc, each, states, kept), sources) for each in doc.clusters]
    annotations = Annotations(
        tuple(_entity(each, sources) for each in entities),
        tuple(_relation(each, sources) for each in relations),
        tuple(sorted((c for c in clusters if c), key=lambda c: (kept[c.mentions[0]], c.id))),
    )
    return AnnotatedDocument(doc.stored.document, annotations, done=_done(doc))


def _done(doc: DocumentState) -> bool | None:
    """Whether a person has finished what they began: a layer is done, and nothing waits in any."""
    progress = doc.progress or ProgressRow()
    layers = {progress.entities, progress.relations, progress.coreference}
    if layers == {Completeness.UNTOUCHED}:
        return None
    items = (doc.all_entities, doc.relations, doc.links)
    waiting = any(State.UNDECIDED in {row.state for row in rows} for rows in items)
    return not waiting and Completeness.IN_PROGRESS not in layers


def whole(doc: DocumentState, sources: Mapping[int, str]) -> AnnotatedDocument:
    """A document with all its items: rejected ones too, and rejected places in clusters, which
    :func:`annotated` never shows.
    """
    shown = annotated(doc, sources, EVERYTHING)
    position = {each.id: place for place, each in enumerate(doc.entities)}
    links: dict[str, list[LinkRow]] = {}
    for each in sorted(doc.links, key=lambda link: position[link.entity_id]):
        links.setdefault(each.cluster_id, []).append(each)
    clusters = [
        _as_cluster(each, links[each.id], sources) for each in doc.clusters if each.id in links
    ]
    clusters.sort(key=lambda each: (position[each.mentions[0]], each.id))
    return replace(shown, annotations=replace(shown.annotations, clusters=tuple(clusters)))


def _members(
    doc: DocumentState, cluster: ClusterRow, states: frozenset[State], kept: Mapping[str, int]
) -> list[LinkRow]:
    links = [
        each
        for each in doc.links
        if each.cluster_id == cluster.id
        and each.state in states - {State.REJECTED}
        and each.entity_id in kept
    ]
    return sorted(links, key=lambda each: kept[each.entity_id])


def _cluster(row: ClusterRow, members: list[LinkRow], sources: Mapping[int, str]) -> Cluster | None:
    by_import = row.state is State.IMPORTED and any(link.in_view for link in members)
    least = 1 if by_import else _TWO
    return None if len(members) < least else _as_cluster(row, members, sources)


def _as_cluster(row: ClusterRow, members: list[LinkRow], sources: Mapping[int, str]) -> Cluster:
    scores = [link.score for link in members]
    states = {link.state for link in members}
    known = tuple(score for score in scores if score is not None)
    return Cluster(
        id=row.id,
        mentions=tuple(link.entity_id for link in members),
        score=row.score,
        state=row.state,
        source=sources[row.source_id],
        mention_scores=known if len(known) == len(scores) else (),
        mention_states=() if states == {row.state} else tuple(link.state for link in members),
    )


def _entity(row: EntityRow, sources: Mapping[int, str]) -> Entity:
    source = sources[row.source_id]
    return Entity(row.id, row.fragments, row.label, row.score, row.state, source, row.alternatives)


def _relation(row: RelationRow, sources: Mapping[int, str]) -> Relation:
    return Relation(
        id=row.id,
        head=row.head,
        tail=row.tail,
        label=row.label,
        score=row.score,
        state=row.state,
        source=sources[row.source_id],
        alternatives=row.alternatives,
    )
