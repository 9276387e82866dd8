"""What a person does to coreference: the link of one mention, and whole clusters."""

from __future__ import annotations

from dataclasses import replace

from sciextract.documents.annotations import Layer, State, new_id
from sciextract.errors import ActionRefusedError
from sciextract.store.actions.guard import (
    SETTLED,
    check_single,
    decide,
    entity_of,
    living_cluster,
    mark_touched,
    reject,
)
from sciextract.store.document_state import Context, DocumentState
from sciextract.store.rows import ClusterRow, LinkRow, edited_from

_TWO = 2


def accept_link(doc: DocumentState, context: Context, link: LinkRow) -> None:
    """The mention belongs to the cluster; so does the cluster's anchor. Both leave other clusters.

    Raises:
        ActionRefusedError: The cluster was taken apart, and its other mentions went elsewhere.
    """
    anchor = _anchor_of(doc, link)
    for each in {anchor.key: anchor, link.key: link}.values():
        # A mention that was not in this cluster yet leaves all others; one that was, only proposed ones.
        new = each.state in (State.UNDECIDED, State.REJECTED)
        for other in doc.links_of(each.entity_id):
            leaves = other.state is State.UNDECIDED or (new and other.state is not State.REJECTED)
            if leaves and other.cluster_id != each.cluster_id:
                reject_link(doc, context, other)
        accept_mention(doc, context, each.entity_id)
        if each.state not in SETTLED:
            decide(each, State.ACCEPTED, doc, context)
    _accept_cluster(doc, context, link.cluster_id)
    mark_touched(doc, Layer.COREFERENCE)


def reject_link(doc: DocumentState, context: Context, link: LinkRow) -> None:
    """The mention does not belong to the cluster, which goes when only one is left."""
    reject(link, doc, context)
    dissolve_if_alone(doc, context, link.cluster_id)
    mark_touched(doc, Layer.COREFERENCE)


def accept_mention(doc: DocumentState, context: Context, entity_id: str) -> None:
    """What takes part in something accepted is accepted itself."""
    entity = entity_of(doc, entity_id)
    if not entity.in_view:
        if entity.state is State.REJECTED:
            check_single(doc, entity.fragments, entity.label, entity.id)
        decide(entity, State.ACCEPTED, doc, context)
        mark_touched(doc, Layer.ENTITIES)


def dissolve_if_alone(doc: DocumentState, context: Context, cluster_id: str) -> None:
    """Take a cluster apart that has fewer than two mentions left."""
    members = doc.members(cluster_id)
    if len(members) >= _TWO:
        return
    for link in members:
        reject(link, doc, context)
    cluster = doc.cluster(cluster_id)
    if cluster is None:
        return
    if not any(link.cluster_id == cluster_id for link in doc.links):
        doc.drop(cluster)
    elif cluster.state is not State.REJECTED:
        doc.put(replace(cluster, state=State.REJECTED, event_id=context.event_id))


def _anchor_of(doc: DocumentState, link: LinkRow) -> LinkRow:
    """The cluster's first mention; of a cluster that was taken apart the first one that is still free."""
    members = doc.members(link.cluster_id)
    if members:
        return members[0]
    for entity in doc.entities:
        companion = doc.link(link.cluster_id, entity.id)
        at_home = any(each.state is not State.REJECTED for each in doc.links_of(entity.id))
        free = entity.state is not State.REJECTED and entity.id != link.entity_id and not at_home
        if companion is not None and free:
            return companion
    name = entity_of(doc, link.entity_id).surface(doc.text)
    raise ActionRefusedError(
        f"{name!r} would be the only mention of its cluster",
        "join another cluster, or make a new one",
    )


def join(doc: DocumentState, context: Context, entity_id: str, cluster_id: str) -> None:
    """The mention belongs to this cluster, and to no other one.

    Raises:
        ActionRefusedError: The project has no coreference, or one of them is not there.
    """
    _check_schema(context)
    cluster, others = living_cluster(doc, cluster_id), _homes(doc, entity_id, but=cluster_id)
    entity_of(doc, entity_id)
    for link in others:
        reject_link(doc, context, link)
    _place(doc, context, entity_id, cluster, was=others[0] if others else None)
    _settle_all(doc, context, cluster)


def new_cluster(doc: DocumentState, context: Context, mentions: tuple[str, ...]) -> ClusterRow:
    """These mentions mean the same thing.

    Raises:
        ActionRefusedError: There are fewer than two, or the project has no coreference.
    """
    _check_schema(context)
    if len(set(mentions)) < _TWO:
        raise ActionRefusedError("a cluster needs at least two mentions")
    cluster = ClusterRow(new_id(), None, State.ADDED, context.source_id, context.event_id)
    doc.put(cluster)
    # Once each, in the order in which the person pointed at them.
    for entity_id in dict.fromkeys(mentions):
        entity_of(doc, entity_id)
        for link in _homes(doc, entity_id, but=cluster.id):
            reject_link(doc, context, link)
        _place(doc, context, entity_id, cluster)
    return cluster


