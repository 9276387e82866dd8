"""The registry of actions, jump letters, and other small parts."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sciextract_app.review.key_dispatch import ALONG, HANDLERS
from sciextract_app.review.state import Hints, assign_hints, letters_for, nearest_first
from sciextract_app.shared.actions import ACTIONS, BY_ID, keymap, plain

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
    assert keymap()["U"] is keymap()["ctrl+r"]


def test_every_action_is_handled() -> None:
    handled = {*HANDLERS, *ALONG}
    assert {action.id for action in ACTIONS if not action.request} == handled


def test_names_of_keys() -> None:
    named = ("semicolon", "full_stop", "ampersand", "slash", "upper_s", "x", "delete")
    assert [plain(name) for name in named] == [";", ".", "&", "/", "S", "x", "backspace"]


def test_changed_keys_win() -> None:
    changed = keymap({"flag": "x"})
    assert changed["x"].id == "flag"
    assert "F" not in changed
    assert changed["backspace"].id == "reject"


@given(st.integers(0, 3000))
def test_hints_are_short_and_none_begins_another(count: int) -> None:
    hints = letters_for(count)
    assert len(hints) == min(count, 52 * 52) == len(set(hints))
    assert all(len(hint) <= 2 for hint in hints)
    singles = {hint for hint in hints if len(hint) == 1}
    assert not any(hint[0] in singles for hint in hints if len(hint) == 2)
    assert [len(hint) for hint in hints] == sorted(len(hint) for hint in hints)


@pytest.mark.parametrize(("count", "singles"), [(26, 26), (27, 25), (200, 19), (676, 0)])
def test_as_many_single_letters_as_possible(count: int, singles: int) -> None:
    assert sum(len(hint) == 1 for hint in letters_for(count)) == singles


def test_two_letters_are_typed_one_after_the_other() -> None:
    hints = assign_hints((place, place) for place in range(60))
    first = hints.press("m")
    assert isinstance(first, Hints)
    assert all(len(letters) == 1 for letters in first.remaining().values())
    assert isinstance(first.press("a"), int)
    assert hints.press("1") is None


def test_hints_never_cover_each_other() -> None:
    hints = assign_hints([("a", 3), ("b", 3), ("c", 4)])
    assert sorted(hints.remaining()) == [3, 4, 5]


def test_punctuation_comes_last() -> None:
    assert nearest_first(["a", ",", "b", "c"], 0) == [2, 3, 1]
