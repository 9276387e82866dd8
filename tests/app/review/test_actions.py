"""The registry of actions, jump letters, and other small parts."""

from __future__ import annotations

from collections import Counter

from sciextract_app.shared.actions import ACTIONS, BY_ID, action_of, key_of, use_keys
from sciextract_app.shared.presenters import plain

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
