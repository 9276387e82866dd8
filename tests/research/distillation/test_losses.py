"""Each quantity against numbers worked out by hand."""

from __future__ import annotations

from collections.abc import Callable
from math import log

import pytest

torch = pytest.importorskip("torch")

from torch import Tensor

from research.distillation.objectives import (
    attention_divergence,
    attention_error,
    cosine_distance,
    hidden_error,
    masked_cross_entropy,
    soft_cross_entropy,
    soft_divergence,
)

LN2, LN3 = log(2), log(3)
DIVERGENCE = 0.75 * log(3 / 2) + 0.25 * log(1 / 2)
"""Of (1/2, 1/2) from (3/4, 1/4): 0.75 * 0.405465 - 0.25 * 0.693147 = 0.130812."""


def _is(found: Tensor, wanted: float) -> None:
    assert found.ndim == 0
    assert float(found) == pytest.approx(wanted, abs=1e-6)


def test_masked_cross_entropy_is_the_mean_surprise() -> None:
    logits = torch.tensor([[LN3, 0.0], [LN3, 0.0]])  # 3/4 and 1/4
    _is(masked_cross_entropy(logits, torch.tensor([0, 1])), (log(4 / 3) + log(4)) / 2)


def test_soft_divergence_of_an_even_student_from_a_three_to_one_teacher() -> None:
    student, teacher = torch.zeros(1, 2), torch.tensor([[LN3, 0.0]])
    assert pytest.approx(0.130812, abs=1e-6) == DIVERGENCE
    _is(soft_divergence(student, teacher), DIVERGENCE)


def test_soft_divergence_is_the_mean_over_positions() -> None:
    student = torch.tensor([[0.0, 0.0], [5.0, 1.0]])
    teacher = torch.tensor([[LN3, 0.0], [5.0, 1.0]])
    _is(soft_divergence(student, teacher), DIVERGENCE / 2)


def test_soft_divergence_goes_from_teacher_to_student() -> None:
    student, teacher = torch.tensor([[LN3, 0.0]]), torch.zeros(1, 2)
    _is(soft_divergence(student, teacher), 0.5 * log(2 / 3) + 0.5 * log(2))


def test_temperature_divides_the_logits_and_its_square_multiplies_the_divergence() -> None:
    student, teacher = torch.zeros(1, 2), torch.tensor([[2 * LN3, 0.0]])
    _is(soft_divergence(student, teacher, temperature=2.0), 4 * DIVERGENCE)


def test_soft_cross_entropy_of_opposite_opinions() -> None:
    student, teacher = torch.tensor([[0.0, LN3]]), torch.tensor([[LN3, 0.0]])
    _is(soft_cross_entropy(student, teacher), 0.75 * log(4) + 0.25 * log(4 / 3))


def test_soft_cross_entropy_is_divergence_and_the_teachers_entropy() -> None:
    student, teacher = torch.zeros(1, 2), torch.tensor([[LN3, 0.0]])
    entropy = 0.75 * log(4 / 3) + 0.25 * log(4)
    _is(soft_cross_entropy(student, teacher), DIVERGENCE + entropy)


STUDENT = torch.tensor([[[3.0, 4.0], [1.0, 0.0]]])
TEACHER = torch.tensor([[[4.0, 3.0], [0.0, 1.0]]])
FIRST = torch.tensor([[True, False]])


def test_cosine_distance_is_the_mean_over_positions() -> None:
    _is(cosine_distance(STUDENT, TEACHER), (0.04 + 1.0) / 2)  # 24 / 25, and a right angle
    _is(cosine_distance(STUDENT * 7, TEACHER), 0.52)  # length does not matter


def test_hidden_error_is_the_mean_over_positions_and_numbers() -> None:
    student, teacher = (
        torch.tensor([[[1.0, 2.0], [0.0, 0.0]]]),
        torch.tensor([[[3.0, 2.0], [1.0, 1.0]]]),
    )
    _is(hidden_error(student, teacher), (4 + 0 + 1 + 1) / 4)
    _is(hidden_error(student, teacher, FIRST), (4 + 0) / 2)


