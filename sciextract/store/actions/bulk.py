"""One decision for many items: identical strings, and everything above a score."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from sciextract.documents.annotations import State
from sciextract.documents.spans import Span
from sciextract.store.actions.entities import (
    accept_entity,
    add_entity,
    reject_entity,
    set_entity_label,
)
from sciextract.store.actions.links import accept_link
from sciextract.store.actions.relations import accept_relation
from sciextract.store.incoming.context import Context
from sciextract.store.state.draft import Draft
from sciextract.store.state.rows import Completeness, EntityRow, Layer

ALL_LAYERS = frozenset(Layer)


def label_identical(draft: Draft, context: Context, surface: str, label: str) -> None:
    """Every occurrence of a string is an entity of this type.

    Undecided entities on it are accepted with the type; where there is none, one is added. What a person
    or an import has decided stays, rejections too, and so do occurrences inside of other entities.
    """
    if _is_done(draft, Layer.ENTITIES):
        return
    for span in occurrences(draft, surface):
        on_span = draft.on_fragments((span,))
        undecided = [row for row in on_span if row.state is State.UNDECIDED]
        rejected = any(row.state is State.REJECTED and row.label == label for row in on_span)
        if rejected or any(row.in_view for row in on_span):
            continue
        if undecided:
            best = min(undecided, key=lambda row: row.label != label)
            set_entity_label(draft, context, best.id, label)
        elif not any(_overlaps(row, span) for row in draft.entities):
            add_entity(draft, context, (span,), label)


def reject_identical(draft: Draft, context: Context, surface: str, label: str) -> None:
    """No undecided entity of this type on this string is right."""
    if _is_done(draft, Layer.ENTITIES):
        return
    for row in draft.entities:
        same = row.label == label and row.surface(draft.text) == surface
        if same and row.state is State.UNDECIDED:
            reject_entity(draft, context, row.id)


def accept_above(
    draft: Draft, context: Context, score: float, layers: Collection[Layer] = ALL_LAYERS
) -> None:
    """Accept every undecided item with at least this score; arguments are accepted with their relation."""
    if Layer.ENTITIES in layers:
        for entity in draft.entities:
            if _open(entity.state, entity.score, score):
                accept_entity(draft, context, entity.id)
    if Layer.RELATIONS in layers:
        for relation in draft.relations:
            if _open(relation.state, relation.score, score):
                accept_relation(draft, context, relation.id)
    if Layer.COREFERENCE in layers:
        for link in draft.links:
            current = draft.link(*link.key)
            if current is not None and _open(current.state, current.score, score):
                accept_link(draft, context, current)


def occurrences(draft: Draft, surface: str) -> Iterator[Span]:
    """Where a string stands in the text with whole tokens under it."""
    start = draft.text.find(surface) if surface else -1
    while start >= 0:
        span = Span(start, start + len(surface))
        if draft.stored.document.tokens.aligned(span) is not None:
            yield span
        start = draft.text.find(surface, start + 1)


def _open(state: State, found: float | None, least: float) -> bool:
    return state is State.UNDECIDED and found is not None and found >= least


def _overlaps(row: EntityRow, span: Span) -> bool:
    return row.state is not State.REJECTED and any(span.overlaps(each) for each in row.fragments)


def _is_done(draft: Draft, layer: Layer) -> bool:
    return draft.progress is None or getattr(draft.progress, layer) is Completeness.DONE
