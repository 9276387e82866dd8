"""The domain test: stems, weights, and invented sentences of both kinds."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sciextract.inference.domain.auto import (
    STEM_LETTERS,
    biomedical_score,
    is_biomedical,
    stems_of,
    suited_model,
    weights,
)

MEDICAL = (
    "Patients with colitis were given the drug for six weeks and serum levels were measured.",
    "The kinase is phosphorylated in hepatocytes of mice.",
)
COMPUTING = (
    "We propose a neural network for parsing and evaluate it on three benchmark datasets.",
    "Our algorithm learns features for image segmentation without labels.",
)


@pytest.mark.parametrize("text", MEDICAL)
def test_medicine(text: str) -> None:
    assert is_biomedical(text)
    assert suited_model(text) == "bio"


@pytest.mark.parametrize("text", [*COMPUTING, "", "漢字", "zzzzzz"])
def test_computing_and_what_says_nothing(text: str) -> None:
    assert not is_biomedical(text)
    assert suited_model(text) == "sci"


@given(st.text(max_size=200))
def test_any_text_has_a_score_that_repetition_does_not_change(text: str) -> None:
    assert biomedical_score(f"{text} {text}") == biomedical_score(f"{text} ")


def test_the_file_holds_stems_and_weights_only() -> None:
    known = weights()
    assert 500 < len(known) < 5000
    assert all(3 <= len(stem) <= STEM_LETTERS and stem.isalpha() for stem in known)
    assert min(known.values()) < -1 < 1 < max(known.values())


def test_stems_join_inflections() -> None:
    assert stems_of("inhibits inhibition INHIBITOR") == {"inhibit"}
