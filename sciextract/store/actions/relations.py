"""What a person does to relations."""

from __future__ import annotations

from dataclasses import replace

from sciextract.documents.annotations import Layer, State, new_id
from sciextract.errors import ActionRefusedError
from sciextract.store.actions.coreference import accept_mention
from sciextract.store.actions.guard import (
    SETTLED,
    check_pair,
    decide,
    edit,
    entity_of,
    mark_touched,
    reject,
    relation_of,
)
from sciextract.store.document_state import Context, DocumentState
from sciextract.store.incoming import same_relations
from sciextract.store.rows import RelationRow


def accept_relation(doc: DocumentState, context: Context, relation_id: str) -> None:
    """The relation is right as it stands, and so are its arguments.

    Raises:
        ActionRefusedError: It was rejected, and the same relation is there now.
    """
    row = relation_of(doc, relation_id)
    if row.state is State.REJECTED:
        _check_single(doc, context, row)
    # Mentions first: a relation may never hold while one of its mentions is undecided (find_broken_rules).
    for end in (row.head, row.tail):
        accept_mention(doc, context, end)
    if row.state not in SETTLED:
        decide(row, State.ACCEPTED, doc, context)
        mark_touched(doc, Layer.RELATIONS)


def reject_relation(doc: DocumentState, context: Context, relation_id: str) -> None:
    """The relation is wrong; its arguments stay. What a person added is removed."""
    row = relation_of(doc, relation_id)
    reject(row, doc, context)
    mark_touched(doc, Layer.RELATIONS)


def set_relation_label(
    doc: DocumentState, context: Context, relation_id: str, label: str, *, illegal: bool = False
) -> None:
    """The relation is of another type.

    Args:
        illegal: Whether it may be one that the schema does not allow between its arguments.

    Raises:
        IllegalPairError: The schema does not allow it between its arguments.
        ActionRefusedError: It is there already.
    """
    row = relation_of(doc, relation_id)
    if row.label == label:
        accept_relation(doc, context, relation_id)
        return
    _edit(doc, context, row, replace(row, label=label), illegal=illegal)


def invert_relation(
    doc: DocumentState, context: Context, relation_id: str, *, illegal: bool = False
) -> None:
    """The relation leads the other way.

    Args:
        illegal: Whether it may be one that the schema does not allow that way.

    Raises:
        IllegalPairError: The schema does not allow it that way.
        ActionRefusedError: It is there already.
    """
    row = relation_of(doc, relation_id)
    _edit(doc, context, row, replace(row, head=row.tail, tail=row.head), illegal=illegal)


def add_relation(
    doc: DocumentState,
    context: Context,
    head: str,
    tail: str,
    label: str,
    *,
    illegal: bool = False,
) -> RelationRow:
    """A relation that nobody had found. One that was undecided or rejected becomes accepted instead.

    New relations of a symmetric type are made in text order.

    Args:
        illegal: Whether it may be one that the schema does not allow between these entities.

    Raises:
        IllegalPairError: The schema does not allow it between these entities.
        ActionRefusedError: The relation is there already.
    """
    check_pair(doc, context.schema, label, (head, tail), illegal=illegal)
    symmetric = label in context.schema.symmetric_labels
    if symmetric and entity_of(doc, tail).char_start < entity_of(doc, head).char_start:
        head, tail = tail, head
    known = same_relations(doc, (head, tail), symmetric, label)
    # An undecided twin is accepted rather than a rejected one brought back.
    known.sort(key=lambda row: row.state is State.REJECTED)
    if known and not known[0].in_view:
        accept_relation(doc, context, known[0].id)
        return known[0]
    _refuse_twin(doc, context, known[:1])
    for end in (head, tail):
        accept_mention(doc, context, end)
    by, event_id = context.source_id, context.event_id
    row = RelationRow(new_id(), head, tail, label, None, State.ADDED, by, event_id)
    doc.put(row)
    context.items += 1
    mark_touched(doc, Layer.RELATIONS)
    return row


def _edit(
    doc: DocumentState, context: Context, old: RelationRow, new: RelationRow, *, illegal: bool
) -> None:
    check_pair(doc, context.schema, new.label, (new.head, new.tail), illegal=illegal)
    _check_single(doc, context, new)
    for end in (new.head, new.tail):
        accept_mention(doc, context, end)
    edit(old, new, doc, context)
    mark_touched(doc, Layer.RELATIONS)


def _check_single(doc: DocumentState, context: Context, row: RelationRow) -> None:
    symmetric = row.label in context.schema.symmetric_labels
    twins = same_relations(doc, (row.head, row.tail), symmetric, row.label)
    others = [twin for twin in twins if twin.id != row.id and twin.state is not State.REJECTED]
    _refuse_twin(doc, context, others)


def _refuse_twin(doc: DocumentState, context: Context, twins: list[RelationRow]) -> None:
    for twin in twins:
        names = [entity_of(doc, end).surface(doc.text) for end in (twin.head, twin.tail)]
        symmetric = twin.label in context.schema.symmetric_labels
        hint = f"{twin.label} is symmetric: the direction makes no difference" if symmetric else ""
        raise ActionRefusedError(f"{names[0]!r} {twin.label} {names[1]!r} is there already", hint)
