"""What a person says about an abstract as a whole: done, flagged, a note."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Literal

from sciextract.documents.annotations import Layer, State
from sciextract.errors import ActionRefusedError
from sciextract.store.actions.coreference import accept_link, reject_link
from sciextract.store.actions.entities import accept_entity, reject_entity
from sciextract.store.actions.relations import accept_relation, reject_relation
from sciextract.store.context import Context
from sciextract.store.document_state import DocumentState
from sciextract.store.rows import Completeness, ProgressRow

Undecided = Literal["refuse", "accept", "reject"]


def mark_done(
    doc: DocumentState, context: Context, layers: Collection[Layer], undecided: Undecided = "refuse"
) -> None:
    """Nothing is left to do in these layers.

    Args:
        undecided: What becomes of items that nobody has decided.

    Raises:
        ActionRefusedError: There are such items and they are to be refused; says how many.
    """
    waiting = sum(_waiting(doc, layer) for layer in layers)
    if waiting and undecided == "refuse":
        raise ActionRefusedError(
            f"{waiting} items are still undecided", "decide them, or accept or reject all of them"
        )
    for layer in layers:
        _decide_all(doc, context, layer, accept=undecided == "accept")
    set_completeness(doc, context, layers, Completeness.DONE)


def finish(doc: DocumentState, context: Context, layers: Collection[Layer]) -> None:
    """Mark those of the layers as done in which nothing waits for a decision; the others stay as they are."""
    finished = [layer for layer in layers if not _waiting(doc, layer)]
    if finished:
        set_completeness(doc, context, finished, Completeness.DONE)


def set_completeness(
    doc: DocumentState, context: Context, layers: Collection[Layer], completeness: Completeness
) -> None:
    """How far these layers are; items stay as they are."""
    progress = doc.progress or ProgressRow()
    changed = {layer.value: completeness for layer in layers}
    doc.put(replace(progress, **changed))  # type: ignore[arg-type]
    context.items += 1


def flag(doc: DocumentState, context: Context, flagged: bool) -> None:
    """Set or clear the abstract's flag."""
    doc.put(replace(doc.progress or ProgressRow(), flagged=flagged))
    context.items += 1


def note(doc: DocumentState, context: Context, text: str) -> None:
    """Replace the abstract's note; empty text removes it."""
    safe = text.encode("utf-8", "replace").decode("utf-8")
    doc.put(replace(doc.progress or ProgressRow(), note=safe))
    context.items += 1


def _waiting(doc: DocumentState, layer: Layer) -> int:
    rows = {
        Layer.ENTITIES: doc.entities,
        Layer.RELATIONS: doc.relations,
        Layer.COREFERENCE: doc.links,
    }[layer]
    return sum(row.state is State.UNDECIDED for row in rows)  # type: ignore[attr-defined]


def _decide_all(doc: DocumentState, context: Context, layer: Layer, *, accept: bool) -> None:
    if layer is Layer.ENTITIES:
        for entity in doc.entities:
            if entity.state is State.UNDECIDED:
                (accept_entity if accept else reject_entity)(doc, context, entity.id)
    elif layer is Layer.RELATIONS:
        for relation in doc.relations:
            current = doc.relation(relation.id)
            if current is not None and current.state is State.UNDECIDED:
                (accept_relation if accept else reject_relation)(doc, context, relation.id)
    else:
        for link in doc.links:
            current_link = doc.link(*link.key)
            if current_link is not None and current_link.state is State.UNDECIDED:
                (accept_link if accept else reject_link)(doc, context, current_link)
