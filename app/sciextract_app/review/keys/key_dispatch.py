"""What a key means: the state machine over modes and key names."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from sciextract_app.review.keys import (
    attributes,
    bulk,
    deciding,
    linking,
    navigation,
    selecting,
)
from sciextract_app.review.model.modes import (
    AttributeLetter,
    AttributeValue,
    Characters,
    ChoosingType,
    Confirming,
    Counting,
    Doing,
    GoingTo,
    Joining,
    Jumping,
    Merging,
    Offering,
    Pointing,
    Relating,
    Review,
    Selecting,
    TypeLetter,
)
from sciextract_app.review.model.state import ReviewState
from sciextract_app.shared.actions import EDGES, MOVING, Action, Bound, key_of
from sciextract_app.shared.view_models import Feedback, Mode, problem

Handler = Callable[[ReviewState, Action], Feedback]
_SPREADING = frozenset({"alike", "alike-everywhere"})
DOUBLE_SECONDS = 0.5
"""A second ``D`` within that is the same press, bounced or repeated: nobody has seen by then what the first one opened."""
_WAITING = frozenset({"enter", "escape"})
HANDLERS: Mapping[str, Handler] = {
    "next-undecided": navigation.next_undecided,
    "previous-undecided": navigation.previous_undecided,
    **dict.fromkeys(("next-item", "previous-item"), navigation.step_item),
    **dict.fromkeys(("next-in-text", "previous-in-text"), navigation.step_in_text),
    **dict.fromkeys(("next-token", "previous-token"), navigation.step_token),
    **dict.fromkeys(("next-sentence", "previous-sentence"), navigation.step_sentence),
    "jump": selecting.jump,
    "accept": deciding.accept,
    "reject": deciding.reject,
    "letter": deciding.ask_letter,
    "attribute": attributes.ask_attribute,
    "link": attributes.ask_link,
    "repeat": deciding.repeat,
    "alike": bulk.alike,
    "alike-everywhere": bulk.alike_in_project,
    "accept-above": bulk.accept_sure,
    "undo": navigation.undo,
    "redo": navigation.redo,
    "flag": navigation.flag,
    **dict.fromkeys(EDGES, deciding.move_edge),
    "characters": deciding.ask_characters,
    "select": selecting.select,
    "fragment": selecting.ask_fragment,
    "candidate": selecting.candidate,
    **dict.fromkeys(("relate", "relate-anywhere"), linking.relate),
    "offers": linking.ask_offer,
    "invert": deciding.invert,
    "join": linking.ask_cluster,
    "leave": linking.leave,
    "merge": linking.ask_merge,
    "split": linking.split,
    **dict.fromkeys(("next-mention", "previous-mention"), linking.step_mention),
    **{f"type-{digit}": deciding.set_type for digit in range(1, 10)},
    **dict.fromkeys(("next-abstract", "previous-abstract"), navigation.step_abstract),
    **dict.fromkeys(("first-abstract", "last-abstract"), navigation.open_end),
    "go-to": navigation.ask_place,
    **dict.fromkeys(("next-finding", "previous-finding"), navigation.step_finding),
    "intended": navigation.keep_finding,
    "done": deciding.done,
    "reopen": deciding.reopen,
}
IN_MODE: Mapping[type[Doing], Callable[[ReviewState, Any, str, Bound], Feedback]] = {
    Jumping: selecting.press_jump,
    Selecting: selecting.press_select,
    Pointing: selecting.press_fragment,
    Characters: deciding.press_characters,
    TypeLetter: selecting.press_type,
    AttributeLetter: attributes.press_letter,
    AttributeValue: attributes.press_value,
    Relating: linking.press_relate,
    ChoosingType: linking.press_relation_type,
    Offering: linking.press_offer,
    Joining: linking.press_cluster,
    Merging: linking.press_merge,
    GoingTo: navigation.press_place,
    Counting: bulk.press_counting,
    Confirming: navigation.press_confirm,
}
_ALONG_CLUSTER = frozenset({"next-mention", "previous-mention"})
_WITHOUT_ABSTRACT = frozenset(
    {"undo", "redo", "next-abstract", "previous-abstract", "first-abstract", "last-abstract"}
    | {"go-to", "next-finding", "previous-finding", "intended"}
)


def only_moves(state: ReviewState, action: Bound) -> bool:
    """Whether a key moves or opens something now, so that it decides nothing."""
    if state.mode is not Mode.REVIEW or action is None:
        return state.mode in (Mode.JUMP, Mode.GO_TO)
    return action.layer == MOVING or action.id in _ALONG_CLUSTER or bool(action.request)


def press(state: ReviewState, key: str, action: Bound) -> Feedback:
    """Do what a key means in the present mode; only the very next key can insist on what was refused.

    Args:
        state: The state of the desk.
        key: The key's name.
        action: What the key is bound to, for the modes in which bindings hold.
    """
    is_done = state.mode is Mode.REVIEW and action is not None and action.id == "done"
    if is_done and state.clock() - state.done_at < DOUBLE_SECONDS:
        state.end_key(None, is_done)  # a key that is held down is one press, however long
        return problem(f"{key_of('done')} came twice: the second one decided nothing")
    refused = state.refused
    feedback = _press(state, key, action)
    state.end_key(refused, is_done)
    return feedback


def _press(state: ReviewState, key: str, action: Bound) -> Feedback:
    # Only a and & may still speak of the mention that was decided before this key.
    spreads = action is not None and action.id in _SPREADING
    if state.mode is Mode.REVIEW and not spreads:
        state.decided(state.repeat)
    if state.mode is Mode.COUNTING and key not in _WAITING:
        state.leave_mode()  # the person does not wait: the count runs alongside
    if linking.goes_on(state.doing, key, action):
        state.leave_mode()
    if state.mode is not Mode.REVIEW:
        handle = IN_MODE[type(state.doing)]
        return _escape(state) if key == "escape" else handle(state, state.doing, key, action)
    if action is None:
        return (
            bulk.stop(state)
            if key == "escape"
            else problem(f"{key} does nothing; {key_of('help')} shows the keys")
        )
    if action.request:
        return Feedback(request=action.request)
    if state.view is None and action.id not in _WITHOUT_ABSTRACT:
        return problem("No abstract is open")
    return HANDLERS[action.id](state, action)


def _escape(state: ReviewState) -> Feedback:
    """Out of the mode; a jump during a selection goes back to the selection."""
    left = state.doing
    state.enter(left.back if isinstance(left, Jumping) else Review())
    if isinstance(left, Pointing):
        state.focus_on(state.focus)  # the cursor goes back to the mention
    return left.leave() if left.leave else Feedback()
