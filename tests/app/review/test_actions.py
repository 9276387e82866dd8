"""The registry of actions, jump letters, and other small parts."""

from __future__ import annotations

import re
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sciextract.store import EntityRef, ItemRef, RelationRef
from sciextract_app.review.keys.desk import Desk
from sciextract_app.review.keys.key_dispatch import HANDLERS
from sciextract_app.review.model.hints import Hints, JumpLetters
from sciextract_app.settings import SHELL_IDS
from sciextract_app.shared.actions import ACTIONS, BY_ID, action_of, key_of, use_keys
from sciextract_app.shared.presenters import plain
from sciextract_app.shared.view_models import Mode
from sciextract_app.widgets.help import help_rows

PLAIN = {
    *("enter", "tab", "shift+tab", "backspace", "up", "down", "left", "right", "home", "end"),
    "ctrl+r",
}


def test_every_action_has_its_own_keys_and_words() -> None:
    keys = Counter(key for action in ACTIONS for key in action.keys)
    assert set(keys.values()) == {1}
    assert len(BY_ID) == len(ACTIONS)
    assert all(action.words and action.help for action in ACTIONS)


def test_keys_arrive_on_every_terminal() -> None:
    keys = {key for action in ACTIONS for key in action.keys}
    assert all(key in PLAIN or (len(key) == 1 and key.isascii()) for key in keys)
    assert action_of("U") is action_of("ctrl+r")


def test_every_action_is_handled() -> None:
    handled = {*HANDLERS}
    assert {action.id for action in ACTIONS if not action.request} == handled


def test_names_of_keys() -> None:
    named = ("semicolon", "full_stop", "ampersand", "slash", "upper_s", "x", "delete")
    assert [plain(name) for name in named] == [";", ".", "&", "/", "S", "x", "backspace"]


def test_changed_keys_win() -> None:
    use_keys({"flag": "x", "note": "comma,y"})
    assert action_of("x") is BY_ID["flag"]
    assert action_of("F") is None
    assert action_of("backspace") is BY_ID["reject"]
    assert action_of(",") is BY_ID["note"]
    assert [key_of(name) for name in ("reject", "note", "candidate")] == [
        "Backspace",
        ",",
        "‘other span’",
    ]


@pytest.mark.parametrize(
    "item", [EntityRef("tagger1"), RelationRef("encoder tagger2"), EntityRef("clauses")]
)
def test_every_key_in_a_text_is_the_persons(desk: Desk, item: ItemRef) -> None:
    changed = {action.id: chr(0x4E00 + place) for place, action in enumerate(ACTIONS)}
    # Enter is a fixed key of questions, c that of the cluster that was used last; others are words.
    default = {key_of(action.id) for action in ACTIONS} - {"Enter", *"acI123456789:;"}
    default |= {key_of(id_) for id_ in SHELL_IDS}
    use_keys(changed | {id_: f"f1{place}" for place, id_ in enumerate(SHELL_IDS)})
    for action in ACTIONS:
        desk.state.leave_mode()
        desk.focus_item(item)
        said = [desk.press(changed[action.id]).message, *(hint.key for hint in desk.footer())]
        said += [hint.key for hint in desk.legend() if desk.mode is Mode.REVIEW]
        said += [desk.press("あ").message, desk.press("escape").message]
        words = re.sub("‹.*?›|letter .*", "", " ".join(said))
        assert not set(re.findall(r"[^\s,:;]+", words)) & default, (action.id, said)
    assert not {key for keys, _, _ in help_rows() for key in keys.split()} & default


@given(st.integers(1, 3000))
def test_letters_of_words_are_short_and_begin_with_no_letter_of_a_mention(count: int) -> None:
    letters = JumpLetters(count)
    words = {letters.of_token(token) for token in range(count)}
    assert len(words) == min(count, 46 * 26)
    assert all(len(word) == 2 for word in words)
    assert not {word[0] for word in words} & set(letters._free)
    assert len(letters._free) >= 39 or count > 338


def test_letters_of_mentions_stay_from_one_press_to_the_next(desk: Desk) -> None:
    desk.press("f")
    before = desk.passage().hints
    names = {before[mark.char_start] for mark in desk.passage().marks if mark.depth == 0}
    assert all(len(name) == 1 for name in names), "every mention is one letter away"
    desk.press("escape")
    for key in ("j", "j", "l", "x", "f"):
        desk.press(key)
    after = desk.passage().hints
    assert all(before[place] == name for place, name in after.items() if len(name) == 1)
    desk.press("escape")
    desk.press("k")
    desk.press("r")
    related = desk.passage().hints
    assert related and all(before[place] == name for place, name in related.items())


def test_two_letters_are_typed_one_after_the_other(desk: Desk) -> None:
    desk.press("f")
    hints = desk.state.doing.hints
    assert hints is not None
    first = hints.press("m")
    assert isinstance(first, Hints)
    assert all(len(letters) == 1 for letters in first.remaining().values())
    assert isinstance(first.press("a"), int)
    assert hints.press("1") is None
