"""Label probabilities: within groups labels compete, between groups they do not."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from sciextract.inference.decoding import columns_of, select_mentions, softmax, type_probabilities
from sciextract.inference.settings import DecodeSettings, PerTask

GROUPS = ((1,), (2, 3))
LOGITS = arrays(np.float32, (4, 4), elements=st.floats(-20, 20, width=32))


def test_two_groups_do_not_halve_each_other() -> None:
    logits = np.array([[0.0, 2.0, 2.0, -9.0]], dtype=np.float32)
    alone = 1 / (1 + np.exp(-2.0))
    grouped = type_probabilities(logits, GROUPS)[0]
    assert grouped[1] == pytest.approx(alone, abs=1e-4)
    assert grouped[2] == pytest.approx(alone, abs=1e-3)
    assert type_probabilities(logits, ())[0, 1] < 0.5


@given(LOGITS)
def test_each_group_sums_to_one_with_its_own_none(logits: np.ndarray) -> None:
    found = type_probabilities(logits, GROUPS)
    for classes in GROUPS:
        none = softmax(logits[:, [0, *classes]])[:, 0]
        np.testing.assert_allclose(found[:, list(classes)].sum(axis=1) + none, 1, atol=1e-5)
        assert (found[:, 0] <= none + 1e-6).all()


@given(LOGITS)
def test_without_groups_it_is_the_softmax(logits: np.ndarray) -> None:
    np.testing.assert_array_equal(type_probabilities(logits, ()), softmax(logits))


@given(LOGITS, st.floats(0.05, 0.9))
def test_no_mention_above_the_threshold_is_lost(logits: np.ndarray, threshold: float) -> None:
    cells = logits[:, None, :]
    settings = DecodeSettings(thresholds=PerTask(threshold, 0.5, 0.5))
    found = select_mentions(cells, np.ones((4, 1), dtype=np.bool_), settings, GROUPS)
    wanted = type_probabilities(logits, GROUPS)[:, 1:].max(axis=1)
    clear = np.abs(wanted - threshold) > 1e-4
    expected = set(np.flatnonzero((wanted >= threshold) & clear).tolist())
    assert (
        expected
        <= set(found.spans[:, 0].tolist())
        <= expected | set(np.flatnonzero(~clear).tolist())
    )


def test_groups_name_each_label_once() -> None:
    assert columns_of(("a", "b", "c"), (("c",), ("a", "b"))) == ((3,), (1, 2))
    assert columns_of(("a",), ()) == ()
    for wrong in ((("a",),), (("a", "b"), ("b",)), (("a", "b", "x"),)):
        with pytest.raises(ValueError, match="groups"):
            columns_of(("a", "b"), wrong)
