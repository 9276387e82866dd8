"""What became of everything that a model said about an abstract, and what it had not said."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from sciextract.documents.annotations import State
from sciextract.documents.document import AnnotatedDocument
from sciextract.metrics.differences import Difference, Layer, differences
from sciextract.metrics.sides import Said, Side
from sciextract.store.state.draft import Draft
from sciextract.store.state.rows import EntityRow, LinkRow, RelationRow
from sciextract.store.state.views import WITH_UNDECIDED, annotated

Row = EntityRow | RelationRow | LinkRow


class Fate(StrEnum):
    """What became of an item."""

    KEPT = "kept"
    EDITED = "edited"
    REJECTED = "rejected"
    LEFT_OUT = "left out"
    ADDED = "added"
    UNDECIDED = "undecided"


@dataclass(frozen=True, slots=True)
class Fates:
    """A model and a person about one abstract.

    Attributes:
        mine: What holds now, with what is undecided.
        theirs: What the model said.
        changed: Where the two differ, in text order, with what became of it.
        counts: Items of all layers by what became of them.
    """

    mine: AnnotatedDocument
    theirs: AnnotatedDocument
    changed: tuple[tuple[Difference, Fate], ...]
    counts: Mapping[tuple[Layer, Fate], int]


def fates(
    draft: Draft,
    theirs: AnnotatedDocument,
    sources: Mapping[int, str],
    symmetric: frozenset[str],
) -> Fates:
    """Compare a document with what a model said about it.

    Args:
        draft: The document.
        theirs: The same text with the model's items.
        sources: Names of all sources by number.
        symmetric: Relation labels without direction.
    """
    mine = annotated(draft, sources, WITH_UNDECIDED)
    found = differences([mine], [theirs], symmetric)
    changed = tuple((each, _fate(draft, each)) for each in found)
    counts = Counter((each.layer, fate) for each, fate in changed)
    counts.update(_unchanged(draft, mine, found, symmetric))
    return Fates(mine, theirs, changed, counts)


def _fate(draft: Draft, one: Difference) -> Fate:
    if one.first is None:
        gone = one.second is not None and _is_rejected(draft, one.layer, one.second)
        return Fate.REJECTED if gone else Fate.LEFT_OUT
    if _is_undecided(draft, one.layer, one.first):
        return Fate.UNDECIDED
    return Fate.ADDED if one.second is None else Fate.EDITED


def _unchanged(
    draft: Draft, mine: AnnotatedDocument, found: Sequence[Difference], symmetric: frozenset[str]
) -> Iterator[tuple[Layer, Fate]]:
    """Items that both have: kept, or not decided yet."""
    differing = {(each.layer, each.first) for each in found if each.first is not None}
    side = Side(mine)
    layers = (
        (Layer.ENTITY, side.entities()),
        (Layer.RELATION, side.relations(symmetric)),
        (Layer.LINK, side.links()),
    )
    for layer, items in layers:
        for said in {item.said for item in items}:
            if (layer, said) not in differing:
                waits = _is_undecided(draft, layer, said)
                yield layer, Fate.UNDECIDED if waits else Fate.KEPT


def _is_undecided(draft: Draft, layer: Layer, said: Said) -> bool:
    return any(row.state is State.UNDECIDED for row in _rows(draft, layer, said))


def _rows(draft: Draft, layer: Layer, said: Said) -> list[Row]:
    """The row of an item of the project; of a link both mentions' places in the cluster."""
    found: list[Row | None] = []
    match layer:
        case Layer.ENTITY:
            found = [draft.entity(said.id)]
        case Layer.RELATION:
            found = [draft.relation(said.id)]
        case Layer.LINK:
            found = [draft.link(said.id, each) for each in said.entities]
    return [row for row in found if row is not None]


def _is_rejected(draft: Draft, layer: Layer, said: Said) -> bool:
    """Whether the project has the same item as one that a person rejected."""
    if layer is Layer.ENTITY:
        twins = [row for row in draft.on_fragments(said.fragments[0]) if row.label == said.label]
        return any(row.state is State.REJECTED for row in twins)
    heads, tails = ({row.id for row in draft.on_fragments(each)} for each in said.fragments)
    if layer is Layer.LINK:
        return any(row.state is State.REJECTED for row in draft.links if row.entity_id in tails)
    same = [row for row in draft.relations if row.head in heads and row.tail in tails]
    return any(row.state is State.REJECTED and row.label == said.label for row in same)
