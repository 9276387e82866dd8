from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from sciextract_app.review.keys.desk import Desk
from sciextract_app.review.model.hints import Hints, JumpLetters


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
