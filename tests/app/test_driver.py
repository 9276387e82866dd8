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

from sciextract_app.terminal import BEGIN, END, PasteParser, lasting_driver

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


@pytest.mark.parametrize(
    ("typed", "key"),
    [
        ("d", "d"),
        ("1", "1"),
        (";", "semicolon"),
        ("\r", "enter"),
        ("\t", "tab"),
        ("\x7f", "backspace"),
        ("é", "é"),
    ],
)
def test_escape_and_a_quick_key_are_both_there(typed: str, key: str) -> None:
    wanted = ["key escape", f"key {key}"]
    found = [parsed([f"\x1b{typed}"]), parsed(["\x1b", typed])]
    assert [[each.replace("e_acute", "é") for each in keys] for keys in found] == [wanted, wanted]


def test_sequences_stay_whole_wherever_they_are_cut() -> None:
    for cut in range(1, len("\x1b[1;5C")):
        assert parsed(["\x1b[1;5C"[:cut], "\x1b[1;5C"[cut:]]) == ["key ctrl+right"]


def test_escape_alone_is_told_after_a_moment(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr("sciextract_app.terminal.time.monotonic", lambda: now[0])
    parser = PasteParser()
    assert list(parser.feed("\x1b")) == []
    assert [event for event in parser.tick() if isinstance(event, events.Key)] == []
    now[0] = 0.2
    assert [event.key for event in parser.tick() if isinstance(event, events.Key)] == ["escape"]


def test_nulls_are_left_out() -> None:
    assert parsed([f"{BEGIN}a\0b{END}"]) == ["ab"]


def test_a_large_paste_is_fast() -> None:
    text = "word " * 2_000_000
    stream = f"{BEGIN}{text}{END}"
    pieces = [stream[at : at + 65536] for at in range(0, len(stream), 65536)]
    assert parsed(pieces) == [text]


def test_only_the_driver_of_terminals_is_replaced() -> None:
    assert lasting_driver(HeadlessDriver) is HeadlessDriver
    assert issubclass(lasting_driver(LinuxDriver), LinuxDriver)
