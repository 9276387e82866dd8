from __future__ import annotations

import pytest

from sciextract.text.characters import visible


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
