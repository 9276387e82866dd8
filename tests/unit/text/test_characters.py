"""Offsets of other units, visible text, and the guess at the language."""

from __future__ import annotations

import pytest

from sciextract.errors import FormatError
from sciextract.text.characters import visible
from sciextract.text.english import looks_english
from sciextract.text.offsets import CODE_POINTS, UTF8, UTF16, OffsetMap


@pytest.mark.parametrize("text", ["abc", "aβc", "a🙂c"])
def test_offsets_outside_the_text_are_refused(text: str) -> None:
    offsets = OffsetMap(text)
    for unit in (CODE_POINTS, UTF16, UTF8):
        for offset in (-1, 10):
            with pytest.raises(FormatError, match=f"{offset} lies outside the text"):
                offsets.from_unit(unit, offset)


def test_offsets_inside_a_character_are_refused() -> None:
    offsets = OffsetMap("a🙂")
    with pytest.raises(FormatError, match="middle of character 1") as caught:
        offsets.from_unit(UTF16, 2)
    assert "unit" in caught.value.hint
    with pytest.raises(FormatError, match="middle of character 1"):
        offsets.from_unit(UTF8, 3)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain β 🙂 [12]", "plain β 🙂 [12]"),
        ("\x1b[31mred\x07", "␛[31mred␇"),
        ("a\r\n\tb\x00\x7f", "a␍␊␉b␀␡"),
        ("\x9b31m\u202eabc\u2066\u200b", "␦31m␦abc␦␦"),
        ("\ud800x\udfff", "\ufffdx\ufffd"),
        ("soft\u00adhyphen 👩\u200d🔬", "soft\u00adhyphen 👩\u200d🔬"),
    ],
)
def test_visible(text: str, expected: str) -> None:
    assert visible(text) == expected


def test_visible_keeps_line_ends_on_request() -> None:
    assert visible("a\n\x1bb", keep="\n") == "a\n␛b"


ENGLISH = (
    "We study the growth of crystals in steel and show that the rate depends on the temperature. "
    * 2
)
GERMAN = (
    "Wir untersuchen das Wachstum von Kristallen in Stahl und zeigen, dass die Rate steigt. " * 2
)
DUTCH = "In dit artikel laten we zien dat de kristallen in het staal groeien als het warm is. " * 2
FRENCH = (
    "Nous avons étudié les effets de la température sur la structure des aciers inoxydables. " * 3
)
SPANISH = (
    "Estudiamos los efectos de la temperatura en la estructura del acero con tres muestras. " * 3
)


@pytest.mark.parametrize("text", [ENGLISH, "", "12 + 13", "Kristalle in Stahl", ENGLISH.lower()])
def test_english_or_too_short_to_say(text: str) -> None:
    assert looks_english(text)


@pytest.mark.parametrize(
    "text", [GERMAN, DUTCH, FRENCH, SPANISH, "晶体生长" * 20, "рост стали " * 9]
)
def test_other_languages(text: str) -> None:
    assert not looks_english(text)
