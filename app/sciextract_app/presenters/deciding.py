"""Keys that decide the focused item: accept, reject, type, edges, and the same for many."""

from __future__ import annotations

from functools import partial

from sciextract.documents.annotations import State
from sciextract.documents.spans import Span
from sciextract.store import EntityRef, EntityRow, RelationRef, RelationRow
from sciextract_app.presenters import document_view
from sciextract_app.presenters.actions import Action
from sciextract_app.presenters.document_view import DocumentView
from sciextract_app.presenters.state import ReviewState
from sciextract_app.presenters.view_models import (
    NOTHING_LEFT,
    Feedback,
    Mode,
    counted,
    named,
    problem,
)

SETTLED = frozenset({State.ACCEPTED, State.EDITED, State.ADDED})
_EDGES = {
    "grow-start": ("start", -1),
    "shrink-start": ("start", 1),
    "grow-end": ("end", 1),
    "shrink-end": ("end", -1),
}


def accept(state: ReviewState, action: Action | None = None) -> Feedback:
    """The item is right; go on. One that is decided already is only left."""
    item = state.focus
    row = state.open_view.row(item)
    if item is None or row is None:
        return Feedback("" if state.advance(state.position()) else NOTHING_LEFT)
    position, changed = state.position(), False
    if row.state not in SETTLED:
        state.after_action(state.project.actions.accept(state.number, item, state.seconds()))
        state.repeat, changed = accept, True
    state.alike = row.id if isinstance(row, EntityRow) else None
    more = state.advance(position)
    return Feedback("" if more else NOTHING_LEFT, changed=changed)


def reject(state: ReviewState, action: Action | None = None) -> Feedback:
    """The item is wrong; say what goes with it, and go on."""
    item, before = state.focus, state.open_view
    row = before.row(item)
    if item is None or row is None:
        return problem("No item is under the cursor; Tab goes to the next undecided one")
    position = state.position()
    state.after_action(state.project.actions.reject(state.number, item, state.seconds()))
    state.repeat = reject
    state.alike = row.id if isinstance(row, EntityRow) else None
    message = _went_along(before, state.open_view, row) if isinstance(row, EntityRow) else ""
    more = state.advance(position)
    return Feedback(message or ("" if more else NOTHING_LEFT), changed=True)


def _went_along(before: DocumentView, after: DocumentView, row: EntityRow) -> str:
    relations = len(before.relations) - len(after.relations)
    links = len(before.links) - len(after.links)
    along = [counted(relations, "relation")] if relations else []
    along += [counted(links, "cluster link")] if links else []
    if not along:
        return ""
    return (
        f"{named(row.surface(before.text))} rejected, with {' and '.join(along)}; u takes it back"
    )


def set_type(state: ReviewState, action: Action) -> Feedback:
    """A digit: the type at that place of the schema's list."""
    relation = isinstance(state.focus, RelationRef)
    schema = state.open_view.schema
    known = schema.relation_labels if relation else schema.entity_labels
    label = document_view.by_digit(known, action.argument)
    if label is None:
        kind = "relation" if relation else "entity"
        return problem(f"The schema has {counted(len(known), f'{kind} type')}")
    return apply_label(state, label)


def ask_letter(state: ReviewState, action: Action) -> Feedback:
    """``;``: the next key is the letter of a type."""
    state.leave_mode()
    state.mode = Mode.TYPE
    return Feedback()


def press_letter(state: ReviewState, key: str) -> Feedback:
    """The letter of a type, after ``;``."""
    schema = state.open_view.schema
    relation = isinstance(state.focus, RelationRef)
    known = schema.relations if relation else schema.entities
    label = document_view.by_letter(known, key)
    if label is None:
        letters = " ".join(each.key for each in known)
        return problem(f"No type has the letter {key}; there are {letters}")
    state.leave_mode()
    return apply_label(state, label)


def apply_label(state: ReviewState, label: str) -> Feedback:
    """Relabel the focused mention or relation; without one make a mention of the token."""
    row = state.open_view.row(state.focus)
    if isinstance(row, RelationRow):
        return _relabel(state, RelationRef(row.id), label)
    mention = state.open_view.mention_of(state.focus)
    if mention is not None:
        return _relabel(state, EntityRef(mention), label)
    span = state.open_view.token_span(state.cursor)
    if span.char_start == span.char_end:
        return problem("There is no token to make a mention of")
    return add_mention(state, (span.char_start, span.char_end), label)


def _relabel(state: ReviewState, item: EntityRef | RelationRef, label: str) -> Feedback:
    """An undecided item is decided with it, so the desk goes on; a decided one stays in focus."""
    if isinstance(item, RelationRef) and label not in state.open_view.schema.relation_labels:
        return problem(f"{label} is no type of relations")
    position, was_open = state.position(), state.is_undecided(state.focus)
    outcome = state.project.actions.set_label(state.number, item, label, state.seconds())
    state.after_action(outcome)
    state.repeat = partial(apply_label, label=label)
    state.alike = item.id if isinstance(item, EntityRef) else None
    decided = was_open and not state.is_undecided(state.focus)
    more = state.advance(position) if decided else True
    message = "; ".join(outcome.warnings) or ("" if more else NOTHING_LEFT)
    return Feedback(message or label, changed=outcome.event_id is not None)


def add_mention(state: ReviewState, edges: tuple[int, int], label: str) -> Feedback:
    """A mention that nobody had found; it becomes the focus."""
    span = Span(*edges)
    outcome = state.project.actions.add_entity(state.number, [span], label, state.seconds())
    state.after_action(outcome)
    made = [row for row in state.open_view.document.on_fragments((span,)) if row.label == label]
    live = next((row for row in made if row.state is not State.REJECTED), None)
    if live is not None:
        state.focus_on(EntityRef(live.id))
        state.alike = live.id
    return Feedback(f"{named(span.of(state.open_view.text))} added as {label}", changed=True)


def move_edge(state: ReviewState, action: Action) -> Feedback:
    """Move an edge of the mention by one token; the focus stays for more of it."""
    mention = state.open_view.mention_of(state.focus)
    if mention is None or isinstance(state.focus, RelationRef):
        return problem("Edges are those of a mention: put the focus on one")
    edge, tokens = _EDGES[action.id]
    outcome = state.project.actions.move_edge(state.number, mention, edge, tokens, state.seconds())
    state.after_action(outcome)
    state.focus_on(state.focus)
    state.repeat = partial(move_edge, action=action)
    state.alike = None
    return Feedback(named(state.open_view.surface(mention)), changed=outcome.event_id is not None)


def invert(state: ReviewState, action: Action | None = None) -> Feedback:
    """Turn the focused relation around; the focus stays."""
    if not isinstance(state.focus, RelationRef):
        return problem("i inverts a relation: put the focus on one with j and k")
    outcome = state.project.actions.invert(state.number, state.focus.id, state.seconds())
    state.after_action(outcome)
    state.repeat = invert
    row = state.open_view.relation_by_id[state.focus.id]
    heads = (
        f"{named(state.open_view.surface(row.head))} ─▶ {named(state.open_view.surface(row.tail))}"
    )
    return Feedback(f"{heads} {row.label}", changed=True)


def repeat(state: ReviewState, action: Action) -> Feedback:
    """Do to the focus what was done last."""
    if state.repeat is None:
        return problem("There is nothing to repeat yet")
    return state.repeat(state)
