"""What keys would decide, select or link now: footer and panes show it, and the keys do it."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

from sciextract.documents.annotations import Span, State
from sciextract.documents.schema import ABSTRACT, RELATION_PREFIX, AttributeType
from sciextract.inference.settings import ATTRIBUTE
from sciextract.store import (
    AttributeRef,
    AttributeRow,
    EntityRef,
    EntityRow,
    LinkRef,
    LinkRow,
    RelationRef,
    RelationRow,
)
from sciextract.store.actions.places import find_occurrences
from sciextract.text.characters import visible
from sciextract_app.review.model.modes import ChoosingType, Jumping, Pointing, Selecting, TypeLetter
from sciextract_app.review.model.state import ReviewState
from sciextract_app.shared import document_view
from sciextract_app.shared.candidates import best_entity, best_relation
from sciextract_app.shared.view_models import named

_ARTICLES = frozenset({"a", "an", "the"})
SETTLED = frozenset({State.ACCEPTED, State.EDITED, State.ADDED})


def alike_target(state: ReviewState) -> str | None:
    """The mention whose decision ``a`` spreads: the one decided just now, else the focus."""
    view = state.open_view
    # Right after a decision the focus is on the next item already; "alike" still means the one before.
    if state.alike and view.document.entity(state.alike):
        return state.alike
    match state.focus:
        case EntityRef(id=entity_id) | LinkRef(entity_id=entity_id):
            return entity_id
    return None


def count_free(state: ReviewState, span: Span) -> int:
    """How often the same string stands elsewhere in the abstract where nothing is decided: ``a`` would decide these."""
    view = state.open_view
    return sum(
        all(row.state is State.UNDECIDED for row in view.touching(place))
        for place in find_occurrences(view.document, span.of(view.text))
        if place != span
    )


def sure_score(state: ReviewState, task: str) -> float:
    """The score from which suggestions of a task are right as often as promised; infinite where nothing is."""
    return (state.sure or {}).get(task, inf)


def sure_items(
    state: ReviewState,
) -> tuple[list[EntityRef], list[RelationRef], list[AttributeRef]]:
    """Undecided mentions with a score that is promised, and such relations and attributes of what is decided by then."""
    of_mentions, of_relations = sure_score(state, "entity"), sure_score(state, "relation")
    if not state.sure:
        return [], [], []
    view = state.open_view
    waiting = {row.id: row.score or 0.0 for row in view.entities if row.state is State.UNDECIDED}
    unsure = {name for name, score in waiting.items() if score < of_mentions}
    open_relations = {row.id: row for row in view.relations if row.state is State.UNDECIDED}
    relations = [
        RelationRef(row.id)
        for row in open_relations.values()
        if (row.score or 0.0) >= of_relations and unsure.isdisjoint((row.head, row.tail))
    ]
    unsure |= open_relations.keys() - {relation.id for relation in relations}
    attributes = [
        AttributeRef(row.id)
        for row in view.document.attributes
        if row.state is State.UNDECIDED
        and (row.score or 0.0) >= sure_score(state, ATTRIBUTE)
        and row.target not in unsure
    ]
    return [EntityRef(name) for name in waiting if name not in unsure], relations, attributes


def selection(state: ReviewState) -> Selecting | Pointing | None:
    """What selects, also while a letter of a jump or of a type is awaited."""
    doing = state.doing.back if isinstance(state.doing, Jumping) else state.doing
    if isinstance(doing, TypeLetter):
        return doing.selection
    return doing if isinstance(doing, Selecting | Pointing) else None


def selected(state: ReviewState) -> Span | None:
    """The selected characters, the candidate on offer, or the part of a mention that is pointed at."""
    chosen = selection(state)
    if chosen is None:
        return None
    if isinstance(chosen, Selecting) and chosen.candidate:
        return chosen.candidate
    first, last = sorted((state.cursor if chosen.start is None else chosen.start, state.cursor))
    spans = state.open_view.tokens.spans
    return Span(spans[first].char_start, spans[last].char_end)


def focused_text(state: ReviewState) -> str:
    """What has the focus, or is selected, in one line; nothing in it that a shell or a terminal would obey."""
    view, span = state.open_view, selected(state)
    row = view.row(state.focus)
    if isinstance(row, RelationRow) and span is None:
        text = f"{view.surface(row.head)} {row.label} {view.surface(row.tail)}"
    elif row is not None and span is None:
        text = view.surface(view.mention_of(state.focus) or "")
    else:
        text = (span or view.token_span(state.cursor)).of(view.text)
    return visible(" ".join(text.split()))


def suggestion(state: ReviewState) -> str | None:
    """The type that the model thinks best for the selection."""
    span, known = selected(state), state.open_view.schema.entity_labels
    return best_entity(state.candidates, span, known) if span else None


def takes_out(state: ReviewState, mention: str) -> bool:
    """Whether every token of what is selected is one of the mention's."""
    row, part, tokens = state.open_view.by_id.get(mention), selected(state), state.open_view.tokens
    covered = tokens.covering(part) if part else None
    if row is None or covered is None:
        return row is not None and part is not None
    spans = tokens.spans[covered.token_start : covered.token_end]
    return all(any(token.overlaps(own) for own in row.fragments) for token in spans)


