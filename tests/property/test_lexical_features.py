"""Lexical features of mention pairs: finite and right for whatever mentions there are."""

from __future__ import annotations

import itertools

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sciextract.documents.annotations import TokenRange
from sciextract.inference.candidates import antecedent_pairs, sentence_ends
from sciextract.inference.lexical import FEATURES, MentionWords
from sciextract.inference.network import Floats, Ints

COLUMNS = {name: column for column, name in enumerate(FEATURES)}
SHARES = {"overlap", "sentences between", "length difference"}

WORDS = st.one_of(
    st.sampled_from(["the", "parser", "parsers", "CRF", "(", ")", ",", "is", "ＨＭＭ", "解析器", "модель", "e\u0301"]),
    st.text(min_size=1, max_size=6),
)  # fmt: skip


def features_of(text: str, *spans: tuple[int, int], sentences: tuple[int, ...] = ()) -> Floats:
    """The features of the link from the last mention to the first one of some words."""
    words = text.split()
    bounds = (0, *sentences, len(words))
    ranges = tuple(TokenRange(a, b) for a, b in itertools.pairwise(bounds))
    found = MentionWords.of(words, np.array(spans), sentence_ends(ranges, len(words)))
    [features] = found.features(np.array([[len(spans) - 1, 0]]))
    return np.asarray(features, dtype=np.float32)


def true_of(text: str, *spans: tuple[int, int], sentences: tuple[int, ...] = ()) -> set[str]:
    """Names of the features that are 1."""
    values = features_of(text, *spans, sentences=sentences)
    return {name for name, column in COLUMNS.items() if values[column] == 1}


@st.composite
def mentions(draw: st.DrawFn) -> tuple[list[str], Ints, Ints]:
    """Words, spans in text order (some without words) and sentence ends."""
    words = draw(st.lists(WORDS, max_size=30))
    places = st.tuples(st.integers(0, len(words)), st.integers(-1, 8))
    spans = sorted(
        {(a, min(a + n, len(words) - 1)) for a, n in draw(st.lists(places, max_size=12))}
    )
    cut = draw(st.integers(0, len(words)))
    ends = sentence_ends((TokenRange(0, cut), TokenRange(cut, len(words))), len(words))
    return words, np.array(spans, dtype=np.int64).reshape(-1, 2), ends


@given(mentions())
def test_features_are_finite_bounded_and_do_not_depend_on_the_other_links(
    given_mentions: tuple[list[str], Ints, Ints],
) -> None:
    words, spans, ends = given_mentions
    links = antecedent_pairs(len(spans), 100)
    found = MentionWords.of(words, spans, ends)
    values = found.features(links)
    assert values.shape == (len(links), len(FEATURES)) and values.dtype == np.float32
    assert np.isfinite(values).all() and (np.abs(values) <= 1).all()
    flags = [column for name, column in COLUMNS.items() if name not in SHARES]
    assert np.isin(values[:, flags], (0, 1)).all()
    assert np.array_equal(found.features(links[::-1]), values[::-1])


@given(mentions())
def test_shared_words_are_those_of_sets_of_words(
    given_mentions: tuple[list[str], Ints, Ints],
) -> None:
    words, spans, ends = given_mentions
    links = antecedent_pairs(len(spans), 100)
    values = MentionWords.of(words, spans, ends).features(links)
    texts = [words[first : last + 1] for first, last in spans.tolist()]
    for (late, early), row in zip(links.tolist(), values, strict=True):
        if texts[late] == texts[early]:
            assert row[COLUMNS["same string"]] == (len(texts[late]) > 0)
        if not texts[late] or not texts[early]:
            assert not row[:18].any()  # nothing equals nothing


def test_words_are_compared_without_case_plural_determiner_and_width() -> None:
    same = {
        "same stems",
        "same without determiner",
        "same last word",
        "same head",
        "same first word",
    }
    assert same | {"same string"} <= true_of("HMM is ＨＭＭ", (0, 0), (2, 2))
    found = true_of("parser . The parsers", (0, 0), (2, 3))
    assert same - {"same stems"} | {"number differs", "mention plural", "mention definite"} <= found
    assert "same string" not in found
    assert true_of("解析器 和 解析器", (0, 0), (2, 2)) >= same | {"same string"}


def test_heads_come_before_prepositions() -> None:
    assert "same head" in true_of("analysis of text . the analysis", (0, 2), (4, 5))
    assert "same head" not in true_of("analysis of text . the text", (0, 2), (4, 5))
    assert "same last word" in true_of("analysis of text . the text", (0, 2), (4, 5))


def test_acronyms_are_initials() -> None:
    found = true_of("hidden Markov models ( HMMs ) work", (0, 2), (4, 4))
    assert {"acronym", "acronym inside", "acronym in parentheses", "parenthesis"} <= found
    assert "acronym" in true_of("finite-state transducer and FST", (0, 1), (3, 3))
    assert "acronym" in true_of("part of speech and POS", (0, 2), (4, 4))
    inside = true_of("random field and RF parser", (0, 1), (3, 4))
    assert "acronym inside" in inside and "acronym" not in inside
    assert not {"acronym", "acronym inside"} & true_of("( ) and , ;", (0, 1), (3, 4))


def test_modifiers_and_numbers_contradict() -> None:
    found = true_of("the neural parser and the symbolic parser", (0, 2), (4, 6))
    assert {"same head", "modifiers contradict", "shared word"} <= found
    assert "modifiers contradict" not in true_of("neural parser and parser", (0, 1), (3, 3))
    assert "mention contained" in true_of("neural parser and parser", (0, 1), (3, 3))
    assert "numbers contradict" in true_of("task 1 and task 2", (0, 1), (3, 4))
    assert "numbers contradict" not in true_of("task 1 and task 1", (0, 1), (3, 4))


def test_the_nearest_mention_with_the_head_has_no_other_one_between() -> None:
    text = "parser , parser , grammar , parser"
    assert "nearest same head" not in true_of(text, (0, 0), (2, 2), (4, 4), (6, 6))
    assert "nearest same head" in true_of(text, (0, 0), (4, 4), (6, 6))
    nested = "big tree parser beats that parser"
    assert "nearest same head" in true_of(nested, (0, 2), (1, 2), (5, 5))


def test_what_stands_between_and_around() -> None:
    assert "apposition" in true_of("Bison , a parser", (0, 0), (3, 3))
    assert "apposition" not in true_of("Bison beats parser", (0, 0), (2, 2))
    assert "copula" in true_of("Bison is a parser", (0, 0), (3, 3))
    assert "copula" not in true_of("Bison parses a parser", (0, 0), (3, 3))
    found = true_of("a parser . this parser", (1, 1), (4, 4), sentences=(3,))
    assert {"antecedent indefinite", "mention demonstrative", "mention definite"} <= found
    assert "antecedent in first sentence" in found and "same sentence" not in found


def test_thousands_of_mentions_and_very_long_ones() -> None:
    words = [f"word{row % 3000}" for row in range(6000)]
    spans = np.array([(row, row) for row in range(6000)] + [(0, 5999)])
    spans = spans[np.lexsort((spans[:, 1], spans[:, 0]))]
    found = MentionWords.of(words, spans, np.full(6000, 6000))
    links = np.array([(late, late - 1) for late in range(1, 6001)] + [(3001, 0)])
    values = found.features(links)
    assert np.isfinite(values).all()
    assert values[-1, COLUMNS["same string"]] == 1
    assert values[0, COLUMNS["shared word"]] == 1  # the first word is in the whole text
