"""Keys that move: between items, tokens, sentences and abstracts, and through the history."""

from __future__ import annotations

from collections.abc import Iterator

from sciextract.store import events
from sciextract.store.actions.api import EntityRef, ItemRef, LinkRef, RelationRef
from sciextract.store.context import Outcome
from sciextract.store.events import Change, Event
from sciextract_app.presenters.actions import Action
from sciextract_app.presenters.document_order import Route
from sciextract_app.presenters.queue import Key
from sciextract_app.presenters.state import Situation
from sciextract_app.presenters.view_models import NOTHING_LEFT, Feedback, Mode, counted

LARGE = frozenset({"import", "predict", "merge project", "salvage"})
"""What may concern the whole project and was not done at the desk: it is taken back only after a question."""
_FIRST = {"relation": 0, "link": 1, "entity": 2}


def next_undecided(desk: Situation, action: Action) -> Feedback:
    """The next item that waits, without deciding this one."""
    return Feedback("" if desk.go_on(desk.position()) else NOTHING_LEFT)


def previous_undecided(desk: Situation, action: Action) -> Feedback:
    """The previous item that waits."""
    found = desk.items.before(desk.position())
    if found is not None:
        desk.look_at(found)
    return Feedback("" if found else NOTHING_LEFT)


def step_item(desk: Situation, action: Action) -> Feedback:
    """The next or previous item of the text, decided or not."""
    step, scene = int(action.argument), desk.here
    if desk.focus is not None and scene.row(desk.focus) is not None:
        place = desk.items.place(desk.focus)
    else:
        place = _text_place(desk)
    found = desk.items.neighbour(place, step)
    if found is not None:
        desk.look_at(found)
    return Feedback("" if found else "There is no other item in this direction")


def _text_place(desk: Situation) -> Key:
    return (desk.here.token_span(desk.cursor).char_start, float("-inf"))


def step_token(desk: Situation, action: Action) -> Feedback:
    """The cursor one token on or back."""
    desk.move_cursor(desk.cursor + int(action.argument))
    return Feedback()


def step_sentence(desk: Situation, action: Action) -> Feedback:
    """The cursor to the beginning of a sentence."""
    desk.move_cursor(sentence_start(desk, int(action.argument)))
    return Feedback()


def sentence_start(desk: Situation, step: int) -> int:
    """The first token of the next sentence, of this one, or of the previous one."""
    tokens = desk.here.tokens
    if not len(tokens):
        return 0
    current = tokens.sentence_of(desk.cursor)
    if step < 0 and tokens.sentences[current].token_start < desk.cursor:
        return tokens.sentences[current].token_start
    wanted = max(0, min(current + step, len(tokens.sentences) - 1))
    return tokens.sentences[wanted].token_start


def step_abstract(desk: Situation, route: Route, action: Action) -> Feedback:
    """Open the next or the previous abstract."""
    found = route.beside(desk.number, int(action.argument))
    if found is None:
        end = "last" if action.argument == "1" else "first"
        return Feedback(f"This is the {end} abstract{route.of}")
    desk.load(found)
    return Feedback(moved=True)


def done(desk: Situation, route: Route) -> Feedback:
    """The abstract is done; with undecided items the first time only says how many there are."""
    waiting = desk.waiting()
    if waiting and not desk.asked_done:
        desk.look_at(desk.items.after(desk.items.key_at(0)))
        desk.asked_done = True
        return Feedback(
            f"{counted(waiting, 'item')} undecided: A accepts the sure ones, D again rejects all and is done"
        )
    number, seconds = desk.number, desk.seconds()
    desk.project.actions.mark_done(number, undecided="reject", seconds=seconds)
    rejected = f", {counted(waiting, 'item')} rejected" if waiting else ""
    following = route.not_done_after(number)
    if following is None:
        desk.read()
        desk.settle()
        return Feedback(f"Done{rejected}. All abstracts{route.of} are done", changed=True)
    desk.load(following)
    return Feedback(f"Done{rejected}", changed=True, moved=True)


