"""Rates at the first step, at the end of warm-up, in the middle and at the end, worked out by hand."""

from __future__ import annotations

from collections.abc import Callable

import pytest

pytest.importorskip("torch")

import torch
from torch import nn

from sciextract_trainer.config import TrainConfig
from sciextract_trainer.optimisation import (
    factor_of,
    make_schedule,
    polynomial,
    slanted,
)

STEPS, WARMUP = 100, 0.2
"""20 steps up, 80 down; step 60 is the middle of the way down."""


@pytest.mark.parametrize(
    ("name", "changes", "first", "warm", "middle", "end"),
    [
        ("linear", {}, 1 / 20, 1.0, 0.5, 0.0),
        ("polynomial", {}, 1 / 20, 1.0, 0.5, 0.0),
        ("polynomial", {"schedule_power": 2.0}, 1 / 20, 1.0, 0.25, 0.0),
        ("polynomial", {"schedule_power": 0.5}, 1 / 20, 1.0, 0.5**0.5, 0.0),
        ("slanted_triangular", {"schedule_ratio": 4.0}, 0.25, 1.0, (1 + 0.5 * 3) / 4, 0.25),
        ("none", {}, 1.0, 1.0, 1.0, 1.0),
    ],
)
def test_schedules_have_the_rates_they_say(
    name: str, changes: dict[str, float], first: float, warm: float, middle: float, end: float
) -> None:
    config = TrainConfig(encoder="x", schedule=name, warmup=WARMUP, **changes)  # type: ignore[arg-type]
    factor = factor_of(config, STEPS)
    assert [factor(step) for step in (0, 20, 60, 100)] == pytest.approx([first, warm, middle, end])


def test_warm_up_reaches_the_peak_with_its_last_step() -> None:
    assert [polynomial(step, 10, 0.4, 3.0) for step in range(4)] == [0.25, 0.5, 0.75, 1.0]
    assert polynomial(7, 10, 0.4, 3.0) == pytest.approx(0.125)


@pytest.mark.parametrize("step", [0, 1, 5, 10, 50])
def test_no_schedule_divides_by_nothing(step: int) -> None:
    for warmup in (0.0, 0.99):
        assert 0 <= polynomial(step, 1, warmup) <= 1
        assert 0 <= polynomial(step, 1, warmup, 2.0) <= 1
        assert 0 < slanted(step, 1, warmup, 32) <= 1


def test_both_rates_follow_the_schedule(make_config: Callable[..., TrainConfig]) -> None:
    groups = [{"params": [nn.Parameter(torch.zeros(1))], "lr": rate} for rate in (1.0, 10.0)]
    optimiser = torch.optim.AdamW(groups)
    schedule = make_schedule(optimiser, make_config(schedule="polynomial", warmup=0.5), 4)
    seen = []
    for _ in range(4):
        seen.append([group["lr"] for group in optimiser.param_groups])
        optimiser.step()
        schedule.step()
    assert seen == [[0.5, 5.0], [1.0, 10.0], [1.0, 10.0], [0.5, 5.0]]
