"""Keys that decide: one difference, or all of the abstract after a question."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from sciextract.store.incoming.context import Outcome
from sciextract.workflows.adjudicate import Verdict, decide_and_compare
from sciextract.workflows.adjudicate_document import decide_document
from sciextract_app.presenter.actions import Action
from sciextract_app.presenter.adjudicating.abstract import OTHER, Abstract, Waiting
from sciextract_app.presenter.shown import Feedback, Mode
from sciextract_app.presenter.two_sides.wording import NOTHING, said_words, source_words
from sciextract_app.presenter.words import counted, problem

if TYPE_CHECKING:
    from sciextract_app.presenter.adjudicating.adjudication import Adjudication

NONE_HERE = "Nothing waits in this abstract: D goes to the next one with differences"
_TURNING = frozenset({"next-mention", "previous-mention", "next-token", "previous-token"})
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
        *(desk.project, now.dispute, verdict, wanted, desk.decisions), desk.seconds()
    )
    compared = [decided.compared[each] for each in wanted if each in decided.compared]
    desk.show(Abstract(decided.draft, compared, desk.decisions))
    desk.look_at(desk.abstract.from_place(now.place) if desk.abstract else None)
    return Feedback(_told(desk, now, verdict, decided.outcome), changed=True)


def _told(desk: Adjudication, now: Waiting, verdict: Verdict, outcome: Outcome) -> str:
    one, text = now.dispute.difference, now.both.mine.document.text
    said = one.first if verdict == "mine" else one.second
    symmetric = desk.project.schema.symmetric_labels
    words = f"{said_words(said, one.layer, text, symmetric)} {_KEPT[verdict]}"
    if said is None:
        other = said_words(one.second or one.first, one.layer, text, symmetric)
        words = f"{other} {'left out' if verdict == 'mine' else 'removed'}"
    along = outcome.items - 1 if said is None and verdict == "theirs" else 0
    words += f", and {counted(along, 'item')} that hung on it" if along > 0 else ""
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
    whose = "as it is here" if desk.asked == "mine" else f"as {source_words(_source(desk))} has it"
    return f"{counted(count, 'difference')}, all {whose}? Enter does it, o asks for the other side, Esc does not"


def answer(desk: Adjudication, key: str, action: Action | None) -> Feedback:
    """A key while the question waits."""
    if key == "escape":
        desk.mode = Mode.REVIEW
        return Feedback()
    if action is not None and action.id in _TURNING:
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
        words = f"{words}; u takes it back"
    return Feedback(words, problem=bool(done.refused), changed=done.decided > 0)


def _waiting(desk: Adjudication) -> list[Waiting]:
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
