"""Keys that go somewhere: the other side, other differences, other abstracts, and back in time."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from sciextract.store.incoming.context import Outcome
from sciextract.store.log import events
from sciextract.store.log.events import Event
from sciextract.workflows import adjudicate
from sciextract.workflows.decisions import KIND
from sciextract.workflows.other_sides import other_sides
from sciextract_app.presenter.actions import Action
from sciextract_app.presenter.adjudicating.backlog import StillComparing
from sciextract_app.presenter.shown import Feedback
from sciextract_app.presenter.words import problem

if TYPE_CHECKING:
    from sciextract_app.presenter.adjudicating.adjudication import Adjudication

ALL_DECIDED = "Nothing is left to decide: W holds the project against somebody else, Esc goes back"
_BACK = frozenset({"previous-undecided", "previous-item", "previous-abstract"})
_ONLY_ONE = "This is the only difference that waits in this abstract"


def other_side(desk: Adjudication, action: Action) -> Feedback:
    """Let the keys speak of the other side."""
    desk.turn_side()
    return Feedback()


def certain_side(desk: Adjudication, action: Action) -> Feedback:
    """The side that lies in the direction of the key."""
    desk.turn_side("mine" if action.id == "previous-token" else "theirs")
    return Feedback()


def step(desk: Adjudication, action: Action) -> Feedback:
    """The next or previous difference, without deciding this one."""
    abstract, now = desk.abstract, desk.now
    if abstract is None or now is None:
        return next_abstract(desk, action) if action.id not in _BACK else problem(ALL_DECIDED)
    if len(abstract.waiting) == 1:
        return Feedback(_ONLY_ONE)
    way = -1 if action.id in _BACK else 1
    desk.look_at(abstract.waiting[(abstract.index(now) + way) % len(abstract.waiting)])
    return Feedback()


def step_abstract(desk: Adjudication, action: Action) -> Feedback:
    """The next or previous abstract that the other side has spoken about."""
    way = -1 if action.id in _BACK else 1
    found = desk.backlog.beside(desk.number, way)
    if found is None:
        return Feedback("This is the last abstract" if way > 0 else "The first one")
    return desk.open(found)


def next_abstract(desk: Adjudication, action: Action) -> Feedback:
    """The next abstract with differences."""
    return next_waiting(desk)


def next_waiting(desk: Adjudication) -> Feedback:
    """Open the next abstract with differences, and say when there is none."""
    try:
        found = desk.backlog.next_waiting(desk.number)
    except StillComparing:
        known = f"{desk.backlog.counted:,} of {len(desk.backlog.numbers):,}"
        return Feedback(f"{known} abstracts are compared, without a difference so far; D goes on")
    if found is None:
        return Feedback(ALL_DECIDED)
    if found == desk.number:
        return Feedback("No other abstract has differences")
    return desk.open(found)


def undo(desk: Adjudication, action: Action) -> Feedback:
    """Take back the last decision; what was done at the desk is taken back there."""
    project = desk.project
    latest = events.to_undo(project.connection, project.author_id)
    return _turn(desk, latest, project.undo, "taken back")


def redo(desk: Adjudication, action: Action) -> Feedback:
    """Decide again what was taken back."""
    project = desk.project
    latest = events.to_redo(project.connection, project.author_id)
    return _turn(desk, latest, project.redo, "decided again")


def _turn(
    desk: Adjudication,
    latest: int | None,
    turn: Callable[[], tuple[Event, Outcome]],
    verb: str,
) -> Feedback:
    event = events.read_event(desk.project.connection, latest) if latest else None
    if event is not None and event.kind != KIND:
        return problem(
            f"Your last action was {event.kind!r}, which is no decision between two sides: Esc, and the same key at the desk"
        )
    turned, _ = turn()
    before = desk.number
    _go_to(desk, turned)
    _note(desk, turned)
    return Feedback(f"{_what(turned)} {verb}", changed=True, moved=desk.number != before)


def _go_to(desk: Adjudication, event: Event) -> None:
    """Show the abstract of a decision, with the focus on what is to be decided again."""
    told = event.params
    if not any(told["source"].startswith(each.name) for each in desk.sides):
        found = other_sides(desk.project, desk.decisions)
        desk.choose([each for each in found if told["source"].startswith(each.name)])
    before = desk.now
    same = told["number"] == desk.number
    desk.read(told["number"])
    if desk.abstract is None:
        desk.look_at(None)
        return
    keys = told.get("keys", [told.get("key")])
    again = (each for each in desk.abstract.waiting if each.dispute.key in keys)
    kept = desk.abstract.find(before.id) if before and same else None
    place = before.place if before and same else (0, 0, 0, "", "")
    desk.look_at(next(again, None) or kept or desk.abstract.from_place(place))


def _note(desk: Adjudication, event: Event) -> None:
    """Bring the project's own counts up to date, without comparing again what was just compared."""
    ids = {each for side in desk.sides for each in side.source_ids}
    if desk.abstract is not None and ids == {*desk.decisions.merged().values()}:
        adjudicate.note(desk.project, desk.number, len(desk.abstract.waiting))
    else:
        adjudicate.follow(desk.project, event, desk.decisions)


def _what(event: Event) -> str:
    count = len(event.params.get("keys", ()))
    return f"{count} decisions" if count > 1 else "decision"
