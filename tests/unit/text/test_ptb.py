from __future__ import annotations

import json

import pytest

from sciextract.text.tokenizer import from_token_lists, unescape
from tests.shared_data import shared_path


@pytest.mark.parametrize(
    ("form", "expected"),
    [
        *[("-LRB-", "("), ("-RRB-", ")"), ("-LSB-", "["), ("-RSB-", "]"), ("-LCB-", "{")],
        *[("-RCB-", "}"), ("``", '"'), ("''", '"'), ("-lrb-", "("), (";-RRB-", ";)")],
        *[("5''-end", "5''-end"), (r"and\/or", "and/or"), ("'", "'"), ("`", "`"), ("(", "(")],
    ],
)
def test_unescape(form: str, expected: str) -> None:
    assert unescape(form) == expected


def test_text_spans_sentences_and_forms() -> None:
    text, table = from_token_lists([["We", "-LRB-", "two", "-RRB-"], ["Rest", "."]])
    assert text == "We ( two ) Rest ."
    assert table.slices(text) == ("We", "(", "two", ")", "Rest", ".")
    assert table.strings(text) == ("We", "-LRB-", "two", "-RRB-", "Rest", ".")
    assert [len(sentence) for sentence in table.sentences] == [4, 2]
    assert table.problems(len(text)) == []


def test_forms_are_kept_only_when_they_differ() -> None:
    _, table = from_token_lists([["We", "rest", "."]])
    assert table.forms is None


def test_no_sentences_make_an_empty_text() -> None:
    text, table = from_token_lists([])
    assert (text, len(table), table.sentences) == ("", 0, ())


def test_sentences_without_tokens_are_left_out() -> None:
    text, table = from_token_lists([["a"], [], ["b"]])
    assert text == "a b" and table.problems(len(text)) == []
    assert [len(sentence) for sentence in table.sentences] == [1, 1]


def test_scierc_comes_back_as_it_was() -> None:
    for line in shared_path("scierc/dev.jsonl").read_text(encoding="utf-8").splitlines():
        sentences = json.loads(line)["sentences"]
        text, table = from_token_lists(sentences)
        forms = table.strings(text)
        assert [list(forms[s.token_start : s.token_end]) for s in table.sentences] == sentences
