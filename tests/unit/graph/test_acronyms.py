from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sciextract.graph.acronyms import find_expansions, group_expansions, long_form
from tests.strategies import PIECES


def pairs(text: str) -> dict[str, str]:
    return find_expansions(text)


@pytest.mark.parametrize(
    ("text", "short", "long"),
    [
        ("A hidden Markov model (HMM) is used.", "HMM", "hidden Markov model"),
        ("convolutional neural networks (CNNs)", "CNN", "convolutional neural networks"),
        ("SVM (support vector machine) here", "SVM", "support vector machine"),
        ("the area under the curve (AUC; higher is better)", "AUC", "area under the curve"),
        ("methods for self-supervised learning (SSL)", "SSL", "self-supervised learning"),
        ("long short-term memory (LSTM)", "LSTM", "long short-term memory"),
        ("Light Detection and Ranging (LiDAR)", "LiDAR", "Light Detection and Ranging"),
        ("heat shock transcription factor (HSF)", "HSF", "heat shock transcription factor"),
    ],
)
def test_found(text: str, short: str, long: str) -> None:
    assert pairs(text) == {short: long}


@pytest.mark.parametrize(
    "text",
    [
        "a corpus (in English)",
        "a graph (see Figure 2)",
        "two models (i.e., ours)",
        "numbers (12)",
        "It works. (SVM)",
        "nothing that fits (XYZ)",
        "()",
        "((SVM))",
        "a parser (2019)",
        "its role in facilitating visible (RGB) pictures",
    ],
)
def test_not_found(text: str) -> None:
    assert pairs(text) == {}


def test_an_expansion_does_not_reach_over_the_sentence() -> None:
    assert pairs("We study support. Vector machines (SVM) win.") == {}


def test_the_first_expansion_holds() -> None:
    found = pairs("hidden Markov model (HMM) and heavy metal music (HMM)")
    assert found == {"HMM": "hidden Markov model"}


def test_a_long_form_is_not_much_longer_than_its_acronym() -> None:
    assert long_form("AB", "a very long list of many words that end with b") == ""


@given(
    st.lists(st.sampled_from(PIECES) | st.text("aAbB() .-", max_size=12), max_size=8).map("".join)
)
def test_any_text(text: str) -> None:
    for short, long in find_expansions(text).items():
        assert long in text
        assert short in text


def test_wordings_are_one_expansion() -> None:
    names = {
        1: "convolutional neural network",
        2: "convolution neural network",
        3: "convolutional neural net",
    }
    found = group_expansions({1: 5, 2: 1, 3: 1}, names)
    assert found == [(1, 7)]


def test_two_expansions_are_open() -> None:
    found = group_expansions({1: 19, 2: 1}, {1: "hidden markov model", 2: "heavy metal music"})
    assert found == [(1, 19), (2, 1)]
