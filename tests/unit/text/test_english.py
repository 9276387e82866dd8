from __future__ import annotations

import pytest

from sciextract.text.english import looks_english

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
