"""What a person does to entities."""

from __future__ import annotations

from dataclasses import replace

from sciextract.documents.annotations import State
from sciextract.documents.spans import Span
from sciextract.errors import ActionRefusedError
from sciextract.store.actions.coreference import reject_link
from sciextract.store.actions.guard import (
    check_entity_label,
    check_fragments,
    check_single,
    decide,
    edit,
    entity_of,
    touched,
)
from sciextract.store.context import Context
from sciextract.store.document_state import DocumentState
from sciextract.store.rows import EntityRow, Layer, RelationRow

START, END = "start", "end"


def accept_entity(doc: DocumentState, context: Context, entity_id: str) -> None:
    """The entity is right as it stands.

    Raises:
        ActionRefusedError: It was rejected, and the same entity is there now.
    """
    row = entity_of(doc, entity_id)
    if row.state not in (State.ACCEPTED, State.EDITED, State.ADDED):
        if row.state is State.REJECTED:
            check_single(doc, row.fragments, row.label, row.id)
        decide(row, State.ACCEPTED, doc, context)
        touched(doc, Layer.ENTITIES)


def reject_entity(doc: DocumentState, context: Context, entity_id: str) -> None:
    """The entity is wrong: its relations and its place in clusters go with it.

    What a person added is removed; what a model or an import made stays as an explicit negative.
    """
    row = entity_of(doc, entity_id)
    for relation in doc.relations_of(entity_id):
        _out(relation, doc, context)
    for link in doc.links_of(entity_id):
        reject_link(doc, context, link)
    if row.state is State.ADDED:
        _forget_references(doc, entity_id)
    _out(row, doc, context)
    touched(doc, Layer.ENTITIES)


def set_entity_label(doc: DocumentState, context: Context, entity_id: str, label: str) -> None:
    """The entity is of another type.

    Raises:
        ActionRefusedError: The schema has no such type, or the same entity is there already.
    """
    check_entity_label(context.schema, label)
    row = entity_of(doc, entity_id)
    if row.label == label:
        accept_entity(doc, context, entity_id)
        return
    check_single(doc, row.fragments, label, row.id)
    _edit(doc, context, row, replace(row, label=label))
    _warn_of_illegal(doc, context, entity_id)


def set_fragments(
    doc: DocumentState, context: Context, entity_id: str, fragments: tuple[Span, ...]
) -> None:
    """The entity covers other characters.

    Raises:
        ActionRefusedError: They are no part of the text, or the same entity is there already.
    """
    check_fragments(doc, fragments)
    row = entity_of(doc, entity_id)
    if row.fragments == fragments:
        return
    check_single(doc, fragments, row.label, row.id)
    _edit(doc, context, row, replace(row, fragments=fragments))


def move_edge(doc: DocumentState, context: Context, entity_id: str, edge: str, tokens: int) -> None:
    """Move the start or the end of an entity by whole tokens; positive ones go towards the text's end.

    Raises:
        ActionRefusedError: The entity would be empty or leave the text.
    """
    if edge not in (START, END):
        raise ActionRefusedError(f"there is no edge {edge!r}; allowed: {START}, {END}")
    row = entity_of(doc, entity_id)
    set_fragments(doc, context, entity_id, _moved(doc, row, edge, tokens))


def add_entity(
    doc: DocumentState, context: Context, fragments: tuple[Span, ...], label: str
) -> EntityRow:
    """An entity that nobody had found. One that was undecided or rejected becomes accepted instead.

    Raises:
        ActionRefusedError: The span or the type is not allowed, or the entity is there already.
    """
    check_entity_label(context.schema, label)
    check_fragments(doc, fragments)
    twins = [row for row in doc.on_fragments(fragments) if row.label == label]
    twins.sort(key=lambda row: row.state is State.REJECTED)
    if twins and not twins[0].in_view:
        decide(twins[0], State.ACCEPTED, doc, context)
        touched(doc, Layer.ENTITIES)
        return twins[0]
    check_single(doc, fragments, label)
    row = EntityRow(
        *(context.fresh_id(), fragments, label, None, State.ADDED),
        *(context.source_id, context.event_id),
    )
    doc.put(row)
    context.items += 1
    touched(doc, Layer.ENTITIES)
    return row


def _edit(doc: DocumentState, context: Context, old: EntityRow, new: EntityRow) -> None:
    edit(old, new, doc, context)
    touched(doc, Layer.ENTITIES)


def _out(row: EntityRow | RelationRow, doc: DocumentState, context: Context) -> None:
    if row.state is State.ADDED:
        doc.drop(row)
        context.items += 1
    elif row.state is not State.REJECTED:
        decide(row, State.REJECTED, doc, context)


def _forget_references(doc: DocumentState, entity_id: str) -> None:
    """What a model proposed about an entity goes with the entity, rejected or not."""
    for relation in doc.relations_of(entity_id):
        doc.drop(relation)
    for link in doc.links_of(entity_id):
        doc.drop(link)
        cluster = doc.cluster(link.cluster_id)
        if cluster is not None and not any(l.cluster_id == cluster.id for l in doc.links):
            doc.drop(cluster)


def _warn_of_illegal(doc: DocumentState, context: Context, entity_id: str) -> None:
    """Relations that the new type makes illegal stay, and the person hears of it."""
    for relation in doc.relations_of(entity_id):
        head, tail = doc.entity(relation.head), doc.entity(relation.tail)
        known = relation.label in context.schema.relation_labels
        if not (relation.in_view and known and head and tail):
            continue
        if not context.schema.relation(relation.label).allows(head.label, tail.label):
            context.warnings.append(
                f"{relation.label} from {head.label} to {tail.label} is no legal pair any more"
            )


def _moved(doc: DocumentState, row: EntityRow, edge: str, steps: int) -> tuple[Span, ...]:
    tokens = doc.stored.document.tokens
    fragment = row.fragments[0] if edge == START else row.fragments[-1]
    covered = tokens.covering(fragment)
    if covered is None:
        raise ActionRefusedError("the entity covers no token whose edge could be moved")
    first = covered.token_start + (steps if edge == START else 0)
    last = covered.token_end - 1 + (steps if edge == END else 0)
    if not 0 <= first <= last < len(tokens):
        raise ActionRefusedError("the entity would be empty or leave the text")
    if edge == START:
        moved = Span(tokens.spans[first].char_start, fragment.char_end)
        return (moved, *row.fragments[1:])
    return (*row.fragments[:-1], Span(fragment.char_start, tokens.spans[last].char_end))
