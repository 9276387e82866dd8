"""The thirty hand-marked abstracts: every sentence, and at least 99 % of the tokens."""

from __future__ import annotations

import pytest

from sciextract.text.analyse import analyse
from tests.unit.text.marked import Marked, read_marked

ABSTRACTS = read_marked()


def test_there_are_thirty() -> None:
    assert len(ABSTRACTS) == 30
    assert all(item.tokens and len(item.sentences) > 1 for item in ABSTRACTS)


@pytest.mark.parametrize("item", ABSTRACTS, ids=lambda item: item.name)
def test_sentences(item: Marked) -> None:
    table = analyse(item.text)
    spans = [table.char_span(sentence) for sentence in table.sentences]
    expected = [item.text[start:end] for start, end in item.sentences]
    assert [span.of(item.text) for span in spans] == expected


def test_tokens() -> None:
    common = total = 0
    for item in ABSTRACTS:
        found = {(span.char_start, span.char_end) for span in analyse(item.text).spans}
        common += 2 * len(found & set(item.tokens))
        total += len(found) + len(item.tokens)
    assert common / total >= 0.99