def offered_attributes(state: ReviewState) -> dict[str, tuple[AttributeType, str]]:
    """By letter the attributes that can be said now, with the id of what they are said of: the focus first, then the abstract."""
    view, row = state.open_view, state.open_view.row(state.focus)
    if isinstance(row, AttributeRow):
        row = view.by_id.get(row.target) or view.relation_by_id.get(row.target)
    if isinstance(row, LinkRow):
        row = view.by_id.get(row.entity_id)
    offered = {kind.key: (kind, "") for kind in view.schema.attributes_of(ABSTRACT)}
    if isinstance(row, EntityRow | RelationRow):
        prefix = RELATION_PREFIX if isinstance(row, RelationRow) else ""
        kinds = view.schema.attributes_of(prefix + row.label)
        offered = {kind.key: (kind, row.id) for kind in kinds} | {
            key: found for key, found in offered.items() if found[0] not in kinds
        }
    return offered


def legal_types(state: ReviewState, relation: ChoosingType) -> tuple[str, ...]:
    """Types that the relation to be may have."""
    by_id = state.open_view.by_id
    head, tail = by_id.get(relation.head), by_id.get(relation.tail)
    # Another person may have taken one of them away meanwhile.
    return document_view.legal(state.open_view.schema, head, tail) if head and tail else ()


def best_type(state: ReviewState, relation: ChoosingType) -> str | None:
    """The type that Enter takes."""
    by_id = state.open_view.by_id
    head, tail = by_id.get(relation.head), by_id.get(relation.tail)
    if head is None or tail is None:
        return None
    return best_relation(state.candidates, head, tail, legal_types(state, relation))


@dataclass(frozen=True, slots=True)
class Proposal:
    """What Enter does with a mention that shall join a cluster.

    Attributes:
        words: For the footer.
        cluster_id: The cluster that has the same string, empty for none.
        companion: A mention of the same string that is in no cluster, empty for none.
    """

    words: str
    cluster_id: str = ""
    companion: str = ""


def proposal(state: ReviewState, mention: str) -> Proposal | None:
    """The cluster of the same string, else a mention of the same string; ``None`` where there is neither.

    Strings are compared without case and without an article before them.
    """
    view = state.open_view
    same = _normal(view.surface(mention))
    here = view.place(mention)[0]
    others = [
        row for row in view.entities if row.id != mention and _normal(view.surface(row.id)) == same
    ]
    others.sort(key=lambda row: abs(row.char_start - here))
    # A mention may be in several clusters: those that it is in already are no proposal.
    own = {link.cluster_id for link in view.homes.get(mention, ())}
    for row in others:
        for home in view.homes.get(row.id, ()):
            if home.cluster_id not in own:
                letter = state.letters.of(home.cluster_id)
                return Proposal(
                    f"cluster {letter} of {named(view.surface(row.id), 20)}", home.cluster_id
                )
    free = next((row for row in others if row.id not in view.homes), None)
    if free is None or own:
        return None
    return Proposal(f"new, with the other {named(view.surface(free.id), 20)}", companion=free.id)


def _normal(surface: str) -> str:
    first, _, rest = " ".join(surface.casefold().split()).partition(" ")
    return rest if rest and first in _ARTICLES else f"{first} {rest}".strip()
