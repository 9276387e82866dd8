"""Which teacher layers a student takes and follows."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from research.distillation.objectives import (
    ascending,
    checked,
    every_layer,
    last_of_blocks,
)
from sciextract.errors import UsageError


def test_every_other_layer_from_the_first_or_from_the_second() -> None:
    assert every_layer(2, 1, 12) == (1, 3, 5, 7, 9, 11)  # DistilBioBERT
    assert every_layer(2, 2, 12) == (2, 4, 6, 8, 10, 12)  # CompactBioBERT
    assert last_of_blocks(4, 12) == (3, 6, 9, 12)  # TinyBioBERT


@given(st.integers(1, 12), st.integers(1, 6))
def test_blocks_are_equal_and_end_at_the_top(student: int, size: int) -> None:
    layers = last_of_blocks(student, student * size)
    assert len(layers) == student and layers[-1] == student * size
    assert ascending(layers, student * size) == layers


@pytest.mark.parametrize(("step", "first"), [(0, 1), (2, 0), (2, 7)])
def test_no_choice_is_said(step: int, first: int) -> None:
    with pytest.raises(UsageError, match="6 layers"):
        every_layer(step, first, 6)


@pytest.mark.parametrize(("student", "teacher"), [(4, 6), (8, 6)])
def test_unequal_blocks_ask_for_a_list(student: int, teacher: int) -> None:
    with pytest.raises(UsageError, match=f"the {teacher} layers of the teacher") as caught:
        last_of_blocks(student, teacher)
    assert "layers = [...]" in caught.value.hint


@pytest.mark.parametrize(
    ("layers", "told"),
    [
        ((), "no layer is named"),
        ((0, 2), "no layer 0"),
        ((2, 7), "no layer 7"),
        ((2, 2), "do not ascend"),
        ((4, 2), "do not ascend"),
    ],
)
def test_layers_that_cannot_be_are_named(layers: tuple[int, ...], told: str) -> None:
    with pytest.raises(UsageError, match=told):
        ascending(layers, 6)


def test_each_layer_of_the_student_follows_one() -> None:
    assert checked((2, 4, 6), 3, 6) == (2, 4, 6)
    with pytest.raises(UsageError, match="has 2 numbers, but the student has 3 layers"):
        checked((2, 4), 3, 6)
