"""Keys that decide the focused item: accept, reject, type, edges; and those that finish the abstract, or open it again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Literal, TypeVar

from sciextract.documents.annotations import Layer, Span, State
from sciextract.errors import IllegalPairError
from sciextract.store import (
    AttributeRow,
    Completeness,
    EntityRef,
    EntityRow,
    ItemRef,
    LinkRow,
    Outcome,
    RelationRef,
    RelationRow,
    coverage,
)
from sciextract.store.finished import count_keys
from sciextract.store.review import count_done, count_done_of
from sciextract.text.english import counted
from sciextract_app.review.keys.navigation import open_abstract
from sciextract_app.review.model.modes import Characters, TypeLetter
from sciextract_app.review.model.state import Refused, ReviewState
from sciextract_app.review.model.targets import SETTLED, count_free
from sciextract_app.shared import document_view
from sciextract_app.shared.actions import (
    EDGES,
    Action,
    Bound,
    focus_one,
    key_of,
    keys_together,
    nothing_left,
    undo_hint,
)
from sciextract_app.shared.document_view import DocumentView, Item
from sciextract_app.shared.view_models import (
    ILLEGAL,
    NEW_TYPE,
    Feedback,
    named,
    problem,
)

ACCEPTED, REJECTED = "accepted", "rejected"
_Edited = TypeVar("_Edited", bound=EntityRef | RelationRef)


def accept(state: ReviewState, action: Bound = None) -> Feedback:
    """The item is right; go on. One that is decided already is only left."""
    item, before = state.focus, state.open_view
    row = before.row(item)
    if item is None or row is None:
        return Feedback("" if state.advance(state.position()) else nothing_left())
    position, changed = state.position(), False
    if row.state not in SETTLED:
        state.after_action(state.project.actions.accept(state.number, item, state.seconds()))
        changed = True
    alike = row.id if isinstance(row, EntityRow) else None
    state.decided(accept if changed else state.repeat, alike)
    message = _describe_decided(state, before, row, ACCEPTED) if changed else ""
    more = state.advance(position)
    return Feedback(_add_nothing_left(message, more), changed=changed)


def reject(state: ReviewState, action: Bound = None) -> Feedback:
    """The item is wrong; say what goes with it, and go on."""
    item, before = state.focus, state.open_view
    row = before.row(item)
    if item is None or row is None:
        return problem(f"No item is under the cursor; {key_of('next-undecided')} goes to the next")
    position = state.position()
    state.after_action(state.project.actions.reject(state.number, item, state.seconds()))
    state.decided(reject, row.id if isinstance(row, EntityRow) else None)
    message = _describe_decided(state, before, row, REJECTED)
    more = state.advance(position)
    return Feedback(_add_nothing_left(message, more), changed=True)


def _add_nothing_left(message: str, more: bool) -> str:
    """A message, and that nothing is left where that is so."""
    return ". ".join(filter(None, (message, "" if more else nothing_left())))


def _describe_decided(state: ReviewState, before: DocumentView, row: Item, verb: str) -> str:
    """What was decided, and what with it; empty for a mention with which nothing else changed."""
    after, with_it = state.open_view, list[str]()
    if verb == REJECTED:
        relations = len(before.relations) - len(after.relations) - isinstance(row, RelationRow)
        links = len(before.links) - len(after.links) - isinstance(row, LinkRow)
        with_it += [counted(relations, "relation")] if relations else []
        with_it += [counted(links, "cluster link")] if links else []
    elif not isinstance(row, EntityRow):  # its mentions are accepted with a relation or a link
        for mention in after.entities:
            was = before.by_id.get(mention.id)
            if was and was.state is State.UNDECIDED and mention.state in SETTLED:
                with_it.append(named(mention.surface(after.text), 28))
    along = " and ".join(with_it)
    if isinstance(row, EntityRow):
        name = named(row.surface(before.text)) if along else ""
    elif isinstance(row, RelationRow):
        name = document_view.relation_words(before, row.head, row.label, row.tail)
    elif isinstance(row, AttributeRow):
        name = document_view.attribute_words(before, row.target, row.label, row.value)
    else:
        letter = state.letters.of(row.cluster_id)
        name = f"{named(before.surface(row.entity_id), 28)} in cluster {letter}"
    with_them = f", with {along}" if along else ""
    undo = f"; {undo_hint()}" if verb == REJECTED else ""
    return f"{name} {verb}{with_them}{undo}" if name else ""


def set_type(state: ReviewState, action: Action) -> Feedback:
    """A digit: the type at that place of the schema's list."""
    relation = isinstance(state.focus, RelationRef)
    schema = state.open_view.schema
    known = schema.relation_labels if relation else schema.entity_labels
    label = document_view.by_digit(known, action.argument)
    if label is None:
        kind: Literal["entity", "relation"] = "relation" if relation else "entity"
        if not known:
            return Feedback(request=NEW_TYPE[kind])
        types = counted(len(known), f"{kind} type")
        return problem(f"The schema has {types}; {key_of('guideline')} adds one")
    return apply_label(state, label)


