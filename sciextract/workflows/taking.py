"""Taking over the other side of a difference: what that does to a document."""

from __future__ import annotations

from sciextract.documents.annotations import State
from sciextract.errors import ActionRefusedError
from sciextract.metrics.differences import Difference, Layer
from sciextract.metrics.sides import Said
from sciextract.store.actions import clusters, entities, relations
from sciextract.store.incoming.context import Context
from sciextract.store.state.draft import Draft
from sciextract.store.state.rows import EntityRow


def _take_entity(draft: Draft, context: Context, one: Difference) -> None:
    mine, theirs = one.first, one.second
    if mine is None and theirs is not None:
        entities.add_entity(draft, context, theirs.fragments[0], theirs.label)
    elif mine is not None and theirs is None:
        entities.reject_entity(draft, context, mine.id)
    elif mine is not None and theirs is not None:
        entities.set_fragments(draft, context, mine.id, theirs.fragments[0])
        entities.set_entity_label(draft, context, mine.id, theirs.label)


def _take_relation(draft: Draft, context: Context, one: Difference) -> None:
    if one.first is not None:
        relations.reject_relation(draft, context, one.first.id)
    if one.second is not None:
        head, tail = (_entity_on(draft, one.second, place).id for place in (0, 1))
        relations.add_relation(draft, context, head, tail, one.second.label)


def _take_link(draft: Draft, context: Context, one: Difference) -> None:
    if one.first is not None:
        clusters.leave(draft, context, one.first.entities[1])
    elif one.second is not None:
        earlier, later = (_entity_on(draft, one.second, place) for place in (0, 1))
        homes = [link for link in draft.links_of(earlier.id) if link.state is not State.REJECTED]
        if homes:
            clusters.join(draft, context, later.id, homes[0].cluster_id)
        else:
            clusters.new_cluster(draft, context, (earlier.id, later.id))


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
