from __future__ import annotations

import pytest

from sciextract.text.spelling import american


@pytest.mark.parametrize(
    ("british", "word"),
    [
        ("sulphonylurea", "sulfonylurea"),
        ("oesophageal", "esophageal"),
        ("leukaemia", "leukemia"),
        ("neighbourhood", "neighborhood"),
        ("centre", "center"),
        ("catalyse", "catalyze"),
        ("labelled", "labeled"),
    ],
)
def test_one_word(british: str, word: str) -> None:
    assert american(british) == american(word) == word


@pytest.mark.parametrize("word", ["promise", "expertise", "analysis", "precise", "contour", "four"])
def test_what_both_spell_alike_stays(word: str) -> None:
    assert american(word) == word


def test_a_word_of_megabytes_costs_nothing() -> None:
    assert american("e" * 10_000_000 + "ising") == "e" * 10_000_000 + "ising"
