from __future__ import annotations

import pytest

from sciextract.errors import FormatError
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
