"""Finding what a person means, and refusing what the schema or the state does not allow."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

from sciextract.documents.annotations import Layer, State
from sciextract.documents.schema import LabelSchema
from sciextract.documents.spans import Span
from sciextract.errors import ActionRefusedError, IllegalPairError
from sciextract.store.document_state import Context, DocumentState
from sciextract.store.rows import (
    ClusterRow,
    Completeness,
    EntityRow,
    LinkRow,
    ProgressRow,
    RelationRow,
    edited_from,
)

Row = TypeVar("Row", EntityRow, RelationRow, ClusterRow, LinkRow)

SETTLED = frozenset({State.ACCEPTED, State.EDITED, State.ADDED})
"""States in which a person has found an item right."""


def entity_of(doc: DocumentState, entity_id: str) -> EntityRow:
    """The entity.

    Raises:
        ActionRefusedError: It is not there (any more).
    """
    return _existing(doc.entity(entity_id), "entity", entity_id)


def relation_of(doc: DocumentState, relation_id: str) -> RelationRow:
    """The relation.

    Raises:
        ActionRefusedError: It is not there (any more).
    """
    return _existing(doc.relation(relation_id), "relation", relation_id)


def link_of(doc: DocumentState, cluster_id: str, entity_id: str) -> LinkRow:
    """The mention's link to the cluster.

    Raises:
        ActionRefusedError: It is not there (any more).
    """
    return _existing(doc.link(cluster_id, entity_id), "mention of a cluster", entity_id)


def living_cluster(doc: DocumentState, cluster_id: str) -> ClusterRow:
    """The cluster, if it still has mentions.

    Raises:
        ActionRefusedError: It is not there (any more), or it was taken apart.
    """
    row = doc.cluster(cluster_id) if doc.members(cluster_id) else None
    return _existing(row, "cluster", cluster_id)


def check_entity_label(schema: LabelSchema, label: str) -> None:
    """Refuse a label that is not an entity type.

    Raises:
        ActionRefusedError: It is none.
    """
    if label not in schema.entity_labels:
        raise _unknown("entity type", label, schema.entity_labels)


def check_fragments(doc: DocumentState, fragments: tuple[Span, ...]) -> None:
    """Refuse fragments that are not ascending, non-empty ranges of the text.

    Raises:
        ActionRefusedError: They are not.
    """
    end = 0
    for each in fragments:
        if not end <= each.char_start < each.char_end <= len(doc.text):
            raise ActionRefusedError(
                f"the span [{each.char_start}, {each.char_end}) is not part of the text; expected "
                f"non-empty ranges from {end} to {len(doc.text)}, ascending"
            )
        end = each.char_end
    if not fragments:
        raise ActionRefusedError("an entity needs at least one span")


def check_single(
    doc: DocumentState, fragments: tuple[Span, ...], label: str, but: str = ""
) -> None:
    """Refuse an entity that is there already, accepted or still undecided.

    Args:
        but: The id of the entity itself.

    Raises:
        ActionRefusedError: It is.
    """
    # A rejected twin stands in nobody's way: the person may have changed their mind.
    for twin in doc.on_fragments(fragments):
        if twin.label == label and twin.id != but and twin.state is not State.REJECTED:
            name = twin.surface(doc.text)
            how = "already" if twin.in_view else "by a proposal that is still undecided"
            raise ActionRefusedError(f"{name!r} is a {label} {how}", "accept one, reject the other")


def check_pair(
    doc: DocumentState,
    schema: LabelSchema,
    label: str,
    ends: tuple[str, str],
    *,
    illegal: bool = False,
) -> None:
    """Refuse a relation that the schema does not know or does not allow between these entities.

    Args:
        ends: Head and tail.
        illegal: Whether it may be one that the schema does not allow between them.

    Raises:
        IllegalPairError: The schema does not allow it; names the pair and the relations that are legal for it.
        ActionRefusedError: The schema does not know it, or it needs another entity.
    """
    head, tail = ends
    if label not in schema.relation_labels:
        raise _unknown("relation type", label, schema.relation_labels)
    if head == tail:
        raise ActionRefusedError("a relation needs two entities, head and tail are the same")
    types = entity_of(doc, head).label, entity_of(doc, tail).label
    # Types of mentions that came with a file may be unknown to the schema: no pair of theirs is illegal.
    known = set(schema.entity_labels)
    if not illegal and set(types) <= known and not schema.relation(label).allows(*types):
        legal = ", ".join(schema.legal_relations(*types)) or "none"
        back = ", ".join(schema.legal_relations(types[1], types[0])) or "none"
        raise IllegalPairError(
            f"{label} may not lead from {types[0]} to {types[1]}; allowed there: {legal}",
            f"the other way round: {back}",
        )


def mark_touched(doc: DocumentState, layer: Layer) -> None:
    """A decision was made in a layer: it is in progress now, unless it is done."""
    progress = doc.progress or ProgressRow()
    if getattr(progress, layer) is Completeness.UNTOUCHED:
        changed = {layer.value: Completeness.IN_PROGRESS}
        doc.put(replace(progress, **changed))  # type: ignore[arg-type]


def decide(
    row: EntityRow | RelationRow | LinkRow, state: State, doc: DocumentState, context: Context
) -> None:
    """Put a row into a state by this event, and count it."""
    doc.put(replace(row, state=state, event_id=context.event_id))
    context.items += 1


def reject(row: EntityRow | RelationRow | LinkRow, doc: DocumentState, context: Context) -> None:
    """Remove what a person added; what a model or an import made stays as an explicit negative."""
    if row.state is State.ADDED:
        doc.drop(row)
        context.items += 1
    elif row.state is not State.REJECTED:
        decide(row, State.REJECTED, doc, context)


def edit(
    old: EntityRow | RelationRow,
    new: EntityRow | RelationRow,
    doc: DocumentState,
    context: Context,
) -> None:
    """Put a changed row in the place of the old one, and count it.

    What a person added stays added; anything else is edited from now on and remembers what it was.
    """
    # What nobody but the person ever said has no original that a model could learn from.
    added = old.state is State.ADDED
    state, was = (State.ADDED, None) if added else (State.EDITED, edited_from(old))
    doc.put(replace(new, state=state, was=was, event_id=context.event_id))
    context.items += 1


def _existing(row: Row | None, kind: str, item_id: str) -> Row:
    if row is None:
        problem = f"the {kind} {item_id} is not in this abstract (any more)"
        hint = "it may have been changed in another window or by another person"
        raise ActionRefusedError(problem, hint)
    return row


def _unknown(kind: str, label: str, allowed: tuple[str, ...]) -> ActionRefusedError:
    return ActionRefusedError(
        f"the schema has no {kind} {label!r}; choose from: {', '.join(allowed) or 'none'}"
    )
