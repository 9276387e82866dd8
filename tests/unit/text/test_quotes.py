"""Quotes are found where they were taken from, in the spelling of a language model, and nowhere else."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from sciextract.text.analyse import make_document
from sciextract.text.quotes import Fit, QuoteFinder, fold
from tests.tiers import examples

TEXT = (
    "Shape\u2013memory alloys bend. A “shape memory” alloy (NITI) and IT departments forget. "
    "T cells ignore CD8+ T cells.  Fatigue of the dataset\nis measured; hypergraphs are not."
)
_WORDS = st.sampled_from(["alloy", "graph", "CNN", "don't", "x86", "β-phase", "n-gram", "STRASSE"])
_SIGNS = st.sampled_from([" ", ", ", " (", ") ", "-", ' "', '" ', ". "])


def finder(text: str) -> QuoteFinder:
    tokens = make_document("a", text).tokens
    return QuoteFinder(text, [tokens.char_span(sentence) for sentence in tokens.sentences])


def found(quote: str, text: str = TEXT) -> list[tuple[str, str]]:
    return [(span.of(text), fit.value) for span, fit in finder(text).find(quote)]


def test_spelling_may_differ_and_words_may_not() -> None:
    for quote, expected in {
        "shape-memory alloys": [("Shape\u2013memory alloys", "normalised")],
        '"shape  memory" alloy': [("“shape memory” alloy", "normalised")],
        "the dataset is": [("the dataset\nis", "normalised")],
        "CD8+ T cells": [("CD8+ T cells", "exact")],
        "shape memry alloy": [("Shape\u2013memory alloys", "edited")],
        "Fatigue of the data-set": [("Fatigue of the dataset", "edited")],
        "fatigues of the dataset": [("Fatigue of the dataset", "edited")],
        "alloy (NITI).": [("alloy (NITI)", "edited")],
        "alloi (NITI)": [("alloy (NITI)", "edited")],
        "departements": [("departments", "edited")],
        # A letter of a name is another thing, and so is a part of a word, or another sentence.
        "B cells": [],
        "CD4+ T cells": [],
        "it": [],
        "graphs": [],
        "bends. A": [],
        "fatigue of that dataset": [],
        "": [],
        "x" * 1_000_000: [],
    }.items():
        assert found(quote) == expected, quote[:50]
    assert [text for text, _ in found("t cells")] == ["T cells", "T cells"]


def test_compatibility_forms_are_equal_and_ideographs_are_words() -> None:
    text = "患者服用头孢。\ufb01ne\u2011tuned CO2 in E\u0301tudes, XX\u2122 and xBase\u00b2 fell."
    for quote, expected in {
        "fine-tuned": "\ufb01ne\u2011tuned",
        "CO\u2082": "CO2",
        "\u00c9tudes": "E\u0301tudes",
        "头孢": "头孢",
        "XX": "XX",
        "xBase2": "xBase\u00b2",
    }.items():
        assert [span for span, _ in found(quote, text)] == [expected]
    assert finder(text).cuts_words("tude") and not finder(text).cuts_words("nowhere")


@settings(max_examples=examples(200))
@given(st.lists(st.tuples(_WORDS, _SIGNS), min_size=1, max_size=12), st.data())
def test_a_quote_in_another_spelling_is_found_at_its_place(
    parts: list[tuple[str, str]], data: st.DataObject
) -> None:
    text = "".join(word + sign for word, sign in parts)
    first = data.draw(st.integers(0, len(parts) - 1))
    last = data.draw(st.integers(first, len(parts) - 1))
    start = sum(len(word + sign) for word, sign in parts[:first])
    quote = "".join(word + sign for word, sign in parts[first:last]) + parts[last][0]
    changed = "".join(
        data.draw(st.sampled_from(_VARIANTS.get(character, [character]))) for character in quote
    )
    places = finder(text).find(changed)
    assert (start, start + len(quote)) in [(s.char_start, s.char_end) for s, _ in places]
    for span, fit in places:
        assert fit is not Fit.EDITED
        assert fold(span.of(text)).text.lower() == fold(changed).text.lower()


_VARIANTS = {
    " ": [" ", "  ", "\u00a0", "\n", " \u200b"],
    "-": ["-", "\u2010", "\u2013", "\u2212", " - "],
    "'": ["'", "\u2019", "`"],
    '"': ['"', "“", "''", "'"],
}