def ask_letter(state: ReviewState, action: Action) -> Feedback:
    """``;``: the next key is the letter of a type."""
    state.enter(TypeLetter())
    return Feedback()


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
        return problem("There is no token for a mention")
    return add_mention(state, (span.char_start, span.char_end), label)


def _relabel(state: ReviewState, item: EntityRef | RelationRef, label: str) -> Feedback:
    """The item is decided with it, whether it was before or not, and the desk continues.

    The focus stays where it is a cluster link that is still undecided: its mention has the type then.
    """
    if isinstance(item, RelationRef) and label not in state.open_view.schema.relation_labels:
        return problem(f"{label} is not a type of relations")
    position = state.position()
    set_label = partial(state.project.actions.set_label, state.number, item, label)
    outcome = legally(state, ("label", item.id, label), set_label)
    item = follow_edit(state, outcome, item)
    alike = item.id if isinstance(item, EntityRef) else None
    state.decided(partial(apply_label, label=label), alike)
    more = True if state.is_undecided(state.focus) else state.advance(position)
    words = document_view.item_words(state.open_view, item)
    set_to = words if isinstance(item, RelationRef) else f"{words}: {label}"
    message = "; ".join(outcome.warnings) or set_to
    return Feedback(_add_nothing_left(message, more), changed=outcome.event_id is not None)


def legally(state: ReviewState, relation: Refused, change: Callable[..., Outcome]) -> Outcome:
    """Change a relation; one that the schema does not allow only when the same is wanted twice in a row.

    Args:
        state: The state of the desk.
        relation: What is wanted, to know it again.
        change: Does it, with the seconds it took and whether it may be illegal.

    Raises:
        IllegalPairError: It was wanted for the first time.
    """
    try:
        return change(seconds=state.seconds())
    except IllegalPairError as error:
        if state.insists(relation):
            return change(seconds=state.seconds(), illegal=True)
        message = f"Again to keep it, marked {ILLEGAL}: {error.message}"
        raise IllegalPairError(message, error.hint) from None


def follow_edit(state: ReviewState, outcome: Outcome, item: _Edited) -> _Edited:
    """Read what an edit has changed. A proposal that said the same has taken the item's place: it is the focus then."""
    before = state.open_view
    state.after_action(outcome)
    view = state.open_view
    if before.row(item) is None or view.row(item) is not None:
        return item
    rows: Sequence[EntityRow | RelationRow]
    rows = view.relations if isinstance(item, RelationRef) else view.entities
    for row in rows:
        heir = type(item)(row.id)
        if row.state is State.ACCEPTED and (was := before.row(heir)) and was.state not in SETTLED:
            state.focus_on(heir)
            return heir
    return item


def add_mention(state: ReviewState, edges: tuple[int, int], label: str) -> Feedback:
    """A mention that nobody had found; it becomes the focus."""
    span = Span(*edges)
    outcome = state.project.actions.add_entity(state.number, [span], label, state.seconds())
    state.after_action(outcome)
    made = [row for row in state.open_view.document.on_fragments((span,)) if row.label == label]
    live = next((row for row in made if row.state is not State.REJECTED), None)
    if live is not None:
        state.focus_on(EntityRef(live.id))
        state.decided(state.repeat, live.id)
    more = count_free(state, span)
    alike = f"; {key_of('alike')}: {more} more of it here" if more else ""
    return Feedback(f"{named(span.of(state.open_view.text))} added as {label}{alike}", changed=True)


def move_edge(state: ReviewState, action: Action, characters: bool = False) -> Feedback:
    """Move an edge of the mention by one token or character; the focus stays for more of it."""
    mention = state.open_view.mention_of(state.focus)
    if mention is None or isinstance(state.focus, RelationRef):
        return problem(f"Only mentions have edges: {focus_one()}")
    edge, step = action.argument.split()
    outcome = state.project.actions.move_edge(
        state.number, mention, edge, int(step), state.seconds(), characters=characters
    )
    mention = follow_edit(state, outcome, EntityRef(mention)).id
    state.focus_on(state.focus)
    state.decided(partial(move_edge, action=action, characters=characters))
    return Feedback(named(state.open_view.surface(mention)), changed=outcome.event_id is not None)


def ask_characters(state: ReviewState, action: Action) -> Feedback:
    """The keys of edges move them by characters from now on."""
    if state.take_mention() is None:
        return problem(f"Only mentions have edges: {focus_one()}")
    state.enter(Characters())
    return Feedback()


def press_characters(state: ReviewState, doing: Characters, key: str, action: Bound) -> Feedback:
    """Move an edge by a character; Enter leaves the mode."""
    if action is not None and action.id in EDGES:
        return move_edge(state, action, characters=True)
    if action is not None and action.id in ("accept", "characters"):
        state.leave_mode()
        return Feedback()
    edges = keys_together(*EDGES)
    return problem(f"{key} does nothing here: {edges} move edges by a character, Esc leaves")


