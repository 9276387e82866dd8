"""One decision for the whole project: asked for by a key, counted and done elsewhere while the person goes on.

The desk only knows how far it is. Whoever counts tells it through :class:`Everywhere`, and the question comes
when the count is there: at once for a person who waits, behind ``&`` for one who went on meanwhile.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial

from sciextract.store.actions.api import EntityRef, LinkRef
from sciextract.store.actions.bulk import Count
from sciextract.store.context import Outcome
from sciextract_app.presenters.actions import Action
from sciextract_app.presenters.queue import Key
from sciextract_app.presenters.state import Situation
from sciextract_app.presenters.view_models import (
    Feedback,
    Hint,
    Mode,
    counted,
    counted_many,
    named,
    problem,
)

COUNT, DO, STOP = "count-everywhere", "do-everywhere", "stop-everywhere"
"""What the app is asked for."""


class Phase(StrEnum):
    """How far it is."""

    COUNTING = "counting"
    COUNTED = "counted"
    DOING = "doing"


@dataclass(frozen=True, slots=True)
class Spread:
    """A decision on its way through the project.

    Attributes:
        number: The abstract of the mention.
        entity_id: The mention.
        name: Its string, as messages show it.
        phase: How far it is.
        done: Abstracts that are behind it.
        total: All that have to be looked at, or changed.
        count: What it would change, once that is known.
    """

    number: int
    entity_id: str
    name: str
    phase: Phase = Phase.COUNTING
    done: int = 0
    total: int = 0
    count: Count | None = None

    @property
    def question(self) -> str:
        """What is asked before anything is changed."""
        if self.count is None:
            return ""
        items = counted_many(self.count.items, "item")
        return f"{self.name}: decide {items} in {_abstracts(len(self.count.numbers))}"

    @property
    def told(self) -> str:
        """How far it is, in a few words."""
        match self.phase:
            case Phase.COUNTED:
                return f"{self.question}? & asks, Esc drops it"
            case Phase.DOING:
                return f"{self.name}: {self.done:,} of {_abstracts(self.total)} decided; Esc stops"
        found = f": {self.done:,} of {_abstracts(self.total)}" if self.total else ""
        return f"counting {self.name}{found}; Esc stops"


def ask(desk: Situation, target: str) -> Feedback:
    """Have it counted; where something is on its way already tell how far that is."""
    if desk.spread is not None:
        return _again(desk, desk.spread)
    if desk.project.mode != "write":
        return problem("The project can only be read here")
    desk.spread = Spread(desk.number, target, named(desk.here.surface(target)))
    _wait(desk)
    return Feedback(desk.spread.told, request=COUNT)


def stop(desk: Situation) -> Feedback:
    """Count or do no more of it; what is done already stays until it is taken back."""
    spread, desk.spread = desk.spread, None
    if spread is None:
        return Feedback()
    if spread.phase is Phase.DOING:
        return Feedback(f"{spread.name}: stopping", request=STOP)
    return Feedback(f"{spread.name}: nothing else is decided", request=STOP)


def press_counting(desk: Situation) -> Feedback:
    """Enter of a person who waits for the count: there is nothing to agree to yet."""
    if desk.spread is None:
        desk.leave_mode()
        return Feedback()
    return problem(f"still {desk.spread.told}")


def hint(desk: Situation) -> Hint | None:
    """The key that speaks of it now."""
    if desk.spread is None:
        return None
    if desk.spread.phase is Phase.COUNTED:
        return Hint("&", f"decide {desk.spread.name} everywhere")
    return Hint("Esc", f"stop {desk.spread.phase}")


class Everywhere:
    """Takes what those tell who count and decide.

    Args:
        now: The state of the desk.
    """

    def __init__(self, now: Situation) -> None:
        self._now = now

    @property
    def spread(self) -> Spread | None:
        """What is on its way, ``None`` for nothing."""
        return self._now.spread

    def progress(self, spread: Spread, done: int, total: int) -> Feedback:
        """Some more abstracts are behind it."""
        if not self._goes_on(spread):
            return Feedback()
        self._now.spread = replace(spread, done=done, total=total)
        return Feedback(self._now.spread.told)

    def counted(self, spread: Spread, count: Count) -> Feedback:
        """All is counted: ask the person who waits; tell the one who went on."""
        if not self._goes_on(spread):
            return Feedback()
        waits = self._wait_no_more()
        if not count.numbers:
            self._now.spread = None
            return Feedback(f"No other {spread.name} in the project waits for that")
        self._now.spread = replace(spread, phase=Phase.COUNTED, count=count)
        question = _question(self._now, self._now.spread) if waits else None
        return question or Feedback(self._now.spread.told)

    def ended(self, spread: Spread, outcome: Outcome, stopped: bool = False) -> Feedback:
        """Everything is decided, or it was stopped on the way."""
        self._finish(spread)
        if outcome.event_id is None:
            return Feedback(f"{spread.name}: nothing was changed")
        items = counted_many(outcome.items, "item")
        told = f"{spread.name}: {items} in {_abstracts(outcome.documents)} decided"
        if stopped:
            return Feedback(f"{told}, then stopped; u takes that back", changed=True)
        return Feedback(f"{told}; u takes all back", changed=True)

    def failed(self, spread: Spread, why: str) -> Feedback:
        """It could not be counted or done."""
        if self._goes_on(spread):
            self._wait_no_more()
        self._finish(spread)
        return problem(f"{spread.name}: {why}")

    def drop(self) -> None:
        """It failed in a way that nobody foresaw."""
        self._wait_no_more()
        self._now.spread = None

    def _goes_on(self, spread: Spread) -> bool:
        """Whether this is what the person wants now; they may have stopped it, and begun another one."""
        now = self._now.spread
        return now is not None and _same(now) == _same(spread)

    def _finish(self, spread: Spread) -> None:
        if self._goes_on(spread):
            self._now.spread = None

    def _wait_no_more(self) -> bool:
        """Out of the mode of a person who waits for the count; says whether they did."""
        waits = self._now.mode is Mode.COUNTING
        if waits:
            self._now.leave_mode()
        return waits


def _same(spread: Spread) -> tuple[int, str, bool]:
    return spread.number, spread.entity_id, spread.phase is Phase.DOING


def _again(desk: Situation, spread: Spread) -> Feedback:
    if spread.phase is Phase.COUNTED:
        return _question(desk, spread)
    if spread.phase is Phase.COUNTING:
        _wait(desk)
    return Feedback(spread.told)


def _wait(desk: Situation) -> None:
    """The person waits for the count: Enter decides nothing else meanwhile, every other key goes on."""
    _enter(desk, Mode.COUNTING, None)


def _question(desk: Situation, spread: Spread) -> Feedback:
    _enter(desk, Mode.CONFIRM, partial(_do, desk, spread))
    desk.pending.question = f"{spread.question}? Enter does it, Esc does not"
    return Feedback(desk.pending.question)


def _enter(desk: Situation, mode: Mode, confirmed: Callable[[], Feedback] | None) -> None:
    desk.leave_mode()
    desk.mode = mode
    desk.pending.confirmed, desk.pending.left = confirmed, partial(stop, desk)


def _do(desk: Situation, spread: Spread) -> Feedback:
    total = len(spread.count.numbers) if spread.count else 0
    desk.spread = replace(spread, phase=Phase.DOING, done=0, total=total)
    return Feedback(f"{spread.name}: deciding in {_abstracts(total)}; Esc stops", request=DO)


def _abstracts(count: int) -> str:
    return counted_many(count, "abstract")


def alike_target(desk: Situation) -> str | None:
    """The mention whose decision ``a`` spreads: the one decided just now, else the focus."""
    scene = desk.here
    if desk.alike and scene.draft.entity(desk.alike):
        return desk.alike
    return desk.focus.id if isinstance(desk.focus, EntityRef) else _of_link(desk)


def _of_link(desk: Situation) -> str | None:
    return desk.focus.entity_id if isinstance(desk.focus, LinkRef) else None


def alike(desk: Situation, action: Action) -> Feedback:
    """The decision holds for all identical strings of this abstract."""
    target = alike_target(desk)
    if target is None:
        return problem("a speaks of a mention: put the focus on one")
    name, position = named(desk.here.surface(target)), desk.position()
    outcome = desk.after_action(desk.project.actions.apply_to_identical(desk.number, target))
    _stay_or_go(desk, position)
    if outcome.event_id is None:
        return Feedback(f"No other {name} here waits for that")
    return Feedback(
        f"{name}: {counted(outcome.items, 'item')} decided; u takes all back", changed=True
    )


def alike_everywhere(desk: Situation, action: Action) -> Feedback:
    """The same in the whole project: it is counted first, then asked."""
    target = alike_target(desk)
    if target is None and desk.spread is None:
        return problem("& speaks of a mention: put the focus on one")
    return ask(desk, target or "")


def accept_above(desk: Situation, action: Action) -> Feedback:
    """Accept everything above the threshold at once, and say how much that was."""
    position = desk.position()
    outcome = desk.project.actions.accept_above(desk.threshold, desk.number)
    desk.after_action(outcome)
    desk.alike = None
    _stay_or_go(desk, position)
    least = f"{desk.threshold:.2f} or more"
    if outcome.event_id is None:
        return Feedback(f"No undecided item has a score of {least}")
    said = f"{counted(outcome.items, 'item')} with {least} accepted; u takes all back"
    return Feedback(said if desk.waiting() else f"{said}. D: done, next abstract", changed=True)


def _stay_or_go(desk: Situation, position: Key) -> None:
    """After a bulk decision: the focus stays while it is undecided."""
    if not desk.is_open(desk.focus):
        desk.go_on(position)
