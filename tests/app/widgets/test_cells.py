"""Glyphs: every character once, widths as the terminal measures them."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from rich.cells import cell_len

from sciextract_app.widgets.cells import fit, glyphs, padded
from sciextract_app.widgets.wrapping import raised_clusters, raised_key
from tests.app.widgets.passages import hostile_texts


@pytest.mark.parametrize(
    ("text", "shown", "cells"),
    [
        ("e\u0301", ["e\u0301"], [1]),
        ("中", ["中"], [2]),
        ("👩\u200d🔬", ["👩\u200d🔬"], [2]),
        ("👍🏽", ["👍🏽"], [2]),
        ("a\u200db", ["a", "b"], [1, 1]),
        ("\u0301a", ["◌\u0301", "a"], [1, 1]),
        ("\u200d", ["◌"], [1]),
        ("\t\x1b\x00", ["␉", "␛", "␀"], [1, 1, 1]),
        ("a\r\nb", ["a", "", "b"], [1, 0, 1]),
        ("\r", ["␍"], [1]),
        ("\n\u0301", ["", "◌\u0301"], [0, 1]),
        ("\u202eab", ["␦", "a", "b"], [1, 1, 1]),
        ("\ud83d", ["\ufffd"], [1]),
    ],
)
def test_glyphs_of(text: str, shown: list[str], cells: list[int]) -> None:
    found = glyphs(text)
    assert [glyph.shown for glyph in found] == shown
    assert [glyph.cells for glyph in found] == cells


@given(hostile_texts())
def test_every_character_is_in_one_glyph(text: str) -> None:
    edges = [0, *(glyph.char_end for glyph in glyphs(text))]
    assert edges[:-1] == [glyph.char_start for glyph in glyphs(text)]
    assert edges[-1] == len(text)


@given(hostile_texts())
def test_widths_add_up(text: str) -> None:
    found = glyphs(text)
    together = "".join(glyph.shown for glyph in found)
    assert cell_len(together) == sum(glyph.cells for glyph in found)
    assert together.isprintable() or not together.isascii()
    assert not any(character < " " for character in together)


@given(hostile_texts(), st.integers(0, 30))
@example("👍🏽graph", 2)  # as many cells as characters, two of them in the first
def test_fit_never_exceeds_the_width(text: str, width: int) -> None:
    assert cell_len(fit(text, width)) <= width
    assert cell_len(padded(text, width)) == width


def test_every_letter_behind_a_mention_takes_one_cell() -> None:
    letters = "abcdefghijklmnopqrstuvwxyz"
    assert all(
        cell_len(raised_key(letter)) == cell_len(raised_clusters(letter)) == 1 for letter in letters
    )
    assert raised_key("\x1b") == "␛"
