"""Keys that decide the focused item: accept, reject, type, edges, and the same for many."""

from __future__ import annotations

from functools import partial

from sciextract.documents.annotations import State
from sciextract.documents.spans import Span
from sciextract.store.actions.api import EntityRef, RelationRef
from sciextract.store.rows import EntityRow, RelationRow
from sciextract_app.presenters import document_view
from sciextract_app.presenters.actions import Action
from sciextract_app.presenters.document_view import Scene
from sciextract_app.presenters.state import Situation
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


def accept(desk: Situation, action: Action | None = None) -> Feedback:
    """The item is right; go on. One that is decided already is only left."""
    item = desk.focus
    row = desk.here.row(item)
    if item is None or row is None:
        return _next(desk, "")
    position, changed = desk.position(), False
    if row.state not in SETTLED:
        desk.after_action(desk.project.actions.accept(desk.number, item, desk.seconds()))
        desk.repeat, changed = accept, True
    desk.alike = row.id if isinstance(row, EntityRow) else None
    more = desk.go_on(position)
    return Feedback("" if more else NOTHING_LEFT, changed=changed)


def reject(desk: Situation, action: Action | None = None) -> Feedback:
    """The item is wrong; say what goes with it, and go on."""
    item, before = desk.focus, desk.here
    row = before.row(item)
    if item is None or row is None:
        return problem("No item is under the cursor; Tab goes to the next undecided one")
    position = desk.position()
    desk.after_action(desk.project.actions.reject(desk.number, item, desk.seconds()))
    desk.repeat = reject
    desk.alike = row.id if isinstance(row, EntityRow) else None
    message = _went_along(before, desk.here, row) if isinstance(row, EntityRow) else ""
    more = desk.go_on(position)
    return Feedback(message or ("" if more else NOTHING_LEFT), changed=True)


def _went_along(before: Scene, after: Scene, row: EntityRow) -> str:
    relations = len(before.relations) - len(after.relations)
    links = len(before.links) - len(after.links)
    along = [counted(relations, "relation")] if relations else []
    along += [counted(links, "cluster link")] if links else []
    if not along:
        return ""
    return (
        f"{named(row.surface(before.text))} rejected, with {' and '.join(along)}; u takes it back"
    )


def set_type(desk: Situation, action: Action) -> Feedback:
    """A digit: the type at that place of the schema's list."""
    relation = isinstance(desk.focus, RelationRef)
    schema = desk.here.schema
    known = schema.relation_labels if relation else schema.entity_labels
    label = document_view.by_digit(known, action.argument)
    if label is None:
        kind = "relation" if relation else "entity"
        return problem(f"The schema has {counted(len(known), f'{kind} type')}")
    return apply_label(desk, label)


def ask_letter(desk: Situation, action: Action) -> Feedback:
    """``;``: the next key is the letter of a type."""
    desk.leave_mode()
    desk.mode = Mode.TYPE
    return Feedback()


def press_letter(desk: Situation, key: str) -> Feedback:
    """The letter of a type, after ``;``."""
    schema = desk.here.schema
    relation = isinstance(desk.focus, RelationRef)
    known = schema.relations if relation else schema.entities
    label = document_view.by_letter(known, key)
    if label is None:
        letters = " ".join(each.key for each in known)
        return problem(f"No type has the letter {key}; there are {letters}")
    desk.leave_mode()
    return apply_label(desk, label)


def apply_label(desk: Situation, label: str) -> Feedback:
    """Relabel the focused mention or relation; without one make a mention of the token."""
    row = desk.here.row(desk.focus)
    if isinstance(row, RelationRow):
        return _relabel(desk, RelationRef(row.id), label)
    mention = desk.here.mention_of(desk.focus)
    if mention is not None:
        return _relabel(desk, EntityRef(mention), label)
    span = desk.here.token_span(desk.cursor)
    if span.char_start == span.char_end:
        return problem("There is no token to make a mention of")
    return add_mention(desk, (span.char_start, span.char_end), label)


def _relabel(desk: Situation, item: EntityRef | RelationRef, label: str) -> Feedback:
    """An undecided item is decided with it, so the desk goes on; a decided one stays in focus."""
    if isinstance(item, RelationRef) and label not in desk.here.schema.relation_labels:
        return problem(f"{label} is no type of relations")
    position, was_open = desk.position(), desk.is_open(desk.focus)
    outcome = desk.project.actions.set_label(desk.number, item, label, desk.seconds())
    desk.after_action(outcome)
    desk.repeat = partial(apply_label, label=label)
    desk.alike = item.id if isinstance(item, EntityRef) else None
    decided = was_open and not desk.is_open(desk.focus)
    more = desk.go_on(position) if decided else True
    said = "; ".join(outcome.warnings) or ("" if more else NOTHING_LEFT)
    return Feedback(said or f"{label}", changed=outcome.event_id is not None)


def add_mention(desk: Situation, edges: tuple[int, int], label: str) -> Feedback:
    """A mention that nobody had found; it becomes the focus."""
    span = Span(*edges)
    outcome = desk.project.actions.add_entity(desk.number, [span], label, desk.seconds())
    desk.after_action(outcome)
    made = [row for row in desk.here.draft.on_fragments((span,)) if row.label == label]
    live = next((row for row in made if row.state is not State.REJECTED), None)
    if live is not None:
        desk.look_at(EntityRef(live.id))
        desk.alike = live.id
    return Feedback(f"{named(span.of(desk.here.text))} added as {label}", changed=True)


def move_edge(desk: Situation, action: Action) -> Feedback:
    """Move an edge of the mention by one token; the focus stays for more of it."""
    mention = desk.here.mention_of(desk.focus)
    if mention is None or isinstance(desk.focus, RelationRef):
        return problem("Edges are those of a mention: put the focus on one")
    edge, tokens = _EDGES[action.id]
    outcome = desk.project.actions.move_edge(desk.number, mention, edge, tokens, desk.seconds())
    desk.after_action(outcome)
    desk.look_at(desk.focus)
    desk.repeat = partial(move_edge, action=action)
    desk.alike = None
    return Feedback(named(desk.here.surface(mention)), changed=outcome.event_id is not None)


def invert(desk: Situation, action: Action | None = None) -> Feedback:
    """Turn the focused relation around; the focus stays."""
    if not isinstance(desk.focus, RelationRef):
        return problem("i inverts a relation: put the focus on one with j and k")
    outcome = desk.project.actions.invert(desk.number, desk.focus.id, desk.seconds())
    desk.after_action(outcome)
    desk.repeat = invert
    row = desk.here.relation_by_id[desk.focus.id]
    heads = f"{named(desk.here.surface(row.head))} ─▶ {named(desk.here.surface(row.tail))}"
    return Feedback(f"{heads} {row.label}", changed=True)


def repeat(desk: Situation, action: Action) -> Feedback:
    """Do to the focus what was done last."""
    if desk.repeat is None:
        return problem("There is nothing to repeat yet")
    return desk.repeat(desk)


def _next(desk: Situation, message: str) -> Feedback:
    more = desk.go_on(desk.position())
    return Feedback(message if more else NOTHING_LEFT)
