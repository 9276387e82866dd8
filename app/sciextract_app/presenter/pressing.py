"""What a key means: the state machine over modes and key names."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from sciextract_app.presenter import (
    bulk,
    clustering,
    deciding,
    everywhere,
    fragments,
    going,
    relating,
    selecting,
)
from sciextract_app.presenter.actions import Action
from sciextract_app.presenter.route import Route
from sciextract_app.presenter.shown import Feedback, Mode
from sciextract_app.presenter.situation import Situation
from sciextract_app.presenter.words import problem

Handler = Callable[[Situation, Action], Feedback]
_WITHOUT_ABSTRACT = frozenset({"undo", "redo", "next-abstract", "previous-abstract"})
_SPREADING = frozenset({"alike", "alike-everywhere"})
_WAITING = frozenset({"enter", "escape"})
HANDLERS: Mapping[str, Handler] = {
    "next-undecided": going.next_undecided,
    "previous-undecided": going.previous_undecided,
    "next-item": going.step_item,
    "previous-item": going.step_item,
    "next-token": going.step_token,
    "previous-token": going.step_token,
    "next-sentence": going.step_sentence,
    "previous-sentence": going.step_sentence,
    "jump": selecting.jump,
    "accept": deciding.accept,
    "reject": deciding.reject,
    "letter": deciding.ask_letter,
    "repeat": deciding.repeat,
    "alike": bulk.alike,
    "alike-everywhere": bulk.alike_everywhere,
    "accept-above": bulk.accept_above,
    "undo": going.undo,
    "redo": going.redo,
    "flag": going.flag,
    "grow-start": deciding.move_edge,
    "shrink-start": deciding.move_edge,
    "grow-end": deciding.move_edge,
    "shrink-end": deciding.move_edge,
    "select": selecting.select,
    "fragment": fragments.ask_fragment,
    "candidate": selecting.candidate,
    "relate": relating.relate,
    "relate-anywhere": relating.relate,
    "invert": deciding.invert,
    "join": clustering.ask_cluster,
    "leave": clustering.leave,
    "merge": clustering.ask_merge,
    "split": clustering.split,
    "next-mention": clustering.step_mention,
    "previous-mention": clustering.step_mention,
    **{f"type-{digit}": deciding.set_type for digit in range(1, 10)},
}


def press(desk: Situation, route: Route, key: str, action: Action | None) -> Feedback:
    """Do what a key means in the present mode.

    Args:
        desk: The state.
        route: The way through the abstracts.
        key: The key's name.
        action: What the key is bound to, for the modes in which bindings hold.
    """
    spreads = action is not None and action.id in _SPREADING
    if desk.mode is Mode.REVIEW and not spreads:
        desk.alike = None
    if desk.mode is Mode.COUNTING and key not in _WAITING:
        desk.leave_mode()  # the person does not wait: the count goes on beside
    if desk.mode is not Mode.REVIEW:
        return _in_mode(desk, key, action)
    asked, desk.asked_done = desk.asked_done, False
    if action is None:
        return (
            everywhere.stop(desk)
            if key == "escape"
            else problem(f"{key} does nothing; ? shows the keys")
        )
    if action.request:
        return Feedback(request=action.request)
    if desk.scene is None and action.id not in _WITHOUT_ABSTRACT:
        return problem("No abstract is open")
    desk.asked_done = asked and action.id == "done"
    return _review(desk, route, action)


def _review(desk: Situation, route: Route, action: Action) -> Feedback:
    if action.id in ("next-abstract", "previous-abstract"):
        return going.step_abstract(desk, route, action)
    if action.id == "done":
        return going.done(desk, route)
    return HANDLERS[action.id](desk, action)


def _in_mode(desk: Situation, key: str, action: Action | None) -> Feedback:
    if key == "escape":
        return _escape(desk)
    match desk.mode:
        case Mode.JUMP:
            return selecting.press_jump(desk, key)
        case Mode.SELECT:
            return selecting.press_select(desk, key, action)
        case Mode.FRAGMENT:
            return fragments.press_fragment(desk, key, action)
        case Mode.RELATE:
            return relating.press_relate(desk, key)
        case Mode.RELATE_TYPE:
            return relating.press_relation_type(desk, key, action)
        case Mode.CLUSTER:
            return clustering.press_cluster(desk, key)
        case Mode.MERGE:
            return clustering.press_merge(desk, key)
        case Mode.COUNTING:
            return everywhere.press_counting(desk)
        case Mode.TYPE if selecting.selected(desk):
            return selecting.press_type(desk, key)
        case Mode.TYPE:
            return deciding.press_letter(desk, key)
    return _confirm(desk, key)


def _escape(desk: Situation) -> Feedback:
    """Out of the mode; a jump during a selection goes back to the selection."""
    if desk.mode is Mode.JUMP:
        selecting.leave_jump(desk)
        return Feedback()
    pointed, left = desk.mode is Mode.FRAGMENT, desk.pending.left
    desk.leave_mode()
    if pointed:
        desk.look_at(desk.focus)  # the cursor goes back to the mention
    return left() if left else Feedback()


def _confirm(desk: Situation, key: str) -> Feedback:
    pending = desk.pending
    if key != "enter" or pending.confirmed is None:
        return problem(pending.question)
    desk.leave_mode()
    return pending.confirmed()
