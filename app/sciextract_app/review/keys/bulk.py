"""One decision for the whole project: asked for by a key, counted and done elsewhere while the person continues.

The desk only knows how far it is. Whoever counts tells it through :class:`BulkApply`, and the question comes
when the count is there: at once for a person who waits, behind ``&`` for one who went on meanwhile.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from sciextract.store import Outcome
from sciextract.store.actions.bulk import Count
from sciextract.text.english import counted
from sciextract_app.review.model.bulk_decision import BulkDecision, Phase
from sciextract_app.review.model.modes import Confirming, Counting
from sciextract_app.review.model.queue import Key
from sciextract_app.review.model.state import ReviewState
from sciextract_app.review.model.targets import alike_target, sure_items
from sciextract_app.shared.actions import (
    Action,
    Bound,
    focus_one,
    key_of,
    nothing_left,
    undo_hint,
)
from sciextract_app.shared.view_models import Feedback, named, problem

COUNT, DO, STOP = "count-everywhere", "do-everywhere", "stop-everywhere"
PLACES = "places"
"""What the app is asked for."""


def ask(state: ReviewState, target: str) -> Feedback:
    """Have it counted; where something is on its way already tell how far that is."""
    if state.bulk is not None:
        if state.bulk.phase is Phase.COUNTED:
            return _question(state, state.bulk)
        if state.bulk.phase is Phase.COUNTING:
            state.enter(Counting(partial(stop, state)))
        return Feedback(state.bulk.status)
    if state.project.mode != "write":
        return problem("The project is read-only here")
    decision = BulkDecision(state.number, target, named(state.open_view.surface(target)))
    state.carry(decision)
    # Enter decides nothing else meanwhile, every other key continues.
    state.enter(Counting(partial(stop, state)))
    return Feedback(decision.status, request=COUNT)


def stop(state: ReviewState) -> Feedback:
    """Count or do no more of it; what is done already stays until it is taken back."""
    decision = state.bulk
    state.carry(None)
    if decision is None:
        return Feedback()
    more = "stopping" if decision.phase is Phase.DOING else "nothing else is decided"
    return Feedback(f"{decision.name}: {more}", request=STOP)


def press_counting(state: ReviewState, doing: Counting, key: str, action: Bound) -> Feedback:
    """Enter of a person who waits for the count: there is nothing to agree to yet."""
    if state.bulk is None:
        state.leave_mode()
        return Feedback()
    return problem(f"still {state.bulk.status}")


class BulkApply:
    """Takes what those tell who count and decide.

    Args:
        state: The state of the desk.
    """

    def __init__(self, state: ReviewState) -> None:
        self._state = state

    @property
    def pending(self) -> BulkDecision | None:
        """What is on its way, ``None`` for nothing."""
        return self._state.bulk

    def progress(self, decision: BulkDecision, done: int, total: int) -> Feedback:
        """Some more abstracts are behind it."""
        if not self._is_current(decision):
            return Feedback()
        now = replace(decision, done=done, total=total)
        self._state.carry(now)
        return Feedback(now.status)

    def ask(self, decision: BulkDecision, count: Count) -> Feedback:
        """All is counted: ask the person who waits; tell the one who went on."""
        if not self._is_current(decision):
            return Feedback()
        # Enter of somebody who went on meanwhile must not agree to what they did not see.
        waits = self._leave_counting()
        if not count.numbers:
            self._state.carry(None)
            return Feedback(f"No other {decision.name} in the project waits for that")
        now = replace(decision, phase=Phase.COUNTED, count=count)
        self._state.carry(now)
        return _question(self._state, now) if waits else Feedback(now.status)

    def end(self, decision: BulkDecision, outcome: Outcome, stopped: bool = False) -> Feedback:
        """Everything is decided, or it was stopped on the way."""
        self._clear(decision)
        if outcome.event_id is None:
            return Feedback(f"{decision.name}: nothing was changed")
        items = counted(outcome.items, "item")
        summary = f"{decision.name}: {items} in {_abstracts(outcome.documents)} decided"
        more = f", then stopped; {undo_hint('that')}" if stopped else f"; {undo_hint('all of it')}"
        return Feedback(f"{summary}{more}", changed=True)

    def fail(self, decision: BulkDecision, why: str) -> Feedback:
        """It could not be counted or done."""
        if self._is_current(decision):
            self._leave_counting()
        self._clear(decision)
        return problem(f"{decision.name}: {why}")

    def _is_current(self, decision: BulkDecision) -> bool:
        """Whether this is what the person wants now; they may have stopped it, and begun another one."""
        now = self._state.bulk
        return now is not None and _identity(now) == _identity(decision)

    def _clear(self, decision: BulkDecision) -> None:
        if self._is_current(decision):
            self._state.carry(None)

    def _leave_counting(self) -> bool:
        """Out of the mode of a person who waits for the count; says whether they did."""
        waits = isinstance(self._state.doing, Counting)
        if waits:
            self._state.leave_mode()
        return waits


def _identity(decision: BulkDecision) -> tuple[int, str, bool]:
    return decision.number, decision.entity_id, decision.phase is Phase.DOING


def _question(state: ReviewState, decision: BulkDecision) -> Feedback:
    def begin() -> Feedback:
        total = len(decision.count.numbers) if decision.count else 0
        state.carry(replace(decision, phase=Phase.DOING, done=0, total=total))
        words = f"{decision.name}: deciding in {_abstracts(total)}; Esc stops"
        return Feedback(words, request=DO)

    question = f"{decision.question}? Enter confirms, Esc cancels"
    state.enter(Confirming(question, begin, partial(stop, state)))
    return Feedback(question, request=PLACES)


def _abstracts(count: int) -> str:
    return counted(count, "abstract")


def alike(state: ReviewState, action: Action) -> Feedback:
    """The decision holds for all identical strings of this abstract."""
    target = alike_target(state)
    if target is None:
        return problem(f"{key_of('alike')} applies to mentions: {focus_one()}")
    name, position = named(state.open_view.surface(target)), state.position()
    outcome = state.after_action(state.project.actions.apply_to_identical(state.number, target))
    _advance_if_decided(state, position)
    if outcome.event_id is None:
        return Feedback(f"No other {name} here waits for that")
    words = f"{name}: {counted(outcome.items, 'item')} decided; {undo_hint('all of it')}"
    return Feedback(words, changed=True)


def alike_in_project(state: ReviewState, action: Action) -> Feedback:
    """The same in the whole project: it is counted first, then asked."""
    target = alike_target(state)
    if target is None and state.bulk is None:
        return problem(f"{key_of('alike-everywhere')} applies to mentions: {focus_one()}")
    return ask(state, target or "")


def accept_sure(state: ReviewState, action: Action) -> Feedback:
    """Accept what is right as often as promised, with one undo; what is left follows by uncertainty.

    Where nothing is promised, it says what that would take; the same key again goes by the score alone, as it does while
    nothing is known of promises.
    """
    if state.sure is None:
        return _accept_above(state)
    mentions, relations, said = sure_items(state)
    if not (mentions or relations or said):
        if state.insists((action.id,)):
            return _accept_above(state)
        again = f"{key_of(action.id)} again accepts scores of {state.threshold:.2f} or more"
        return problem(f"{state.unsure or 'Nothing undecided here is sure'}. {again}")
    state.walk_rest_by_uncertainty()
    state.after_action(
        state.project.actions.accept_all(state.number, [*mentions, *relations, *said])
    )
    state.focus_on(state.open_queue.after(state.open_queue.key_at(0)) or state.focus)
    count = f"{counted(len(mentions), 'mention')} and {counted(len(relations), 'relation')}"
    count += f" and {counted(len(said), 'attribute')}" if said else ""
    left = "what is left follows by uncertainty" if state.undecided_count() else nothing_left()
    return Feedback(f"{count} accepted; {undo_hint('all of it')}; {left}", changed=True)


def _accept_above(state: ReviewState) -> Feedback:
    """Accept everything above the threshold at once, and say how much that was."""
    position = state.position()
    outcome = state.project.actions.accept_above(state.threshold, state.number)
    state.after_action(outcome)
    _advance_if_decided(state, position)
    least = f"{state.threshold:.2f} or more"
    if outcome.event_id is None:
        return Feedback(f"No undecided item has a score of {least}")
    message = f"{counted(outcome.items, 'item')} with {least} accepted; {undo_hint('all of it')}"
    message += "" if state.undecided_count() else f". {key_of('done')}: done, next abstract"
    return Feedback(message, changed=True)


def _advance_if_decided(state: ReviewState, position: Key) -> None:
    """After a bulk decision: the focus stays while it is undecided."""
    if not state.is_undecided(state.focus):
        state.advance(position)
