"""What a person does to relations."""

from __future__ import annotations

from dataclasses import replace

from sciextract.documents.annotations import State
from sciextract.errors import ActionRefusedError
from sciextract.store.actions.coreference import accept_mention
from sciextract.store.actions.guard import check_pair, decide, edit, entity_of, relation_of, touched
from sciextract.store.context import Context
from sciextract.store.document_state import Draft
from sciextract.store.imports import same_relations
from sciextract.store.rows import Layer, RelationRow

_SETTLED = frozenset({State.ACCEPTED, State.EDITED, State.ADDED})


def accept_relation(draft: Draft, context: Context, relation_id: str) -> None:
    """The relation is right as it stands, and so are its arguments.

    Raises:
        ActionRefusedError: It was rejected, and the same relation is there now.
    """
    row = relation_of(draft, relation_id)
    if row.state is State.REJECTED:
        _check_single(draft, context, row)
    for end in (row.head, row.tail):
        accept_mention(draft, context, end)
    if row.state not in _SETTLED:
        decide(row, State.ACCEPTED, draft, context)
        touched(draft, Layer.RELATIONS)


def reject_relation(draft: Draft, context: Context, relation_id: str) -> None:
    """The relation is wrong; its arguments stay. What a person added is removed."""
    row = relation_of(draft, relation_id)
    if row.state is State.ADDED:
        draft.drop(row)
        context.items += 1
    elif row.state is not State.REJECTED:
        decide(row, State.REJECTED, draft, context)
    touched(draft, Layer.RELATIONS)


def set_relation_label(draft: Draft, context: Context, relation_id: str, label: str) -> None:
    """The relation is of another type.

    Raises:
        ActionRefusedError: It would be illegal, or it is there already.
    """
    row = relation_of(draft, relation_id)
    if row.label == label:
        accept_relation(draft, context, relation_id)
        return
    _edit(draft, context, row, replace(row, label=label))


def invert_relation(draft: Draft, context: Context, relation_id: str) -> None:
    """The relation leads the other way.

    Raises:
        ActionRefusedError: It would be illegal, or it is there already.
    """
    row = relation_of(draft, relation_id)
    _edit(draft, context, row, replace(row, head=row.tail, tail=row.head))


def add_relation(draft: Draft, context: Context, head: str, tail: str, label: str) -> RelationRow:
    """A relation that nobody had found. One that was undecided or rejected becomes accepted instead.

    New relations of a symmetric type are made in text order.

    Raises:
        ActionRefusedError: The pair is illegal, or the relation is there already.
    """
    check_pair(draft, context.schema, label, head, tail)
    symmetric = label in context.schema.symmetric_labels
    head, tail = _ordered(draft, head, tail) if symmetric else (head, tail)
    known = same_relations(draft, (head, tail), symmetric, label)
    known.sort(key=lambda row: row.state is State.REJECTED)
    if known and not known[0].in_view:
        accept_relation(draft, context, known[0].id)
        return known[0]
    _refuse_twin(draft, context, known[:1])
    for end in (head, tail):
        accept_mention(draft, context, end)
    row = RelationRow(
        *(context.fresh_id(), head, tail, label, None, State.ADDED),
        *(context.source_id, context.event_id),
    )
    draft.put(row)
    context.items += 1
    touched(draft, Layer.RELATIONS)
    return row


def _edit(draft: Draft, context: Context, old: RelationRow, new: RelationRow) -> None:
    check_pair(draft, context.schema, new.label, new.head, new.tail)
    _check_single(draft, context, new)
    for end in (new.head, new.tail):
        accept_mention(draft, context, end)
    edit(old, new, draft, context)
    touched(draft, Layer.RELATIONS)


def _check_single(draft: Draft, context: Context, row: RelationRow) -> None:
    symmetric = row.label in context.schema.symmetric_labels
    twins = same_relations(draft, (row.head, row.tail), symmetric, row.label)
    others = [twin for twin in twins if twin.id != row.id and twin.state is not State.REJECTED]
    _refuse_twin(draft, context, others)


def _refuse_twin(draft: Draft, context: Context, twins: list[RelationRow]) -> None:
    for twin in twins:
        names = [entity_of(draft, end).surface(draft.text) for end in (twin.head, twin.tail)]
        symmetric = twin.label in context.schema.symmetric_labels
        hint = f"{twin.label} is symmetric: the direction makes no difference" if symmetric else ""
        raise ActionRefusedError(f"{names[0]!r} {twin.label} {names[1]!r} is there already", hint)


def _ordered(draft: Draft, head: str, tail: str) -> tuple[str, str]:
    first, second = entity_of(draft, head), entity_of(draft, tail)
    return (head, tail) if first.char_start <= second.char_start else (tail, head)
