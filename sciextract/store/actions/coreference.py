"""Which mentions of a document mean the same: what a person does to its clusters, as functions of an edit."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import TYPE_CHECKING

from sciextract.documents.annotations import Layer, State, new_id
from sciextract.errors import ActionRefusedError
from sciextract.store.document_state import existing
from sciextract.store.rows import SETTLED, ClusterRow, LinkRow, edited_from

if TYPE_CHECKING:
    from sciextract.store.actions.editing import Edit


def join(edit: Edit, entity_id: str, cluster_id: str) -> None:
    """The mention belongs to this cluster, and to no other one."""
    _check_coreference(edit)
    cluster, others = _living_cluster(edit, cluster_id), homes_of(edit, entity_id, but=cluster_id)
    edit.entity(entity_id)
    for link in others:
        edit.reject(link)
    _place(edit, entity_id, cluster, was=others[0] if others else None)
    _settle(edit, cluster)


def new_cluster(edit: Edit, mentions: Collection[str]) -> None:
    """These mentions mean the same thing."""
    _check_coreference(edit)
    if len(set(mentions)) < 2:
        raise ActionRefusedError("a cluster needs at least two mentions")
    cluster = _add_cluster(edit)
    # Once each, in the order in which the person pointed at them.
    for entity_id in dict.fromkeys(mentions):
        edit.entity(entity_id)
        for link in homes_of(edit, entity_id, but=cluster.id):
            edit.reject(link)
        _place(edit, entity_id, cluster)


def leave(edit: Edit, entity_id: str) -> None:
    """The mention belongs to no cluster; a cluster that is left with one mention goes."""
    homes = homes_of(edit, entity_id)
    if not homes:
        raise ActionRefusedError(
            f"{edit.entity(entity_id).surface(edit.doc.text)!r} is in no cluster"
        )
    for link in homes:
        edit.reject(link)


def merge(edit: Edit, cluster_id: str, other_id: str) -> None:
    """Both clusters mean the same thing: the mentions of the other one move here, undecided ones undecided."""
    if cluster_id == other_id:
        raise ActionRefusedError("a cluster cannot be merged with itself")
    cluster, other = _living_cluster(edit, cluster_id), _living_cluster(edit, other_id)
    moving = edit.doc.members(other.id)
    edit.context.items += len(moving)
    for link in moving:
        edit.doc.drop(link)  # without a trace: its mention moves to another cluster
        _move(edit, link, cluster)
    _dissolve_if_alone(edit, other.id)
    _settle(edit, cluster)


def split(edit: Edit, cluster_id: str, entity_id: str) -> None:
    """This and the later mentions mean something else: they become a cluster of their own, unless it is one alone.

    Only this mention's place is decided by that; later ones that nobody has decided stay undecided in the new
    cluster, and are rejected in the old one, so that no prediction brings them back there.
    """
    _living_cluster(edit, cluster_id)
    members = edit.doc.members(cluster_id)
    ids = [link.entity_id for link in members]
    if entity_id not in ids[1:]:
        raise ActionRefusedError(
            "a cluster is split before one of its mentions, but not before its first one"
        )
    first, *later = members[ids.index(entity_id) :]
    # One mention makes no cluster: it only leaves this one.
    if not later:
        edit.reject(first)
        return
    new = _add_cluster(edit)
    edit.doc.drop(first)
    edit.context.items += 1 + len(later)
    _place(edit, entity_id, new, was=first)
    for link in later:
        if link.state is State.UNDECIDED:
            edit.doc.put(replace(link, state=State.REJECTED, event_id=edit.context.event_id))
        else:
            edit.doc.drop(link)
        _move(edit, link, new)
    _dissolve_if_alone(edit, cluster_id)


def accept_link(edit: Edit, link: LinkRow) -> None:
    """The mention belongs to the cluster; so does the cluster's anchor. Both leave other clusters.

    A cluster that was taken apart, and whose other mentions went elsewhere, is refused.
    """
    anchor = _anchor_of(edit, link)
    for own in {anchor.key: anchor, link.key: link}.values():
        # A mention that was not in this cluster yet leaves all others; one that was, only proposed ones.
        new = own.state in (State.UNDECIDED, State.REJECTED)
        for other in edit.doc.links_of(own.entity_id):
            leaves = other.state is State.UNDECIDED or (new and other.state is not State.REJECTED)
            if leaves and other.cluster_id != own.cluster_id:
                edit.reject(other)
        edit.accept_supports(own)
        if own.state not in SETTLED:
            edit.change(own, state=State.ACCEPTED)
    _accept_cluster(edit, link.cluster_id)
    edit.touch(Layer.COREFERENCE)


def reject_link(edit: Edit, link: LinkRow) -> None:
    """The mention does not belong to the cluster, which goes when only one is left."""
    edit.reject_row(link)
    _dissolve_if_alone(edit, link.cluster_id)


def _check_coreference(edit: Edit) -> None:
    if not edit.context.schema.coreference:
        raise ActionRefusedError(
            f"schema {edit.context.schema.name!r} has no coreference",
            "set coreference = true in the schema",
        )


def _living_cluster(edit: Edit, cluster_id: str) -> ClusterRow:
    """The cluster, if it still has mentions."""
    row = edit.doc.cluster(cluster_id) if edit.doc.members(cluster_id) else None
    return existing(row, "cluster", cluster_id)


def homes_of(edit: Edit, entity_id: str, but: str = "") -> list[LinkRow]:
    """A mention's places in clusters, rejected ones left out."""
    return [
        link
        for link in edit.doc.links_of(entity_id)
        if link.state is not State.REJECTED and link.cluster_id != but
    ]


