from __future__ import annotations

import numpy as np
import pytest

from sciextract.metrics import scorer
from sciextract.metrics.scorer import (
    Floats,
    Tallies,
    headline_counts,
    interval,
    probability_better,
    report,
    tally_documents,
)
from tests.unit.metrics.builders import entity, scored

GOLD = [scored([entity(0, 1), entity(2, 3), entity(4, 5)], clusters="ab cd") for _ in range(40)]


def predictions(rate: float, seed: int) -> list[Tallies]:
    """Tallies of predictions that find each gold entity with that probability."""
    generator = np.random.default_rng(seed)
    found = [
        scored([entity for entity in sorted(gold.entities) if generator.random() < rate], [], "abc")
        for gold in GOLD
    ]
    return tally_documents(GOLD, found, frozenset())


def entity_counts(rate: float, seed: int = 1) -> Floats:
    return headline_counts(predictions(rate, seed))["ner.all"]


def test_counts_have_one_row_a_document_and_one_column_a_metric() -> None:
    counts = headline_counts(predictions(0.5, 1))
    assert counts["ner.all"].shape == (40, 1, 4)
    assert counts["coreference.conll"].shape == (40, 3, 4)


def test_an_interval_holds_the_score_and_is_reproducible() -> None:
    tallies = predictions(0.6, 1)
    found = scorer.intervals(tallies)
    f1 = report(tallies).ner.all.f1
    assert found["ner.all"].low < f1 < found["ner.all"].high
    assert found == scorer.intervals(tallies)


def test_equal_documents_have_an_interval_without_width() -> None:
    found = scorer.intervals(predictions(0.6, 1))["coreference.conll"]
    conll = report(predictions(0.6, 1)).coreference.conll.f1
    assert found.low == pytest.approx(conll) == found.high


def test_the_interval_equals_a_plain_resampling_loop() -> None:
    tallies = predictions(0.6, 1)
    counts = headline_counts(tallies)["coreference.conll"] + headline_counts(tallies)["ner.all"]
    weights = np.random.default_rng(scorer.SEED).multinomial(40, [1 / 40] * 40, size=200)
    scores = []
    for row in weights:
        summed = np.repeat(counts, row, axis=0).sum(axis=0)
        precision, recall = summed[:, 0] / summed[:, 1], summed[:, 2] / summed[:, 3]
        scores.append(100 * np.mean(2 * precision * recall / (precision + recall)))
    found = interval(counts, resamples=200)
    assert (found.low, found.high) == pytest.approx(tuple(np.percentile(scores, [2.5, 97.5])))


def test_blocks_do_not_change_the_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = interval(entity_counts(0.6))
    monkeypatch.setattr(scorer, "_BLOCK", 40 * 7)
    assert interval(entity_counts(0.6)) == whole


def test_no_documents_have_no_interval() -> None:
    assert scorer.intervals([]) == {}


def test_a_system_is_as_good_as_itself() -> None:
    assert probability_better(entity_counts(0.6), entity_counts(0.6)) == 0.5


def test_the_better_system_is_found_from_either_side() -> None:
    good, bad = entity_counts(0.9), entity_counts(0.5, seed=2)
    assert probability_better(good, bad) > 0.99
    assert probability_better(good, bad) + probability_better(bad, good) == pytest.approx(1)


@pytest.mark.parametrize("other", [0, 39])
def test_pairs_must_match(other: int) -> None:
    counts = entity_counts(0.6)
    with pytest.raises(ValueError, match=r"found \(40, 1, 4\) and"):
        probability_better(counts, counts[:other])
