from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sciextract.graph.normalisation import MergeRule, normal_form
from sciextract.text.english import singular
from tests.strategies import PIECES

SURFACES = st.lists(st.sampled_from(PIECES) | st.text(max_size=6), max_size=6).map("".join)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("support vector machine", "the Support-Vector Machines"),
        ("data set", "Datasets"),
        ("GPT-2", "GPT2"),
        ("ResNet-50", "resnet50"),
        ("encoder/decoder", "encoder-decoders"),
        ("pre-training", "pretraining"),
        ("LSTM", "LSTMs"),
        ("analysis", "analyses"),
        ("'k-means'", "k-means"),
        ("neural network", "NEURAL NETWORKS"),
        ("n\u2010gram", "n-gram"),
        ("soft\u00adhyphen", "softhyphen"),
        ("ﬁlter", "filter"),
    ],
)
def test_one_name(one: str, other: str) -> None:
    assert normal_form(one).folded == normal_form(other).folded


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("C", "C++"),
        ("A", "A*"),
        ("top 1 0", "top 10"),
        ("version 1.0", "version 10"),
        ("CAR", "car"),
        ("AIDS", "aid"),
        ("bias", "biased"),
    ],
)
def test_two_names(one: str, other: str) -> None:
    assert normal_form(one).key != normal_form(other).key


@pytest.mark.parametrize("surface", ["this", "the", "it", "They", "", "  ", "...", "(", "our"])
def test_what_names_nothing(surface: str) -> None:
    assert normal_form(surface).key == ""


@pytest.mark.parametrize("surface", ["IT", "US", "the US", "A"])
def test_names_that_look_like_words(surface: str) -> None:
    assert normal_form(surface).key


@pytest.mark.parametrize(
    ("surface", "rules"),
    [
        ("parser", MergeRule.NONE),
        ("the parser", MergeRule.DETERMINER),
        ("Parser", MergeRule.CASE),
        ("parsers", MergeRule.PLURAL),
        ("re-parser", MergeRule.HYPHEN),
        ('"parser"', MergeRule.PUNCTUATION),
        ("The re-Parsers", MergeRule.DETERMINER | MergeRule.CASE | MergeRule.HYPHEN | MergeRule.PLURAL),
        ("SVM", MergeRule.NONE),
        ("SVMs", MergeRule.PLURAL),
    ],
)  # fmt: skip
def test_the_rules_tell_what_was_changed(surface: str, rules: MergeRule) -> None:
    assert normal_form(surface).rules == rules


@pytest.mark.parametrize(
    "word", ["bias", "series", "news", "physics", "gas", "corpus", "loss", "cat"]
)
def test_singulars_stay(word: str) -> None:
    assert singular(word) == word


@pytest.mark.parametrize(
    ("plural", "one"),
    [
        ("matrices", "matrix"), ("devices", "device"), ("losses", "loss"), ("batches", "batch"),
        ("caches", "cache"), ("corpora", "corpus"), ("sizes", "size"), ("theories", "theory"),
        ("heuristics", "heuristics"),
    ],
)  # fmt: skip
def test_plurals(plural: str, one: str) -> None:
    assert singular(plural) == one


@given(SURFACES)
def test_any_text_has_a_normal_form(surface: str) -> None:
    form = normal_form(surface)
    assert form.key.strip() == form.key
    assert form.folded == form.folded.casefold()
    form.key.encode("utf-8")


@given(SURFACES)
def test_determiner_and_case_never_matter(surface: str) -> None:
    form = normal_form(surface)
    if surface.strip() == "A":
        return  # a name by itself, a determiner behind "the"
    if form.key and surface.isascii() and surface.isprintable() and surface[0].isalpha():
        assert normal_form(f"the {surface}").key == form.key


def test_an_acronym_spelled_as_a_determiner_is_a_name() -> None:
    assert normal_form("ALL").key == normal_form("the ALL").key == "ALL"
    assert normal_form("ITS system").key == "itssystem"
    assert normal_form("ALL PATIENTS").folded == normal_form("all patients").folded == "patient"


def test_accents_and_small_letters_before_a_capital_s() -> None:
    assert normal_form("Fréchet distance").key == normal_form("Frechet distances").key
    assert normal_form("BraTS").key == "BraTS"
    assert normal_form("NEURAL NETWORKS").key == "neuralnetwork"


def test_rules_in_words() -> None:
    assert MergeRule(255).words[0] == "determiner"
    assert MergeRule.NONE.words == ()
