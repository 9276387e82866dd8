"""Pastes in the stream of a terminal."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual import events
from textual.drivers.headless_driver import HeadlessDriver
from textual.drivers.linux_driver import LinuxDriver

from sciextract_app.driver import BEGIN, END, PasteParser, reading_pastes

HOSTILE = ("\x1b", "\x1b[31m", "x", "D", "u", "\r", "\n", "\x1b[20", "\x1b[200", "\x1b[A", " ", "é")


def parsed(pieces: Iterable[str]) -> list[str]:
    """Keys by name and pastes by text."""
    parser = PasteParser()
    found = [event for piece in pieces for event in parser.feed(piece)]
    return [
        event.text if isinstance(event, events.Paste) else f"key {event.key}"
        for event in found
        if isinstance(event, events.Paste | events.Key)
    ]


def pieces_of(text: str, cuts: Iterable[int]) -> list[str]:
    places = sorted({0, len(text), *(cut for cut in cuts if cut < len(text))})
    return [text[a:b] for a, b in pairwise(places)]


@given(st.lists(st.sampled_from(HOSTILE)).map("".join), st.lists(st.integers(7, 80)))
def test_nothing_in_a_paste_is_a_key(text: str, cuts: list[int]) -> None:
    stream = f"{BEGIN}{text}{END}q"
    assert parsed(pieces_of(stream, cuts)) == [text, "key q"]


@pytest.mark.parametrize("cut", range(3, len(BEGIN) + 1))
def test_the_sign_itself_may_come_in_two_pieces(cut: int) -> None:
    stream = f"{BEGIN}a{END}"
    assert parsed([stream[:cut], stream[cut:]]) == ["a"]


def test_keys_and_pastes_in_turn() -> None:
    stream = f"j\x1b[A{BEGIN}one{END}{BEGIN}two{END}\x1b[20~x"
    assert parsed([stream]) == ["key j", "key up", "one", "two", "key f9", "key x"]


def test_nulls_are_left_out() -> None:
    assert parsed([f"{BEGIN}a\0b{END}"]) == ["ab"]


def test_a_large_paste_is_fast() -> None:
    text = "word " * 2_000_000
    stream = f"{BEGIN}{text}{END}"
    pieces = [stream[at : at + 65536] for at in range(0, len(stream), 65536)]
    assert parsed(pieces) == [text]


def test_only_the_driver_of_terminals_is_replaced() -> None:
    assert reading_pastes(HeadlessDriver) is HeadlessDriver
    assert issubclass(reading_pastes(LinuxDriver), LinuxDriver)