def _anchor_of(edit: Edit, link: LinkRow) -> LinkRow:
    """The cluster's first mention; of a cluster that was taken apart the first one that is still free."""
    if members := edit.doc.members(link.cluster_id):
        return members[0]
    for entity in edit.doc.entities:
        companion = edit.doc.link(link.cluster_id, entity.id)
        free = entity.state is not State.REJECTED and not homes_of(edit, entity.id)
        if companion is not None and free and entity.id != link.entity_id:
            return companion
    raise ActionRefusedError(
        f"{edit.entity(link.entity_id).surface(edit.doc.text)!r} would be the only mention of its cluster",
        "join another cluster, or make a new one",
    )


def _add_cluster(edit: Edit) -> ClusterRow:
    cluster = ClusterRow(new_id(), *edit.added)
    edit.doc.put(cluster)
    return cluster


def _dissolve_if_alone(edit: Edit, cluster_id: str) -> None:
    """Take a cluster apart that has fewer than two mentions left."""
    members = edit.doc.members(cluster_id)
    if len(members) < 2:
        for link in members:
            edit.reject_row(link)
        cluster = edit.doc.cluster(cluster_id)
        if cluster is not None and cluster.state is not State.REJECTED:
            _set_cluster(edit, cluster, State.REJECTED)


def _place(edit: Edit, entity_id: str, cluster: ClusterRow, was: LinkRow | None = None) -> None:
    """Put a mention into a cluster by a person's decision; where it was before is remembered."""
    known = edit.doc.link(cluster.id, entity_id)
    link = known or LinkRow(cluster.id, entity_id, was.score if was else None, *edit.added[1:])
    edit.accept_supports(link)
    if known is not None:
        settled = known.state in (State.ADDED, State.EDITED)
        edit.change(known, state=known.state if settled else State.ACCEPTED)
    else:
        if was is not None and was.state is not State.ADDED:
            # A mention that moves stays the model's, with the place that the model gave it.
            first = edited_from(was)
            link = replace(link, state=State.EDITED, source_id=was.source_id, was=first)
        edit.change(link)
    edit.touch(Layer.COREFERENCE)


def _move(edit: Edit, link: LinkRow, cluster: ClusterRow) -> None:
    """Put a mention into another cluster; one that nobody has decided waits there for its decision."""
    if link.state is not State.UNDECIDED:
        _place(edit, link.entity_id, cluster, was=link)
    elif edit.doc.link(cluster.id, link.entity_id) is None:
        edit.change(link, cluster_id=cluster.id)


def _settle(edit: Edit, cluster: ClusterRow) -> None:
    """A cluster that a person has worked on is not a guess any more; its anchor is accepted with it."""
    anchor = next(iter(edit.doc.members(cluster.id)), None)
    if anchor is not None and anchor.state is State.UNDECIDED:
        edit.accept_supports(anchor)
        edit.doc.put(replace(anchor, state=State.ACCEPTED, event_id=edit.context.event_id))
    _accept_cluster(edit, cluster.id)


def _accept_cluster(edit: Edit, cluster_id: str) -> None:
    cluster = edit.doc.cluster(cluster_id)
    if cluster is not None and cluster.state in (State.UNDECIDED, State.REJECTED):
        _set_cluster(edit, cluster, State.ACCEPTED)


def _set_cluster(edit: Edit, cluster: ClusterRow, state: State) -> None:
    edit.doc.put(replace(cluster, state=state, event_id=edit.context.event_id))
