"""From state rows to annotated documents: the current view, with or without what is undecided."""

from __future__ import annotations

from collections.abc import Mapping

from sciextract.documents.annotations import Annotations, Cluster, Entity, Relation, State
from sciextract.documents.document import AnnotatedDocument
from sciextract.store.document_state import DocumentState
from sciextract.store.rows import IN_VIEW, ClusterRow, Completeness, LinkRow, ProgressRow

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
    return _view(doc, sources, states, states - {State.REJECTED})


def whole(doc: DocumentState, sources: Mapping[int, str]) -> AnnotatedDocument:
    """A document with all its items: rejected ones too, and rejected places in clusters, which
    :func:`annotated` never shows.
    """
    return _view(doc, sources, EVERYTHING, EVERYTHING)


def _view(
    doc: DocumentState,
    sources: Mapping[int, str],
    states: frozenset[State],
    link_states: frozenset[State],
) -> AnnotatedDocument:
    entities = tuple(
        Entity(e.id, e.fragments, e.label, e.score, e.state, sources[e.source_id], e.alternatives)
        for e in doc.entities
        if e.state in states
    )
    place = {each.id: number for number, each in enumerate(entities)}
    relations = [
        Relation(
            *(each.id, each.head, each.tail, each.label, each.score, each.state),
            source=sources[each.source_id],
            alternatives=each.alternatives,
        )
        for each in doc.relations
        if each.state in states and each.head in place and each.tail in place
    ]
    relations.sort(key=lambda each: (place[each.head], place[each.tail], each.label, each.id))
    members: dict[str, list[LinkRow]] = {}
    for link in doc.links:
        if link.state in link_states and link.entity_id in place:
            members.setdefault(link.cluster_id, []).append(link)
    clusters = []
    # A file may say that one mention alone is a cluster, a model may not.
    for row in doc.clusters:
        links = sorted(members.get(row.id, []), key=lambda each: place[each.entity_id])
        by_import = row.state is State.IMPORTED and any(link.in_view for link in links)
        if len(links) >= (1 if by_import or State.REJECTED in link_states else _TWO):
            clusters.append(_to_cluster(row, links, sources))
    clusters.sort(key=lambda each: (place[each.mentions[0]], each.id))
    annotations = Annotations(entities, tuple(relations), tuple(clusters))
    return AnnotatedDocument(doc.stored.document, annotations, done=_is_done(doc))


def _is_done(doc: DocumentState) -> bool | None:
    """Whether a person has finished what they began: a layer is done, and nothing waits in any."""
    progress = doc.progress or ProgressRow()
    layers = {progress.entities, progress.relations, progress.coreference}
    if layers == {Completeness.UNTOUCHED}:
        return None
    return not doc.count_undecided() and Completeness.IN_PROGRESS not in layers


def _to_cluster(row: ClusterRow, members: list[LinkRow], sources: Mapping[int, str]) -> Cluster:
    states = {link.state for link in members}
    scores = tuple(link.score for link in members if link.score is not None)
    return Cluster(
        id=row.id,
        mentions=tuple(link.entity_id for link in members),
        score=row.score,
        state=row.state,
        source=sources[row.source_id],
        mention_scores=scores if len(scores) == len(members) else (),
        mention_states=() if states == {row.state} else tuple(link.state for link in members),
    )
