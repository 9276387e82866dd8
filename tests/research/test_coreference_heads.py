"""The comparison of coreference heads by sets of features."""

from __future__ import annotations

import pytest

pytest.importorskip("torch")

from research.coreference_heads import columns_of
from sciextract.inference.lexical import FEATURES


def test_sets_of_features_are_chosen_by_name() -> None:
    assert columns_of("none") == [] and len(columns_of("all")) == len(FEATURES)
    assert columns_of("acronym+same string") == [list(FEATURES).index("acronym"), 0]
    assert len(columns_of("-acronym-same string")) == len(FEATURES) - 2
