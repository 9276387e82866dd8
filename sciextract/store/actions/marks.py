"""What a person says about an abstract as a whole: done, flagged, a note."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Literal

from sciextract.documents.annotations import State
from sciextract.errors import ActionRefusedError
from sciextract.store.actions.coreference import accept_link, reject_link
from sciextract.store.actions.entities import accept_entity, reject_entity
from sciextract.store.actions.relations import accept_relation, reject_relation
from sciextract.store.context import Context
from sciextract.store.document_state import Draft
from sciextract.store.rows import Completeness, Layer, ProgressRow

Undecided = Literal["refuse", "accept", "reject"]


def mark_done(
    draft: Draft, context: Context, layers: Collection[Layer], undecided: Undecided = "refuse"
) -> None:
    """Nothing is left to do in these layers.

    Args:
        undecided: What becomes of items that nobody has decided.

    Raises:
        ActionRefusedError: There are such items and they are to be refused; says how many.
    """
    waiting = sum(_waiting(draft, layer) for layer in layers)
    if waiting and undecided == "refuse":
        raise ActionRefusedError(
            f"{waiting} items are still undecided", "decide them, or accept or reject all of them"
        )
    for layer in layers:
        _decide_all(draft, context, layer, accept=undecided == "accept")
    set_completeness(draft, context, layers, Completeness.DONE)


def finish(draft: Draft, context: Context, layers: Collection[Layer]) -> None:
    """Mark those of the layers as done in which nothing waits for a decision; the others stay as they are."""
    finished = [layer for layer in layers if not _waiting(draft, layer)]
    if finished:
        set_completeness(draft, context, finished, Completeness.DONE)


def set_completeness(
    draft: Draft, context: Context, layers: Collection[Layer], completeness: Completeness
) -> None:
    """How far these layers are; items stay as they are."""
    progress = draft.progress or ProgressRow()
    changed = {layer.value: completeness for layer in layers}
    draft.put(replace(progress, **changed))  # type: ignore[arg-type]
    context.items += 1


def flag(draft: Draft, context: Context, flagged: bool) -> None:
    """Set or clear the abstract's flag."""
    draft.put(replace(draft.progress or ProgressRow(), flagged=flagged))
    context.items += 1


def note(draft: Draft, context: Context, text: str) -> None:
    """Replace the abstract's note; empty text removes it."""
    safe = text.encode("utf-8", "replace").decode("utf-8")
    draft.put(replace(draft.progress or ProgressRow(), note=safe))
    context.items += 1


def _waiting(draft: Draft, layer: Layer) -> int:
    rows = {
        Layer.ENTITIES: draft.entities,
        Layer.RELATIONS: draft.relations,
        Layer.COREFERENCE: draft.links,
    }[layer]
    return sum(row.state is State.UNDECIDED for row in rows)  # type: ignore[attr-defined]


def _decide_all(draft: Draft, context: Context, layer: Layer, *, accept: bool) -> None:
    if layer is Layer.ENTITIES:
        for entity in draft.entities:
            if entity.state is State.UNDECIDED:
                (accept_entity if accept else reject_entity)(draft, context, entity.id)
    elif layer is Layer.RELATIONS:
        for relation in draft.relations:
            current = draft.relation(relation.id)
            if current is not None and current.state is State.UNDECIDED:
                (accept_relation if accept else reject_relation)(draft, context, relation.id)
    else:
        for link in draft.links:
            current_link = draft.link(*link.key)
            if current_link is not None and current_link.state is State.UNDECIDED:
                (accept_link if accept else reject_link)(draft, context, current_link)
