from __future__ import annotations

from sciextract.documents.annotations import Span, TokenRange
from sciextract.documents.document import TokenTable
from sciextract.text.analyse import analyse, join_title, make_document, split_at
from sciextract.text.tokenizer import from_token_lists


def sentences_of(text: str, table: TokenTable) -> list[str]:
    return [table.char_span(sentence).of(text) for sentence in table.sentences]


def span_of(text: str, part: str) -> Span:
    start = text.index(part)
    return Span(start, start + len(part))


def test_a_protected_span_joins_its_sentences() -> None:
    text = "It rose. We like Ph. Eur. Tests of it. It ended."
    free = analyse(text)
    held = analyse(text, [span_of(text, "Ph. Eur. Tests")])
    assert sentences_of(text, held) == ["It rose.", "We like Ph. Eur. Tests of it.", "It ended."]
    assert len(free.sentences) > len(held.sentences)
    assert held.spans == free.spans


def test_a_protected_span_over_three_sentences() -> None:
    text = "One is. Two is. Three is. Four is."
    held = analyse(text, [span_of(text, "One is. Two is. Three")])
    assert sentences_of(text, held) == ["One is. Two is. Three is.", "Four is."]


def test_a_protected_span_without_tokens_changes_nothing() -> None:
    text = "One is.  Two is."
    assert analyse(text, [Span(7, 9), Span(3, 3)]) == analyse(text)


def test_the_title_is_a_sentence_of_its_own() -> None:
    title, abstract = "Is it deep? No. A study", "we looked.\nthe lines\nare wrapped."
    text = join_title(title, abstract)
    table = analyse(text, title_length=len(title))
    assert sentences_of(text, table)[0] == title


def test_a_title_alone() -> None:
    text = join_title("Is it deep? A study", "")
    assert sentences_of(text, analyse(text, title_length=len(text))) == [text]


def test_join_title_with_an_empty_part() -> None:
    assert join_title("", "abstract") == "abstract"
    assert join_title("title", "") == "title"
    assert join_title("", "") == ""


def test_make_document() -> None:
    document = make_document("d1", "We rest. They work.", {"year": 2020})
    assert (document.doc_key, document.fields["year"]) == ("d1", 2020)
    assert len(document.tokens.sentences) == 2
    assert make_document("d2", "").tokens == TokenTable((), ())


def test_split_at_cuts_tokens_at_both_edges() -> None:
    text = "anti-p53-mediated death"
    table = split_at(analyse(text), text, [span_of(text, "p53"), span_of(text, "53")])
    assert table.slices(text) == ("anti-", "p", "53", "-mediated", "death")
    assert table.sentences == (TokenRange(0, 5),)


def test_split_at_merges_the_sentences_that_a_span_crosses() -> None:
    text = "One is. Two is. Three is."
    table = split_at(analyse(text), text, [span_of(text, "is. Tw")])
    assert sentences_of(text, table) == ["One is. Two is.", "Three is."]


def test_split_at_keeps_the_forms_of_whole_tokens() -> None:
    text, table = from_token_lists([["-LRB-", "p53-null", "-RRB-"], ["End"]])
    parts = split_at(table, text, [span_of(text, "p53")])
    assert parts.strings(text) == ("-LRB-", "p53", "-null", "-RRB-", "End")


def test_split_at_without_inner_edges_gives_an_equal_table() -> None:
    text = "One is. Two is."
    table = analyse(text)
    assert split_at(table, text, [span_of(text, "One"), Span(3, 4), Span(0, 0)]) == table
