"""Taking over the other side of a difference: what that does to a document."""

from __future__ import annotations

from sciextract.documents.annotations import State
from sciextract.documents.spans import Span
from sciextract.errors import ActionRefusedError
from sciextract.metrics.differences import Layer
from sciextract.metrics.sides import Said
from sciextract.store.actions import clusters, entities, relations
from sciextract.store.incoming.context import Context
from sciextract.store.state.draft import Draft
from sciextract.store.state.rows import EntityRow
from sciextract.workflows.disputed import Dispute


def _take_entity(draft: Draft, context: Context, dispute: Dispute) -> None:
    mine, theirs = dispute.difference.first, dispute.difference.second
    if mine is None and theirs is not None:
        entities.add_entity(draft, context, theirs.fragments[0], theirs.label)
    elif mine is not None and theirs is None:
        entities.reject_entity(draft, context, mine.id)
    elif mine is not None and theirs is not None:
        entities.set_fragments(draft, context, mine.id, theirs.fragments[0])
        entities.set_entity_label(draft, context, mine.id, theirs.label)


def _take_relation(draft: Draft, context: Context, dispute: Dispute) -> None:
    one = dispute.difference
    if one.first is not None:
        relations.reject_relation(draft, context, one.first.id)
    if one.second is not None:
        head, tail = (_entity_on(draft, one.second, place).id for place in (0, 1))
        relations.add_relation(draft, context, head, tail, one.second.label)


def _take_link(draft: Draft, context: Context, dispute: Dispute) -> None:
    one = dispute.difference
    if one.first is not None:
        clusters.leave(draft, context, one.first.entities[1])
    elif one.second is not None:
        pair = tuple(_entity_on(draft, one.second, place).id for place in (0, 1))
        home = _home(draft, pair, dispute.company)
        if home is None:
            clusters.new_cluster(draft, context, pair)
            return
        there = {link.entity_id for link in draft.members(home)}
        for mention in pair:
            if mention not in there:
                clusters.join(draft, context, mention, home)


def _home(draft: Draft, pair: tuple[str, ...], company: tuple[tuple[Span, ...], ...]) -> str | None:
    """Of the clusters of two mentions the one with more of the other side's cluster in it."""
    links = [link for mention in pair for link in draft.links_of(mention)]
    homes = dict.fromkeys(each.cluster_id for each in links if each.state is not State.REJECTED)

    def shared(cluster_id: str) -> int:
        rows = (draft.entity(link.entity_id) for link in draft.members(cluster_id))
        return sum(row is not None and row.fragments in company for row in rows)

    return max(homes, key=shared, default=None)


def _entity_on(draft: Draft, said: Said, place: int) -> EntityRow:
    for row in draft.on_fragments(said.fragments[place]):
        if row.in_view:
            return row
    text = " ".join(each.of(draft.text) for each in said.fragments[place])
    raise ActionRefusedError(
        f"{text!r} is no entity here", "decide the differences of the entities first"
    )


#: By layer, what makes the draft say what the other side says.
THEIRS = {Layer.ENTITY: _take_entity, Layer.RELATION: _take_relation, Layer.LINK: _take_link}
