"""One key for many items: identical strings here or everywhere, and all above a score."""

from __future__ import annotations

from sciextract.store.actions.api import EntityRef, LinkRef
from sciextract_app.presenter import everywhere
from sciextract_app.presenter.actions import Action
from sciextract_app.presenter.queue import Key
from sciextract_app.presenter.shown import Feedback
from sciextract_app.presenter.situation import Situation
from sciextract_app.presenter.words import counted, named, problem


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
    return everywhere.ask(desk, target or "")


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
