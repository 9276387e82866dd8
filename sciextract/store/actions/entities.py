"""What a person does to entities."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import replace
from unicodedata import combining

from sciextract.documents.annotations import Layer, State, new_id
from sciextract.documents.spans import Span
from sciextract.errors import ActionRefusedError
from sciextract.store.actions.coreference import reject_link
from sciextract.store.actions.guard import (
    SETTLED,
    check_entity_label,
    check_fragments,
    check_single,
    decide,
    edit,
    entity_of,
    mark_touched,
    reject,
)
from sciextract.store.document_state import Context, DocumentState
from sciextract.store.rows import EntityRow

START, END = "start", "end"


def accept_entity(doc: DocumentState, context: Context, entity_id: str) -> None:
    """The entity is right as it stands.

    Raises:
        ActionRefusedError: It was rejected, and the same entity is there now.
    """
    row = entity_of(doc, entity_id)
    if row.state not in SETTLED:
        if row.state is State.REJECTED:
            check_single(doc, row.fragments, row.label, row.id)
        decide(row, State.ACCEPTED, doc, context)
        mark_touched(doc, Layer.ENTITIES)


def reject_entity(doc: DocumentState, context: Context, entity_id: str) -> None:
    """The entity is wrong: its relations and its place in clusters go with it.

    What a person added is removed; what a model or an import made stays as an explicit negative.
    """
    row = entity_of(doc, entity_id)
    for relation in doc.relations_of(entity_id):
        reject(relation, doc, context)
    # Links before the row: a cluster that is left with one mention is dissolved by that.
    for link in doc.links_of(entity_id):
        reject_link(doc, context, link)
    if row.state is State.ADDED:
        # The row goes, and no row may speak of it: what a model proposed about it goes, too, rejected or not.
        for relation in doc.relations_of(entity_id):
            doc.drop(relation)
        for link in doc.links_of(entity_id):
            doc.drop(link)
            cluster = doc.cluster(link.cluster_id)
            if cluster is not None and not any(l.cluster_id == cluster.id for l in doc.links):
                doc.drop(cluster)
    reject(row, doc, context)
    mark_touched(doc, Layer.ENTITIES)


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
    edit(row, replace(row, label=label), doc, context)
    mark_touched(doc, Layer.ENTITIES)
    # Relations that the new type makes illegal stay, and the person hears of it.
    for relation in doc.relations_of(entity_id):
        head, tail = doc.entity(relation.head), doc.entity(relation.tail)
        known = relation.label in context.schema.relation_labels
        if not (relation.in_view and known and head and tail):
            continue
        if not context.schema.relation(relation.label).allows(head.label, tail.label):
            context.warnings.append(
                f"{relation.label} from {head.label} to {tail.label} is not a legal pair any more"
            )


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
    edit(row, replace(row, fragments=fragments), doc, context)
    mark_touched(doc, Layer.ENTITIES)


def move_edge(
    doc: DocumentState,
    context: Context,
    entity_id: str,
    edge: str,
    steps: int,
    *,
    characters: bool = False,
) -> None:
    """Move the start or the end of an entity; positive steps go towards the text's end.

    Args:
        edge: ``start`` or ``end``.
        steps: Edges of tokens to pass; an edge inside a token goes to that token's edge first.
        characters: Whether steps are characters, with combining marks and without blanks, instead.

    Raises:
        ActionRefusedError: The entity would be empty or leave the text.
    """
    if edge not in (START, END):
        raise ActionRefusedError(f"unknown edge {edge!r}; choose from: {START}, {END}")
    row = entity_of(doc, entity_id)
    fragment = row.fragments[0] if edge == START else row.fragments[-1]
    place = fragment.char_start if edge == START else fragment.char_end
    step = _next_character if characters else _next_token_edge
    for _ in range(abs(steps)):
        place = step(doc, edge, place, 1 if steps > 0 else -1)
    empty = place >= fragment.char_end if edge == START else place <= fragment.char_start
    if empty or not 0 <= place <= len(doc.text):  # -1 where no token is left to go to
        raise ActionRefusedError("the entity would be empty or leave the text")
    if edge == START:
        moved = (Span(place, fragment.char_end), *row.fragments[1:])
    else:
        moved = (*row.fragments[:-1], Span(fragment.char_start, place))
    set_fragments(doc, context, entity_id, moved)


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
        mark_touched(doc, Layer.ENTITIES)
        return twins[0]
    check_single(doc, fragments, label)
    by, event_id = context.source_id, context.event_id
    row = EntityRow(new_id(), fragments, label, None, State.ADDED, by, event_id)
    doc.put(row)
    context.items += 1
    mark_touched(doc, Layer.ENTITIES)
    return row


def _next_token_edge(doc: DocumentState, edge: str, place: int, step: int) -> int:
    """The nearest start or end of a token before or behind a place; -1 where there is none."""
    # Tokens are in text order, so that their starts and their ends both ascend.
    spans = doc.stored.document.tokens.spans

    def edge_of(span: Span) -> int:
        return span.char_start if edge == START else span.char_end

    index = (
        bisect_right(spans, place, key=edge_of)
        if step > 0
        else bisect_left(spans, place, key=edge_of) - 1
    )
    return edge_of(spans[index]) if 0 <= index < len(spans) else -1


def _next_character(doc: DocumentState, edge: str, place: int, step: int) -> int:
    """The next place that cuts off no combining mark and leaves no blank at the entity's edge."""
    text, place = doc.text, place + step
    while 0 < place < len(text) and (
        combining(text[place]) or text[place if edge == START else place - 1].isspace()
    ):
        place += step
    return place
