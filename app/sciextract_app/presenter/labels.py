"""From keys to labels and back; labels that the schema does not know (any more) do no harm."""

from __future__ import annotations

from sciextract.documents.annotations import Candidates
from sciextract.documents.schema import EntityType, LabelSchema, RelationType
from sciextract.documents.spans import Span
from sciextract.store.state.rows import EntityRow

NO_LABEL = "·"


def entity_type(schema: LabelSchema, label: str) -> EntityType | None:
    """The entity type of that label, ``None`` when the schema has none."""
    return next((each for each in schema.entities if each.label == label), None)


def relation_type(schema: LabelSchema, label: str) -> RelationType | None:
    """The relation type of that label, ``None`` when the schema has none."""
    return next((each for each in schema.relations if each.label == label), None)


def letter(schema: LabelSchema, label: str) -> str:
    """The letter that stands for an entity type."""
    found = entity_type(schema, label)
    return found.key if found else (label[:1].lower() or NO_LABEL)


def by_digit(labels: tuple[str, ...], digit: str) -> str | None:
    """The label at a place from 1."""
    place = int(digit)
    return labels[place - 1] if 0 < place <= len(labels) else None


def by_letter(types: tuple[EntityType, ...] | tuple[RelationType, ...], key: str) -> str | None:
    """The label with that key."""
    return next((each.label for each in types if each.key == key), None)


def legal(schema: LabelSchema, head: EntityRow, tail: EntityRow) -> tuple[str, ...]:
    """Relations that may lead from one mention to another; all, where the schema does not know a type."""
    if not {head.label, tail.label} <= set(schema.entity_labels):
        return schema.relation_labels
    return schema.legal_relations(head.label, tail.label)


def best_relation(
    candidates: Candidates | None, head: EntityRow, tail: EntityRow, allowed: tuple[str, ...]
) -> str | None:
    """The model's best label among the allowed ones, else the first of these."""
    ends = (_hull(head), _hull(tail))
    for pair in candidates.pairs if candidates else ():
        if (pair.head, pair.tail) == ends:
            found = [each for each in pair.labels if each.label in allowed]
            if found:
                return max(found, key=lambda each: each.score).label
    return allowed[0] if allowed else None


def best_entity(candidates: Candidates | None, span: Span, allowed: tuple[str, ...]) -> str | None:
    """The model's best label for a span, ``None`` when it says nothing about it."""
    for candidate in candidates.spans if candidates else ():
        if candidate.span == span:
            found = [each for each in candidate.labels if each.label in allowed]
            return max(found, key=lambda each: each.score).label if found else None
    return None


def type_keys(labels: tuple[str, ...]) -> str:
    """The digits that pick a label, as the footer shows them."""
    count = min(len(labels), 9)
    return {0: "", 1: "1"}.get(count, f"1-{count}")


def _hull(row: EntityRow) -> Span:
    return Span(row.char_start, row.char_end)
