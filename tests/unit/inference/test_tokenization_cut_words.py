"""Words cut at punctuation: names inside compounds can be found, texts and sentences stay as they are."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from sciextract.inference.tokenization import with_cut_words
from sciextract.text.analyse import make_document

TEXTS = st.text(alphabet=st.sampled_from("aZ2-/.,() ά_\u200dµ😀\n"), max_size=60)


@given(TEXTS)
def test_cut_words_are_a_sound_table_of_the_same_text(text: str) -> None:
    document = make_document("1", text)
    cut = with_cut_words(document)
    assert cut.text == document.text
    assert cut.tokens.problems(len(text)) == []
    whole = "".join(document.tokens.slices(text))
    assert "".join(cut.tokens.slices(text)) == whole
    assert len(cut.tokens.sentences) == len(document.tokens.sentences)


@given(TEXTS)
def test_cutting_twice_changes_nothing(text: str) -> None:
    once = with_cut_words(make_document("1", text))
    assert with_cut_words(once).tokens == once.tokens


def test_plain_words_stay_the_same_object() -> None:
    document = make_document("1", "Two plain words here.")
    assert with_cut_words(document) is document
