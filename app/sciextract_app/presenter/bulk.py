"""One key for many items: identical strings here or everywhere, and all above a score."""

from __future__ import annotations

from functools import partial

from sciextract.store.actions.api import EntityRef, LinkRef
from sciextract_app.presenter.actions import Action
from sciextract_app.presenter.queue import Key
from sciextract_app.presenter.shown import Feedback, Mode
from sciextract_app.presenter.situation import Situation
from sciextract_app.presenter.words import counted, named, problem

MOST_REHEARSED = 200
"""Abstracts that a preview looks into one by one: about a millisecond each."""


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
    """The same in the whole project: ask first, with the numbers."""
    target = alike_target(desk)
    if target is None:
        return problem("& speaks of a mention: put the focus on one")
    name = named(desk.here.surface(target))
    told = _preview(desk, target)
    if not told:
        return Feedback(f"No other {name} in the project waits for that")
    desk.leave_mode()
    desk.mode = Mode.CONFIRM
    desk.pending.question = f"{name}: {told}? Enter does it, Esc does not"
    desk.pending.confirmed = partial(_everywhere, desk, target, name)
    return Feedback(desk.pending.question)


def _preview(desk: Situation, target: str) -> str:
    """What would change; very many abstracts are only counted, since looking at each takes long."""
    numbers = desk.project.documents_with(desk.here.surface(target))
    if len(numbers) > MOST_REHEARSED:
        return f"decide it in up to {len(numbers)} abstracts"
    found = desk.project.actions.preview_identical(desk.number, target, whole_project=True)
    if not found.documents:
        return ""
    items, abstracts = counted(found.items, "item"), counted(found.documents, "abstract")
    return f"decide {items} in {abstracts}"


def _everywhere(desk: Situation, target: str, name: str) -> Feedback:
    position = desk.position()
    actions = desk.project.actions
    outcome = actions.apply_to_identical(desk.number, target, whole_project=True)
    desk.after_action(outcome)
    _stay_or_go(desk, position)
    items, abstracts = counted(outcome.items, "item"), counted(outcome.documents, "abstract")
    return Feedback(f"{name}: {items} in {abstracts}; u takes all back", changed=True)


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
