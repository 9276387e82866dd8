"""Laws of the text layer on any Unicode text."""

from __future__ import annotations

import unicodedata

from hypothesis import given, settings
from hypothesis import strategies as st

from sciextract.documents.annotations import Span
from sciextract.text.analyse import analyse, join_title, split_at
from sciextract.text.characters import visible
from sciextract.text.offsets import UTF8, UTF16, OffsetMap
from sciextract.text.tokenizer import from_token_lists, tokenize, unescape
from tests.tiers import examples

PIECES = st.sampled_from(
    [
        *[
            "We",
            "state-of-the-art",
            "et al.",
            "e.g.",
            "Fig. 2",
            "used.3",
            "n't",
            "'s",
            "[12]",
            "(",
            ")",
        ],
        *[
            "β-catenin",
            "2,4-dinitrophenol",
            "é",
            "e\u0301",
            "🙂",
            "👩\u200d🔬",
            "\u00a0",
            "\r\n",
            "\n\n",
        ],
        *[
            "\x00",
            "\x1b[31m",
            "\u202e",
            "\ufeff",
            "\ud800",
            "https://a.org/b",
            "10.1000/x(1)2",
            "METHODS:",
        ],
        *[
            ".",
            "?",
            "!",
            ",",
            "-",
            "--",
            "'",
            '"',
            "``",
            "''",
            "°C",
            "%",
            "²",
            "漢",
            "  ",
            "\t",
            "+",
            "#",
        ],
    ]
)
TEXTS = st.lists(st.one_of(PIECES, st.just(" "), st.text(max_size=4)), max_size=30).map(
    "".join
) | st.text(st.characters(codec=None), max_size=60)
BLANK_FORMATS = {*map(chr, range(0x2060, 0x2070)), *map(chr, range(0x202A, 0x202F))}
BLANK_FORMATS |= {"\u061c", "\u200b", "\u200e", "\u200f", "\ufeff"}


def is_blank(character: str) -> bool:
    is_control = unicodedata.category(character) == "Cc"
    return character.isspace() or is_control or character in BLANK_FORMATS


@st.composite
def texts_with_spans(draw: st.DrawFn) -> tuple[str, list[Span]]:
    text = draw(TEXTS)
    edges = st.integers(0, len(text))
    pairs = draw(st.lists(st.tuples(edges, edges), max_size=5))
    return text, [Span(min(pair), max(pair)) for pair in pairs]


@given(TEXTS)
@settings(max_examples=examples(300), deadline=None)
def test_every_character_is_in_one_token_unless_it_is_blank(text: str) -> None:
    covered = [index for span in tokenize(text) for index in range(span.char_start, span.char_end)]
    assert covered == [index for index, char in enumerate(text) if not is_blank(char)]


@given(TEXTS)
@settings(max_examples=examples(200), deadline=None)
def test_tables_are_sound(text: str) -> None:
    assert analyse(text).problems(len(text)) == []


@given(texts_with_spans())
@settings(max_examples=examples(150), deadline=None)
def test_protected_spans_lie_in_one_sentence(case: tuple[str, list[Span]]) -> None:
    text, spans = case
    table = analyse(text, spans)
    assert table.problems(len(text)) == []
    for covering in filter(None, map(table.covering, spans)):
        assert any(sentence.contains(covering) for sentence in table.sentences)


@given(texts_with_spans())
@settings(max_examples=examples(150), deadline=None)
def test_after_split_at_no_span_cuts_a_token(case: tuple[str, list[Span]]) -> None:
    text, spans = case
    table = split_at(analyse(text), text, spans)
    assert table.problems(len(text)) == []
    for span in spans:
        cut = [t for t in table.spans if t.overlaps(span) and not span.contains(t)]
        assert cut == []


@given(TEXTS, TEXTS)
@settings(max_examples=examples(100), deadline=None)
def test_a_known_title_is_one_sentence(title: str, abstract: str) -> None:
    text = join_title(title, abstract)
    table = analyse(text, title_length=len(title))
    assert table.problems(len(text)) == []
    title_tokens = sum(span.char_start < len(title) for span in table.spans)
    if title_tokens:
        assert table.sentences[0].token_end == title_tokens


@given(st.lists(st.lists(PIECES | st.sampled_from(["-LRB-", "-RRB-"]), min_size=1), max_size=5))
@settings(max_examples=examples(100), deadline=None)
def test_token_lists_come_back(sentences: list[list[str]]) -> None:
    text, table = from_token_lists(sentences)
    forms = table.strings(text)
    assert [list(forms[s.token_start : s.token_end]) for s in table.sentences] == sentences
    assert list(table.slices(text)) == [unescape(form) for form in forms]


@given(TEXTS)
@settings(max_examples=examples(150), deadline=None)
def test_offsets_agree_with_the_codecs(text: str) -> None:
    offsets = OffsetMap(text)
    for index in range(len(text) + 1):
        units = sum(1 + (char > "\uffff") for char in text[:index])
        size = len(text[:index].encode("utf-8", "surrogatepass"))
        assert offsets.from_unit(UTF16, units) == offsets.from_unit(UTF8, size) == index


@given(TEXTS)
@settings(max_examples=examples(150), deadline=None)
def test_visible_text_has_the_same_length_and_no_controls(text: str) -> None:
    shown = visible(text)
    assert len(shown) == len(text)
    assert not any(unicodedata.category(char) in ("Cc", "Cs", "Zl", "Zp") for char in shown)
    assert visible(shown) == shown
