"""The bundled model of all sciences: folds, and who predicts what."""

from __future__ import annotations

from collections import Counter

import pytest

pytest.importorskip("torch")

from research.science import FOLDS, OF_A_FIELD, ByFold, fold_of
from sciextract.inference.settings import DecodeSettings
from tests.unit.inference.fakes import pipeline, random_document


def test_the_abstracts_of_a_field_are_spread_over_all_folds() -> None:
    folds = fold_of(70)
    assert folds == fold_of(70)
    assert max(Counter(folds).values()) - min(Counter(folds).values()) <= 1
    for start in range(0, 70, OF_A_FIELD):
        assert set(folds[start : start + OF_A_FIELD]) == set(range(FOLDS))


def test_each_abstract_is_predicted_by_the_network_of_its_fold() -> None:
    one, two = random_document(1, 2, 5), random_document(2, 2, 5)
    networks = [pipeline(), pipeline()]
    both = ByFold(networks, {one.text_sha256: 0, two.text_sha256: 1})
    both.predict_batch([one, two], DecodeSettings())
    seen = [len(network.network.windows) for network in networks]  # type: ignore[attr-defined]
    assert seen == [1, 1]
