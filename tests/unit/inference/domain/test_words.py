"""The domain test: stems, weights, and invented sentences of several sciences."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sciextract.inference.domain.auto import suited_model
from sciextract.inference.domain.words import (
    STEM_LETTERS,
    Domain,
    domain_of,
    life_stems,
    score_of,
    stems_of,
    weights,
)
from sciextract.resources import data_root

FIELDS = Path(__file__).parents[3] / "fixtures" / "text" / "fields.jsonl"
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
    assert domain_of(text) is Domain.BIOMEDICINE
    assert suited_model(text) == "bio"


@pytest.mark.parametrize("text", COMPUTING)
def test_computing(text: str) -> None:
    assert domain_of(text) is Domain.COMPUTING
    assert suited_model(text) == "sci"


@pytest.mark.parametrize("text", ["", "漢字", "zzzzzz"])
def test_what_says_nothing_fits_neither(text: str) -> None:
    assert domain_of(text) is Domain.NEITHER
    assert suited_model(text) == "science"


def test_other_sciences_are_never_biomedicine_and_most_are_remarked_on() -> None:
    texts = [json.loads(line)["text"] for line in FIELDS.read_text("utf-8").splitlines()]
    domains = [domain_of(text) for text in texts]
    assert Domain.BIOMEDICINE not in domains
    assert domains.count(Domain.NEITHER) >= 0.9 * len(domains)


def test_samples_go_where_their_field_says() -> None:
    samples = Path(str(data_root() / "sample_data" / "abstracts.jsonl"))
    for record in map(json.loads, samples.read_text("utf-8").splitlines()):
        domain = domain_of(f"{record['title']}\n{record['abstract']}")
        assert (domain is Domain.BIOMEDICINE) == (record["field"] == "biomedicine"), record["id"]
        if record["field"] == "computer science":
            assert domain is Domain.COMPUTING, record["id"]


@given(st.text(max_size=200))
def test_any_text_has_a_domain_that_repetition_does_not_change(text: str) -> None:
    assert domain_of(f"{text} {text}") is domain_of(f"{text} ")
    assert suited_model(text) in ("sci", "bio", "science")


def test_the_files_hold_stems_only() -> None:
    known = weights()
    assert 500 < len(known) < 5000
    assert all(3 <= len(stem) <= STEM_LETTERS and stem.isalpha() for stem in known)
    assert all(3 <= len(stem) <= STEM_LETTERS and stem.isalpha() for stem in life_stems())
    assert min(known.values()) < -1 < 1 < max(known.values())
    assert score_of(["zzzzzz"]) == 0


def test_stems_join_inflections() -> None:
    assert stems_of("inhibits inhibition INHIBITOR") == {"inhibit"}