EVEN = torch.tensor([[[[0.5, 0.5], [0.5, 0.5]]]])
MAPS = torch.tensor([[[[0.75, 0.25], [1.0, 0.0]]]])


def test_attention_error_is_the_mean_over_heads_and_pairs() -> None:
    squares = 2 * 0.0625 + 2 * 0.25
    _is(attention_error(EVEN, MAPS), squares / 4)
    two_heads = torch.cat([EVEN, MAPS], dim=1), torch.cat([MAPS, MAPS], dim=1)
    _is(attention_error(*two_heads), squares / 8)


def test_attention_divergence_is_the_mean_over_heads_and_rows() -> None:
    rows = (DIVERGENCE, LN2)  # an even row from (3/4, 1/4) and from (1, 0)
    _is(attention_divergence(EVEN, MAPS), sum(rows) / 2)
    two_heads = torch.cat([EVEN, MAPS], dim=1), torch.cat([MAPS, MAPS], dim=1)
    _is(attention_divergence(*two_heads), sum(rows) / 4)


def test_attention_divergence_of_a_certain_student_stays_finite() -> None:
    assert torch.isfinite(attention_divergence(MAPS, EVEN))


def test_padding_does_not_count() -> None:
    _is(cosine_distance(STUDENT, TEACHER, FIRST), 0.04)
    _is(attention_error(EVEN, MAPS, FIRST), 0.0625)
    _is(attention_divergence(EVEN, MAPS, FIRST), DIVERGENCE)


@pytest.mark.parametrize("compare", [cosine_distance, hidden_error])
def test_what_stands_in_the_padding_does_not_matter(compare: Callable[..., Tensor]) -> None:
    other = TEACHER.clone()
    other[0, 1] = torch.tensor([float("inf"), -9.0]) if compare is hidden_error else -9.0
    assert torch.equal(compare(STUDENT, other, FIRST), compare(STUDENT, TEACHER, FIRST))


def test_padding_alone_is_zero() -> None:
    none = torch.zeros(1, 2, dtype=torch.bool)
    for compare in (cosine_distance, hidden_error):
        _is(compare(STUDENT, TEACHER, none), 0.0)
    for compare in (attention_error, attention_divergence):
        _is(compare(EVEN, MAPS, none), 0.0)


OF_LOGITS = (soft_divergence, soft_cross_entropy)
OF_STATES = (cosine_distance, hidden_error)
OF_MAPS = (attention_error, attention_divergence)


def _inputs(compare: Callable[..., Tensor]) -> tuple[Tensor, Tensor]:
    random = torch.Generator().manual_seed(1)
    shape = (3, 5) if compare in OF_LOGITS else (2, 4, 5) if compare in OF_STATES else (2, 3, 4, 4)
    pair = (torch.randn(shape, generator=random), torch.randn(shape, generator=random))
    return (pair[0].softmax(-1), pair[1].softmax(-1)) if compare in OF_MAPS else pair


@pytest.mark.parametrize("compare", [*OF_LOGITS, *OF_STATES, *OF_MAPS])
def test_the_gradient_reaches_the_student_and_never_the_teacher(
    compare: Callable[..., Tensor],
) -> None:
    student, teacher = (input_.requires_grad_() for input_ in _inputs(compare))
    compare(student, teacher).backward()  # type: ignore[no-untyped-call]
    assert teacher.grad is None
    assert student.grad is not None and student.grad.abs().sum() > 0


@pytest.mark.parametrize("compare", [soft_divergence, *OF_STATES, *OF_MAPS])
def test_a_student_like_its_teacher_loses_nothing(compare: Callable[..., Tensor]) -> None:
    _, teacher = _inputs(compare)
    _is(compare(teacher.clone(), teacher), 0.0)


@pytest.mark.parametrize("compare", [soft_divergence, soft_cross_entropy, hidden_error])
def test_a_student_like_its_teacher_has_nothing_to_learn(compare: Callable[..., Tensor]) -> None:
    _, teacher = _inputs(compare)
    student = teacher.clone().requires_grad_()
    compare(student, teacher).backward()  # type: ignore[no-untyped-call]
    assert student.grad is not None and student.grad.abs().max() < 1e-6
