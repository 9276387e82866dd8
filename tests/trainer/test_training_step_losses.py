"""Losses and schedules against values worked out by hand, and the average of weights."""

from __future__ import annotations

import math

import pytest

pytest.importorskip("torch")

import torch
from torch import nn

from sciextract_trainer.network.training_step import (
    antecedent_log_probabilities,
    marginal_link_loss,
    soft_cross_entropy,
    soft_link_loss,
)
from sciextract_trainer.optimisation import WeightAverage, polynomial, slanted

LINKS = torch.tensor([[1, 0], [2, 0], [2, 1]])


def test_cross_entropy_of_one_hot_and_soft_targets() -> None:
    logits = torch.tensor([[0.0, math.log(3.0)], [0.0, 0.0]])
    hard = torch.tensor([[0.0, 1.0], [1.0, 0.0]])
    assert soft_cross_entropy(logits, hard).item() == pytest.approx(math.log(4 / 3) + math.log(2))
    soft = torch.tensor([[0.25, 0.75], [0.5, 0.5]])
    entropy = -(0.25 * math.log(0.25) + 0.75 * math.log(0.75)) + math.log(2)
    assert soft_cross_entropy(logits, soft).item() == pytest.approx(entropy)
    assert soft_cross_entropy(logits[:0], hard[:0]).item() == 0.0


def test_antecedents_share_probability_with_none() -> None:
    scores = torch.tensor([0.0, math.log(2.0), math.log(3.0)])
    table = antecedent_log_probabilities(scores, LINKS, 3).exp()
    expected = torch.tensor(
        [[1.0, 0.0, 0.0, 0.0], [0.5, 0.5, 0.0, 0.0], [1 / 6, 2 / 6, 3 / 6, 0.0]]
    )
    torch.testing.assert_close(table, expected)


def test_link_loss_sums_over_all_gold_antecedents() -> None:
    scores = torch.tensor([0.0, math.log(2.0), math.log(3.0)])
    gold = torch.tensor([False, True, True])
    loss = marginal_link_loss(scores, LINKS, gold, 3).item()
    assert loss == pytest.approx(math.log(1) + math.log(2) + math.log(6 / 5))
    gold = torch.tensor([True, False, False])
    loss = marginal_link_loss(scores, LINKS, gold, 3).item()
    assert loss == pytest.approx(math.log(2) + math.log(6))


def test_link_losses_of_no_links_are_zero() -> None:
    empty = torch.zeros(0), torch.zeros(0, 2, dtype=torch.int64)
    assert marginal_link_loss(*empty, torch.zeros(0, dtype=torch.bool), 0).item() == 0.0
    assert marginal_link_loss(*empty, torch.zeros(0, dtype=torch.bool), 2).item() == 0.0
    assert soft_link_loss(*empty, torch.zeros(0), 1).item() == 0.0


def test_soft_link_loss_is_cross_entropy_with_none() -> None:
    scores = torch.tensor([0.0, math.log(2.0), math.log(3.0)])
    weights = torch.tensor([0.25, 0.0, 0.5])
    expected = math.log(2) + 0.5 * math.log(2) + 0.5 * math.log(6)
    assert soft_link_loss(scores, LINKS, weights, 3).item() == pytest.approx(expected)


def test_soft_and_marginal_loss_agree_on_one_certain_antecedent() -> None:
    scores = torch.tensor([0.3, -0.2, 0.9])
    weights = torch.tensor([1.0, 0.0, 1.0])
    soft = soft_link_loss(scores, LINKS, weights, 3)
    torch.testing.assert_close(soft, marginal_link_loss(scores, LINKS, weights > 0.5, 3))


def test_the_linear_schedule() -> None:
    factors = [polynomial(step, 10, 0.2) for step in range(11)]
    assert factors[:3] == [0.5, 1.0, 1.0]
    assert factors[6] == pytest.approx(0.5) and factors[10] == 0.0
    assert polynomial(0, 5, 0.0) == 1.0 and polynomial(20, 10, 0.2) == 0.0


def test_the_slanted_triangular_schedule() -> None:
    factors = [slanted(step, 100, 0.1, 32) for step in range(101)]
    assert factors[0] == factors[100] == pytest.approx(1 / 32)
    assert factors[10] == max(factors) == 1.0
    assert factors[5] == pytest.approx((1 + 0.5 * 31) / 32)
    assert factors[55] == pytest.approx((1 + 0.5 * 31) / 32)


def test_the_average_moves_slowly_and_is_put_back() -> None:
    layer = nn.Linear(1, 1, bias=False)
    layer.weight.data.fill_(0.0)
    average = WeightAverage(layer, 0.9)
    layer.weight.data.fill_(1.0)
    average.update(layer)
    early = 1 - 1 / 11  # the first steps move further than the decay says
    assert average.weights["weight"].item() == pytest.approx(early)
    with average.applied(layer):
        assert layer.weight.item() == pytest.approx(early)
    assert layer.weight.item() == 1.0


def test_an_average_without_decay_follows_the_weights() -> None:
    layer = nn.Linear(2, 2)
    average = WeightAverage(layer, 0.0)
    layer.weight.data.normal_()
    average.update(layer)
    torch.testing.assert_close(average.weights["weight"], layer.weight.data)


def test_frozen_weights_are_not_averaged() -> None:
    layer = nn.Linear(2, 2)
    layer.bias.requires_grad_(False)
    assert set(WeightAverage(layer, 0.9).weights) == {"weight"}
