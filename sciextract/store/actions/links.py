"""A mention's link to a cluster: the smallest decision about coreference.

The first mention of a cluster in text order is its anchor. Accepting a later link accepts the anchor with
it, since one mention alone refers to nothing; a cluster that is left with one mention goes.
"""

from __future__ import annotations

from dataclasses import replace

from sciextract.documents.annotations import State
from sciextract.errors import ActionRefusedError
from sciextract.store.actions.guard import check_single, decide, entity_of, touched
from sciextract.store.incoming.context import Context
from sciextract.store.state.draft import Draft
from sciextract.store.state.rows import ClusterRow, Layer, LinkRow

_TWO = 2
_SETTLED = frozenset({State.ACCEPTED, State.EDITED, State.ADDED})


def accept_link(draft: Draft, context: Context, link: LinkRow) -> None:
    """The mention belongs to the cluster; so does the cluster's anchor. Both leave other clusters.

    Raises:
        ActionRefusedError: The cluster was taken apart, and its other mentions went elsewhere.
    """
    anchor = _anchor(draft, link)
    for each in {anchor.key: anchor, link.key: link}.values():
        _leave_others(draft, context, each)
        accept_mention(draft, context, each.entity_id)
        if each.state not in _SETTLED:
            decide(each, State.ACCEPTED, draft, context)
    _settle(draft, context, link.cluster_id)
    touched(draft, Layer.COREFERENCE)


def reject_link(draft: Draft, context: Context, link: LinkRow) -> None:
    """The mention does not belong to the cluster, which goes when only one is left."""
    _out(draft, context, link)
    dissolve_if_alone(draft, context, link.cluster_id)
    touched(draft, Layer.COREFERENCE)


def drop_link(draft: Draft, context: Context, link: LinkRow) -> None:
    """Take a link out without a trace: its mention goes on in another cluster."""
    draft.drop(link)
    context.items += 1


def accept_mention(draft: Draft, context: Context, entity_id: str) -> None:
    """What takes part in something accepted is accepted itself."""
    entity = entity_of(draft, entity_id)
    if not entity.in_view:
        if entity.state is State.REJECTED:
            check_single(draft, entity.fragments, entity.label, entity.id)
        decide(entity, State.ACCEPTED, draft, context)
        touched(draft, Layer.ENTITIES)


def dissolve_if_alone(draft: Draft, context: Context, cluster_id: str) -> None:
    """Take a cluster apart that has fewer than two mentions left."""
    members = draft.members(cluster_id)
    if len(members) >= _TWO:
        return
    for link in members:
        _out(draft, context, link)
    cluster = draft.cluster(cluster_id)
    if cluster is None:
        return
    if not any(link.cluster_id == cluster_id for link in draft.links):
        draft.drop(cluster)
    elif cluster.state is not State.REJECTED:
        draft.put(replace(cluster, state=State.REJECTED, event_id=context.event_id))


def _anchor(draft: Draft, link: LinkRow) -> LinkRow:
    """The cluster's first mention; of a cluster that was taken apart the first one that is still free."""
    members = draft.members(link.cluster_id)
    if members:
        return members[0]
    for entity in draft.entities:
        companion = draft.link(link.cluster_id, entity.id)
        at_home = any(each.state is not State.REJECTED for each in draft.links_of(entity.id))
        free = entity.state is not State.REJECTED and entity.id != link.entity_id and not at_home
        if companion is not None and free:
            return companion
    name = entity_of(draft, link.entity_id).surface(draft.text)
    raise ActionRefusedError(
        f"{name!r} would be alone in its cluster", "join another cluster, or make a new one"
    )


def _leave_others(draft: Draft, context: Context, link: LinkRow) -> None:
    """A mention that was not in this cluster yet leaves all others; one that was, only proposed ones."""
    new = link.state in (State.UNDECIDED, State.REJECTED)
    for other in draft.links_of(link.entity_id):
        leaves = other.state is State.UNDECIDED or (new and other.state is not State.REJECTED)
        if leaves and other.cluster_id != link.cluster_id:
            reject_link(draft, context, other)


def _out(draft: Draft, context: Context, link: LinkRow) -> None:
    if link.state is State.ADDED:
        drop_link(draft, context, link)
    elif link.state is not State.REJECTED:
        decide(link, State.REJECTED, draft, context)


def _settle(draft: Draft, context: Context, cluster_id: str) -> None:
    cluster: ClusterRow | None = draft.cluster(cluster_id)
    if cluster is not None and cluster.state in (State.UNDECIDED, State.REJECTED):
        draft.put(replace(cluster, state=State.ACCEPTED, event_id=context.event_id))
