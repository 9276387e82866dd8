"""Token tables from tokens and sentences that a file gives, in part or not at all."""

from __future__ import annotations

import pytest

from sciextract.documents.annotations import Span, TokenRange
from sciextract.formats.alignment import are_sound, token_table

TEXT = "One two. Three four. Five."


def test_given_tokens_and_sentences_stay() -> None:
    tokens = [Span(0, 3), Span(4, 8), Span(9, 14), Span(15, 20), Span(21, 26)]
    table = token_table(TEXT, tokens, [Span(0, 14), Span(15, 20)])
    assert table.spans == tuple(tokens)
    assert table.sentences == (TokenRange(0, 3), TokenRange(3, 4), TokenRange(4, 5))


def test_given_sentences_cut_derived_tokens() -> None:
    table = token_table(TEXT, [], [Span(0, 11), Span(11, 26)])
    assert table.problems(len(TEXT)) == []
    assert table.slices(TEXT)[3:5] == ("Th", "ree")
    assert [len(sentence) for sentence in table.sentences] == [4, 5]


def test_derived_sentences_for_given_tokens_never_cut_a_protected_span() -> None:
    tokens = [Span(0, 3), Span(4, 8), Span(9, 14), Span(15, 20), Span(21, 26)]
    assert len(token_table(TEXT, tokens, []).sentences) == 3
    assert len(token_table(TEXT, tokens, [], [Span(4, 14)]).sentences) == 2


@pytest.mark.parametrize("text", ["", " \n "])
def test_a_text_without_tokens(text: str) -> None:
    table = token_table(text, [], [Span(0, len(text))])
    assert (table.spans, table.sentences) == ((), ())


def test_sound_tokens() -> None:
    assert are_sound([]) and are_sound([Span(0, 2), Span(2, 3)])
    assert not are_sound([Span(0, 0)]) and not are_sound([Span(0, 2), Span(1, 3)])
