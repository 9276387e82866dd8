"""Keys that decide: one difference, or all of the abstract after a question."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from sciextract.store import Outcome, events
from sciextract.store.events import Event
from sciextract.text.english import counted
from sciextract.workflows import adjudicate
from sciextract.workflows.adjudicate import Verdict, decide_and_compare, decide_document
from sciextract.workflows.disagreements import KIND, other_sources
from sciextract_app.presenters.actions import Action
from sciextract_app.presenters.adjudication_documents import (
    OTHER,
    ComparedAbstract,
    ComparisonPending,
    OpenDifference,
)
from sciextract_app.presenters.two_sides import NOTHING, item_words, source_words
from sciextract_app.presenters.view_models import Feedback, Mode, problem

if TYPE_CHECKING:
    from sciextract_app.presenters.adjudication import Adjudication


NONE_HERE = "No differences left in this abstract: D goes to the next one with differences"
_SWITCH_KEYS = frozenset({"next-mention", "previous-mention", "next-token", "previous-token"})
_KEPT: Mapping[Verdict, str] = {"mine": "kept", "theirs": "taken over"}


def accept(desk: Adjudication, action: Action) -> Feedback:
    """The side in focus is right."""
    return _decide(desk, desk.on)


def reject(desk: Adjudication, action: Action) -> Feedback:
    """The side in focus is wrong, so the other one is right."""
    return _decide(desk, OTHER[desk.on])


def _decide(desk: Adjudication, verdict: Verdict) -> Feedback:
    now = desk.now
    if now is None:
        return problem(NONE_HERE)
    ids = [side.source_in(desk.project, desk.number) for side in desk.sides]
    wanted = [each for each in ids if each is not None]
    decided = decide_and_compare(
        desk.project, now.dispute, verdict, wanted, desk.decisions, desk.seconds()
    )
    compared = [decided.compared[each] for each in wanted if each in decided.compared]
    desk.show(ComparedAbstract(decided.doc, compared, desk.decisions))
    desk.look_at(desk.abstract.from_place(now.place) if desk.abstract else None)
    return Feedback(_message(desk, now, verdict, decided.outcome), changed=True)


def _message(desk: Adjudication, now: OpenDifference, verdict: Verdict, outcome: Outcome) -> str:
    one, text = now.dispute.difference, now.both.mine.document.text
    said = one.first if verdict == "mine" else one.second
    symmetric = desk.project.schema.symmetric_labels
    words = f"{item_words(said, one.layer, text, symmetric)} {_KEPT[verdict]}"
    if said is None:
        other = item_words(one.second or one.first, one.layer, text, symmetric)
        words = f"{other} {'left out' if verdict == 'mine' else 'removed'}"
    along = outcome.items - 1 if said is None and verdict == "theirs" else 0
    words += f", and {counted(along, 'item')} that depended on it" if along > 0 else ""
    left = "" if desk.now else f"{NONE_HERE.lower()}"
    return "; ".join(filter(None, (words, *outcome.warnings, left)))


def ask_all(desk: Adjudication, action: Action) -> Feedback:
    """All of the abstract as one side has it, after a question."""
    if desk.now is None:
        return problem(NONE_HERE)
    desk.mode, desk.asked = Mode.CONFIRM, "mine"
    return Feedback(question(desk))


def question(desk: Adjudication) -> str:
    """What is asked before all is decided."""
    count = sum(each.dispute.source == _source(desk) for each in _waiting(desk))
    whose = (
        "as in this project" if desk.asked == "mine" else f"as {source_words(_source(desk))} has it"
    )
    return f"{counted(count, 'difference')}, all {whose}? Enter confirms, o takes the other side, Esc cancels"


def answer(desk: Adjudication, key: str, action: Action | None) -> Feedback:
    """A key while the question waits."""
    if key == "escape":
        desk.mode = Mode.REVIEW
        return Feedback()
    if action is not None and action.id in _SWITCH_KEYS:
        desk.asked = OTHER[desk.asked]
        return Feedback(question(desk))
    if key != "enter":
        return problem(question(desk))
    desk.mode = Mode.REVIEW
    return _decide_all(desk, desk.asked)


def _decide_all(desk: Adjudication, verdict: Verdict) -> Feedback:
    if desk.now is None:
        return problem(NONE_HERE)
    before, source_id = len(_waiting(desk)), desk.project.source_id(_source(desk))
    done = decide_document(desk.project, desk.number, source_id, verdict, desk.decisions)
    desk.read(desk.number)
    desk.look_at(next(iter(_waiting(desk)), None))
    words = f"{counted(before - len(_waiting(desk)), 'difference')} settled"
    if done.refused:
        reasons = "; ".join(dict.fromkeys(done.refused.values()))
        words = f"{words}, {len(done.refused)} not: {reasons}"
    else:
        words = f"{words}; u undoes it"
    return Feedback(words, problem=bool(done.refused), changed=done.decided > 0)


def _waiting(desk: Adjudication) -> list[OpenDifference]:
    return desk.abstract.waiting if desk.abstract else []


def _source(desk: Adjudication) -> str:
    return desk.now.dispute.source if desk.now else ""


def verdict_words(desk: Adjudication, verdict: Verdict) -> str:
    """What deciding for a side does, for the footer."""
    one = desk.now.dispute.difference if desk.now else None
    said = None if one is None else (one.first if verdict == "mine" else one.second)
    if verdict == "mine":
        return "keep mine" if said else f"keep {NOTHING}"
    return "take theirs" if said else "remove it"


ALL_DECIDED = "Nothing is left to decide: W compares with another source, Esc goes back"
_BACK = frozenset({"previous-undecided", "previous-item", "previous-abstract"})
_ONLY_ONE = "This is the only difference left in this abstract"


def other_side(desk: Adjudication, action: Action) -> Feedback:
    """Let the keys speak of the other side."""
    desk.switch_side()
    return Feedback()


def certain_side(desk: Adjudication, action: Action) -> Feedback:
    """The side that lies in the direction of the key."""
    desk.switch_side("mine" if action.id == "previous-token" else "theirs")
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
    found = desk.backlog.neighbour(desk.number, way)
    if found is None:
        return Feedback("This is the last abstract" if way > 0 else "The first one")
    return desk.open(found)


def next_abstract(desk: Adjudication, action: Action | None = None) -> Feedback:
    """Open the next abstract with differences, with a message when there is none."""
    try:
        found = desk.backlog.next_waiting(desk.number)
    except ComparisonPending:
        known = f"{desk.backlog.counted:,} of {len(desk.backlog.numbers):,}"
        return Feedback(f"{known} abstracts are compared, without a difference so far; D continues")
    if found is None:
        return Feedback(ALL_DECIDED)
    if found == desk.number:
        return Feedback("No other abstract has differences")
    return desk.open(found)


def undo(desk: Adjudication, action: Action) -> Feedback:
    """Take back the last decision; what was done at the desk is taken back there."""
    project = desk.project
    latest = events.to_undo(project.connection, project.author_id)
    return _undo_or_redo(desk, latest, project.undo, "taken back")


def redo(desk: Adjudication, action: Action) -> Feedback:
    """Decide again what was taken back."""
    project = desk.project
    latest = events.to_redo(project.connection, project.author_id)
    return _undo_or_redo(desk, latest, project.redo, "decided again")


def _undo_or_redo(
    desk: Adjudication,
    latest: int | None,
    turn: Callable[[], tuple[Event, Outcome]],
    verb: str,
) -> Feedback:
    event = events.read_event(desk.project.connection, latest) if latest else None
    if event is not None and event.kind != KIND:
        return problem(
            f"Your last action was {event.kind!r}, which is not a decision between two sides: Esc, and the same key at the desk"
        )
    event, _ = turn()
    before = desk.number
    _show_decision(desk, event)
    _update_counts(desk, event)
    return Feedback(f"{_decision_words(event)} {verb}", changed=True, moved=desk.number != before)


def _show_decision(desk: Adjudication, event: Event) -> None:
    """Show the abstract of a decision, with the focus on what is to be decided again."""
    params = event.params
    if not any(params["source"].startswith(each.name) for each in desk.sides):
        found = other_sources(desk.project, desk.decisions)
        desk.choose([each for each in found if params["source"].startswith(each.name)])
    before = desk.now
    same = params["number"] == desk.number
    desk.read(params["number"])
    if desk.abstract is None:
        desk.look_at(None)
        return
    keys = params.get("keys", [params.get("key")])
    again = (each for each in desk.abstract.waiting if each.dispute.key in keys)
    kept = desk.abstract.find(before.id) if before and same else None
    place = before.place if before and same else (0, 0, 0, "", "")
    desk.look_at(next(again, None) or kept or desk.abstract.from_place(place))


def _update_counts(desk: Adjudication, event: Event) -> None:
    """Bring the project's own counts up to date, without comparing again what was just compared."""
    ids = {each for side in desk.sides for each in side.source_ids}
    if desk.abstract is not None and ids == {*desk.decisions.merged().values()}:
        adjudicate.note(desk.project, desk.number, len(desk.abstract.waiting))
    else:
        adjudicate.follow(desk.project, event, desk.decisions)


def _decision_words(event: Event) -> str:
    count = len(event.params.get("keys", ()))
    return f"{count} decisions" if count > 1 else "decision"