def invert(state: ReviewState, action: Bound = None) -> Feedback:
    """Turn the focused relation around, or the only one of the focused mention; the focus stays."""
    focus, view = state.focus, state.open_view
    related = view.relations_of.get(focus.id, []) if isinstance(focus, EntityRef) else []
    relation = focus.id if isinstance(focus, RelationRef) else related[0].id if related else ""
    if not relation or len(related) > 1:
        return problem(f"Only relations are inverted: {focus_one()}")
    turn = partial(state.project.actions.invert, state.number, relation)
    turned = follow_edit(state, legally(state, ("invert", relation), turn), RelationRef(relation))
    state.decided(invert)
    row = state.open_view.relation_by_id[turned.id]
    words = document_view.relation_words(state.open_view, row.head, row.label, row.tail)
    return Feedback(words, changed=True)


def repeat(state: ReviewState, action: Action) -> Feedback:
    """Do to the focus what was done last."""
    if state.repeat is None:
        return problem("There is nothing to repeat yet")
    return state.repeat(state)


def _layer_of(state: ReviewState, item: ItemRef) -> Layer:
    row = state.open_view.row(item)
    if isinstance(row, AttributeRow):
        return state.open_view.document.layer_of(row)
    if isinstance(row, LinkRow):
        return Layer.COREFERENCE
    return Layer.RELATIONS if isinstance(row, RelationRow) else Layer.ENTITIES


def done(state: ReviewState, action: Action) -> Feedback:
    """The abstract is done; where something is undecided, or nothing was ever decided, it says so the first time."""
    view, project = state.open_view, state.project
    layers = coverage.find_layers(project.connection, project.schema)
    labels = [label for _, label in view.sought if label]
    if view.sought:
        layers = (view.sought[0][0],)
    waiting = view.document.count_undecided(*layers, labels=labels)
    again = key_of(action.id)
    # Only a person who was told can mean that.
    if (waiting or view.progress.is_untouched) and not state.insists((action.id,)):
        if not waiting:
            return Feedback(f"Nothing was decided here: {again} again marks it as done as it is")
        items = (item for item in state.open_queue.undecided if _layer_of(state, item) in layers)
        state.focus_on(next(items, state.focus))
        told = (
            f"{counted(waiting, 'item')} undecided: {key_of('accept-above')} accepts the sure ones"
        )
        return Feedback(f"{told}, {again} again rejects all and marks as done")
    number, seconds = state.number, state.seconds()
    project.actions.mark_done(number, layers, undecided="reject", seconds=seconds, labels=labels)
    left = [layer for layer in Layer if layer in view.schema.layers and layer not in layers]
    said = [f"Done: {', '.join(labels or layers)}" if left or labels else "Done"]
    # The rest may be cut: what was rejected is known since the first D.
    said[0] += (", " if left or labels else ": ") + _sum_up(state, number)
    said[0] += f", {counted(waiting, 'item')} rejected" if waiting else ""
    if left and not (view.sought or view.schema.finish) and state.is_news(tuple(left)):
        verb = "has" if left == [Layer.COREFERENCE] else "have"
        missed = f"{' and '.join(left).capitalize()} {verb} not been looked at here"
        said.append(f"{missed}: {key_of('finish')} has {again} finish more")
    following = state.documents.not_done_after(number)
    if following is None:
        state.read()
        state.focus_nearest()
        opened = Feedback(f"All abstracts{state.documents.suffix} are done")
    else:
        opened = replace(open_abstract(state, following), moved=True)
    message = ". ".join(filter(None, (*said, opened.message)))
    return replace(opened, message=message, changed=True, recount=True)


def _sum_up(state: ReviewState, number: int) -> str:
    """What the abstract took, how much of what was suggested was right, and how many are left."""
    connection, found = state.project.connection, state.project.document_state(number)
    rows: list[EntityRow | RelationRow | LinkRow] = [*found.all_entities, *found.relations]
    suggested = Counter(row.state for row in (*rows, *found.links))
    right, wrong = suggested[State.ACCEPTED], suggested[State.EDITED] + suggested[State.REJECTED]
    mentions = sum(row.state not in (State.UNDECIDED, State.REJECTED) for row in found.all_entities)
    parts = [counted(count_keys(connection, number), "key"), counted(mentions, "mention")]
    if right + wrong:
        parts.append(f"{100 * right / (right + wrong):.0f} % were right")
    numbers, sought = state.documents.numbers, state.documents.sought
    documents, done = count_done(connection)
    if numbers is not None:
        documents, done = len(numbers), count_done_of(connection, numbers, sought)
    return f"{', '.join(parts)}, {documents - done:,} to go"


def reopen(state: ReviewState, action: Action) -> Feedback:
    """The abstract is not done any more in any layer that was; its items stay as they are."""
    finished = state.open_view.progress.done
    if not finished:
        return problem("This abstract is not finished: there is nothing to open again")
    actions, unfinished = state.project.actions, Completeness.IN_PROGRESS
    state.after_action(actions.set_completeness(state.number, unfinished, finished))
    words = f"Open again: {', '.join(finished)}; {key_of('done')} finishes it"
    return Feedback(words, changed=True, recount=True)