def flag(desk: Situation, action: Action) -> Feedback:
    """Set or clear the flag."""
    flagged = not desk.here.progress.flagged
    desk.after_action(desk.project.actions.flag(desk.number, flagged))
    return Feedback("flagged" if flagged else "flag cleared", changed=True)


def undo(desk: Situation, action: Action) -> Feedback:
    """Take back the last action; one that was not done at the desk only after a question."""
    latest = events.to_undo(desk.project.connection, desk.project.author_id)
    event = events.read_event(desk.project.connection, latest) if latest else None
    if event is not None and is_large(event):
        desk.leave_mode()
        desk.mode = Mode.CONFIRM
        desk.pending.question = f"Take back {event.kind} of {counted(event.documents, 'abstract')}? Enter does it, Esc does not"
        desk.pending.confirmed = lambda: turn(desk, "taken back", *desk.project.undo())
        return Feedback(desk.pending.question)
    return turn(desk, "taken back", *desk.project.undo())


def is_large(event: Event) -> bool:
    """Whether taking an event back needs a question."""
    return event.kind in LARGE


def redo(desk: Situation, action: Action) -> Feedback:
    """Do again what was taken back."""
    return turn(desk, "done again", *desk.project.redo())


def turn(desk: Situation, verb: str, event: Event, outcome: Outcome) -> Feedback:
    """Go where an event was turned around and show what it changed."""
    from sciextract.workflows import (
        adjudicate,  # brings numpy, which the first abstract can do without
    )

    if event.kind == adjudicate.KIND or is_large(event):
        adjudicate.follow(desk.project, event)
    before = desk.number
    number, item = _changed_there(desk, event)
    if number is not None and number != before:
        desk.load(number)
    elif not desk.read():
        desk.number = 0
        return Feedback(f"{event.kind} {verb}", changed=True, moved=True)
    if desk.scene is not None:
        _look(desk, item)
    told = f" in {counted(outcome.documents, 'abstract')}" if outcome.documents > 1 else ""
    return Feedback(f"{event.kind}{told} {verb}", changed=True, moved=desk.number != before)


def _look(desk: Situation, item: ItemRef | None) -> None:
    """The item if it is there; else its mention; else what is nearest."""
    scene = desk.here
    if isinstance(item, LinkRef) and scene.row(item) is None:
        item = EntityRef(item.entity_id)
    if scene.row(item) is not None:
        desk.look_at(item)
    elif scene.row(desk.focus) is None:
        desk.settle()


def _changed_there(desk: Situation, event: Event) -> tuple[int | None, ItemRef | None]:
    """The abstract and the item that an event changed, in the open abstract if it did there."""
    found: dict[int, list[Change]] = {}
    for number, changes in events.changes_of_event(desk.project.connection, event.id):
        found.setdefault(number, []).extend(changes)
    if not found:
        return None, None
    number = desk.number if desk.number in found else next(iter(found))
    return number, _told(event) or next(_items(found[number]), None)


def _told(event: Event) -> ItemRef | None:
    """The item that an event was told."""
    match event.params:
        case {"cluster": str(cluster_id), "entity": str(entity_id)}:
            return LinkRef(cluster_id, entity_id)
        case {"entity": str(entity_id)}:
            return EntityRef(entity_id)
        case {"relation": str(relation_id)}:
            return RelationRef(relation_id)
    return None


def _items(changes: list[Change]) -> Iterator[ItemRef]:
    for change in sorted(changes, key=lambda each: _FIRST.get(each.table, len(_FIRST))):
        match change.table, change.key:
            case "relation", (relation_id,):
                yield RelationRef(relation_id)
            case "link", (cluster_id, entity_id):
                yield LinkRef(cluster_id, entity_id)
            case "entity", (entity_id,):
                yield EntityRef(entity_id)
