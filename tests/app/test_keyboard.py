"""Keys, pastes and other reports in the stream of a terminal."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual import events
from textual.drivers.headless_driver import HeadlessDriver
from textual.drivers.linux_driver import LinuxDriver

from sciextract_app.keyboard import BEGIN, END, Burst, KeyboardParser
from sciextract_app.terminal import lasting_driver

HOSTILE = ("\x1b", "\x1b[31m", "x", "D", "u", "\r", "\n", "\x1b[20", "\x1b[200", "\x1b[A", " ", "é")


def parsed(pieces: Iterable[str]) -> list[str]:
    """Keys by name and pastes by text."""
    parser = KeyboardParser()
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
    assert [[pressed.replace("e_acute", "é") for pressed in keys] for keys in found] == [
        wanted,
        wanted,
    ]


def test_sequences_stay_whole_wherever_they_are_cut() -> None:
    for cut in range(1, len("\x1b[1;5C")):
        assert parsed(["\x1b[1;5C"[:cut], "\x1b[1;5C"[cut:]]) == ["key ctrl+right"]


def test_escape_alone_is_told_after_a_moment(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr("sciextract_app.keyboard.time.monotonic", lambda: now[0])
    parser = KeyboardParser()
    assert list(parser.feed("\x1b")) == []
    assert [event for event in parser.tick() if isinstance(event, events.Key)] == []
    now[0] = 0.2
    assert [event.key for event in parser.tick() if isinstance(event, events.Key)] == ["escape"]


@pytest.mark.parametrize(
    "report",
    [
        "\x1b[<32;NaN;NaNM",  # VS Code, textual#6573
        "\x1b[<0;-Infinity;undefinedm",
        "\x1b[1095::120u",  # the keyboard protocol of kitty, with the key of another layout
        "\x1b[97;1:3u",
        "\x1b[99999999u",
        "\x1b[99999999999999999999999u",
        "\x1b[55296u",  # half a character, which no terminal can write
        "\x1b[97;;1114112u",
        "\x1b]11;rgb:ffff/ffff/ffff\x1b\\",
        "\x1bP>|tmux 3.3a\x1b\\",
        "\x1b[?62;4;6;22cx"[:-1],
        "\x1b[>1;4000;" + "9" * 40 + "c",
    ],
)
def test_what_is_no_key_is_none_and_keys_around_it_are(report: str) -> None:
    assert parsed([f"j{report}k"]) == ["key j", "key k"]
    for cut in range(2, len(report)):
        assert parsed([f"j{report[:cut]}", f"{report[cut:]}k"]) == ["key j", "key k"], cut


def test_a_report_that_is_cut_short_is_no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr("sciextract_app.keyboard.time.monotonic", lambda: now[0])
    parser = KeyboardParser()
    assert list(parser.feed("\x1b[<32;Na")) == []
    now[0] = 0.2
    assert [event.key for event in parser.tick() if isinstance(event, events.Key)] == []
    assert [event.key for event in parser.feed("x") if isinstance(event, events.Key)] == ["x"]


@given(st.text(st.characters(max_codepoint=0x2FF, exclude_categories=["Cs"]), max_size=60))
def test_no_input_ends_the_reader(text: str) -> None:
    parsed([f"\x1b[{text}", "j"])


@pytest.mark.parametrize("text", ["Deep Dialogue", "tagger", "10.1000/xyz\rD", "xs\x1b[13u\rDuA1"])
def test_characters_that_come_all_at_once_are_no_keys(text: str) -> None:
    found = list(KeyboardParser().feed(text))
    assert [type(event) for event in found] == [Burst]


def test_the_end_of_a_burst_belongs_to_it_and_keys_after_a_moment_do_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = [0.0]
    monkeypatch.setattr("sciextract_app.keyboard.time.monotonic", lambda: now[0])
    parser = KeyboardParser()
    for piece in ("Deep Dialogue Dyna", "mi", "cs\r"):
        now[0] += 0.05
        assert [type(event) for event in parser.feed(piece)] == [Burst]
    now[0] += 0.5
    assert [event.key for event in parser.feed("x") if isinstance(event, events.Key)] == ["x"]


@pytest.mark.parametrize("typed", ["jjx1a", "ra1\rx", "j" * 400, "\x1b[A" * 50, "xxxxxxxxDuuuuuuu"])
def test_what_fingers_type_while_a_line_stands_still_are_keys(typed: str) -> None:
    keys = [event for event in KeyboardParser().feed(typed) if isinstance(event, events.Key)]
    assert len(keys) == len(typed.replace("\x1b[A", "A"))


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
