from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from numpy.typing import NDArray

from sciextract.metrics.counts import best_assignment
from tests.tiers import examples

optimize = pytest.importorskip("scipy.optimize")

shapes = array_shapes(min_dims=2, max_dims=2, min_side=0, max_side=9)
smooth = arrays(np.float64, shapes, elements=st.floats(-100, 100))
with_ties = arrays(np.float64, shapes, elements=st.integers(0, 3).map(float))


@settings(max_examples=examples(150), deadline=None)
@given(smooth | with_ties)
def test_the_total_equals_scipys(weights: NDArray[np.float64]) -> None:
    rows, columns = best_assignment(weights)
    expected = weights[optimize.linear_sum_assignment(weights, maximize=True)].sum()
    assert weights[rows, columns].sum() == pytest.approx(expected, abs=1e-9)


@settings(max_examples=examples(100), deadline=None)
@given(smooth | with_ties)
def test_rows_and_columns_are_used_once(weights: NDArray[np.float64]) -> None:
    rows, columns = best_assignment(weights)
    assert len(set(rows.tolist())) == len(set(columns.tolist())) == min(weights.shape)
    assert rows.tolist() == sorted(rows.tolist())
    assert all(0 <= column < weights.shape[1] for column in columns)


def test_a_large_matrix_equals_scipys() -> None:
    weights = np.random.default_rng(3).random((120, 150))
    expected = weights[optimize.linear_sum_assignment(weights, maximize=True)].sum()
    assert weights[best_assignment(weights)].sum() == pytest.approx(expected)