def leave(doc: DocumentState, context: Context, entity_id: str) -> None:
    """The mention belongs to no cluster; a cluster that is left with one mention goes.

    Raises:
        ActionRefusedError: It is in none.
    """
    homes = _homes(doc, entity_id)
    if not homes:
        name = entity_of(doc, entity_id).surface(doc.text)
        raise ActionRefusedError(f"{name!r} is in no cluster")
    for link in homes:
        reject_link(doc, context, link)


def merge(doc: DocumentState, context: Context, cluster_id: str, other_id: str) -> None:
    """Both clusters mean the same thing: the mentions of the other one move here, undecided ones undecided.

    Raises:
        ActionRefusedError: They are one cluster, or one of them is not there.
    """
    if cluster_id == other_id:
        raise ActionRefusedError("a cluster cannot be merged with itself")
    cluster, other = living_cluster(doc, cluster_id), living_cluster(doc, other_id)
    moving = doc.members(other.id)
    context.items += len(moving)
    for link in moving:
        doc.drop(link)  # without a trace: its mention moves to another cluster
        _move(doc, context, link, cluster)
    dissolve_if_alone(doc, context, other.id)
    _settle_all(doc, context, cluster)


def split(
    doc: DocumentState, context: Context, cluster_id: str, entity_id: str
) -> ClusterRow | None:
    """This and the later mentions mean something else: they become a cluster of their own.

    Only this mention's place is decided by that; later ones that nobody has decided stay undecided in the new
    cluster, and are rejected in the old one, so that no prediction brings them back there.

    Returns:
        The new cluster, ``None`` when only one mention was split off.

    Raises:
        ActionRefusedError: The mention is not in the cluster, or it is its first one.
    """
    living_cluster(doc, cluster_id)
    members = doc.members(cluster_id)
    ids = [link.entity_id for link in members]
    if entity_id not in ids[1:]:
        raise ActionRefusedError(
            "a cluster is split before one of its mentions, but not before its first one"
        )
    moving = members[ids.index(entity_id) :]
    # One mention makes no cluster: it only leaves this one.
    if len(moving) < _TWO:
        reject_link(doc, context, moving[0])
        return None
    new = ClusterRow(new_id(), None, State.ADDED, context.source_id, context.event_id)
    doc.put(new)
    doc.drop(moving[0])
    context.items += len(moving)
    _place(doc, context, entity_id, new, was=moving[0])
    for link in moving[1:]:
        if link.state is State.UNDECIDED:
            doc.put(replace(link, state=State.REJECTED, event_id=context.event_id))
        else:
            doc.drop(link)
        _move(doc, context, link, new)
    dissolve_if_alone(doc, context, cluster_id)
    return new


def _check_schema(context: Context) -> None:
    if not context.schema.coreference:
        raise ActionRefusedError(
            f"schema {context.schema.name!r} has no coreference",
            "set coreference = true in the schema",
        )


def _homes(doc: DocumentState, entity_id: str, but: str = "") -> list[LinkRow]:
    return [
        link
        for link in doc.links_of(entity_id)
        if link.state is not State.REJECTED and link.cluster_id != but
    ]


def _place(
    doc: DocumentState,
    context: Context,
    entity_id: str,
    cluster: ClusterRow,
    was: LinkRow | None = None,
) -> None:
    """Put a mention into a cluster by a person's decision; where it was before is remembered."""
    accept_mention(doc, context, entity_id)
    known = doc.link(cluster.id, entity_id)
    if known is not None:
        settled = known.state in (State.ADDED, State.EDITED)
        state = known.state if settled else State.ACCEPTED
        doc.put(replace(known, state=state, event_id=context.event_id))
    else:
        score, by, event_id = was.score if was else None, context.source_id, context.event_id
        link = LinkRow(cluster.id, entity_id, score, State.ADDED, by, event_id)
        if was is not None and was.state is not State.ADDED:
            # A mention that moves stays the model's, with the place that the model gave it.
            first = edited_from(was)
            link = replace(link, state=State.EDITED, source_id=was.source_id, was=first)
        doc.put(link)
    context.items += 1
    mark_touched(doc, Layer.COREFERENCE)


def _move(doc: DocumentState, context: Context, link: LinkRow, cluster: ClusterRow) -> None:
    """Put a mention into another cluster; one that nobody has decided waits there for its decision."""
    if link.state is not State.UNDECIDED:
        _place(doc, context, link.entity_id, cluster, was=link)
    elif doc.link(cluster.id, link.entity_id) is None:
        doc.put(replace(link, cluster_id=cluster.id, event_id=context.event_id))
        context.items += 1


def _settle_all(doc: DocumentState, context: Context, cluster: ClusterRow) -> None:
    """A cluster that a person has worked on is not a guess any more; its anchor is accepted with it."""
    members = doc.members(cluster.id)
    anchor = members[0] if members else None
    if anchor is not None and anchor.state is State.UNDECIDED:
        accept_mention(doc, context, anchor.entity_id)
        doc.put(replace(anchor, state=State.ACCEPTED, event_id=context.event_id))
    _accept_cluster(doc, context, cluster.id)


def _accept_cluster(doc: DocumentState, context: Context, cluster_id: str) -> None:
    cluster = doc.cluster(cluster_id)
    if cluster is not None and cluster.state in (State.UNDECIDED, State.REJECTED):
        doc.put(replace(cluster, state=State.ACCEPTED, event_id=context.event_id))
