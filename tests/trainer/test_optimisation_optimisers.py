"""Optimisers against values worked out by hand, their groups, and exact resuming with each."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("torch")

import torch
from safetensors.torch import load_file
from torch import nn

from research.reporting import as_mappings
from sciextract_trainer.build import SubwordRules, build_network, family_of
from sciextract_trainer.checkpoint import WEIGHTS
from sciextract_trainer.config import TrainConfig
from sciextract_trainer.loop import TrainingData, train
from sciextract_trainer.optimisation import AdamP, make_optimiser, parameter_groups
from tests.trainer.corpus import TEN_SENTENCES

if TYPE_CHECKING:
    from sciextract.inference.pipeline import Labels

KINDS = ("adamw", "adam", "adamp", "radam")


def _step(weight: torch.Tensor, gradient: list[Any], optimiser: torch.optim.Optimizer) -> None:
    weight.grad = torch.tensor(gradient)
    optimiser.step()


def test_adamp_takes_the_step_of_adam_where_length_counts() -> None:
    """The gradient points along the weight; bias-corrected, the first step is the sign of the gradient."""
    weight = nn.Parameter(torch.tensor([[3.0, 4.0]]))
    _step(weight, [[0.6, 0.8]], AdamP([weight], lr=0.1))
    assert weight.tolist()[0] == pytest.approx([2.9, 3.9])


def test_adamp_takes_off_the_part_along_the_weight() -> None:
    """w = (3, 4), g = (-8, 6) is orthogonal; p = (-1, 1), w/|w| = (0.6, 0.8), p . w/|w| = 0.2.

    What is left is (-1, 1) - 0.2 (0.6, 0.8) = (-1.12, 0.84), and w - 0.1 of it is (3.112, 3.916).
    """
    weight = nn.Parameter(torch.tensor([[3.0, 4.0]]))
    _step(weight, [[-8.0, 6.0]], AdamP([weight], lr=0.1))
    assert weight.tolist()[0] == pytest.approx([3.112, 3.916])


def test_adamp_decays_scale_invariant_weights_less() -> None:
    """1 - 0.1 * 0.5 * 0.1 = 0.995 of (3, 4) is (2.985, 3.98) before the step of (-1.12, 0.84) * 0.1."""
    weight = nn.Parameter(torch.tensor([[3.0, 4.0]]))
    _step(weight, [[-8.0, 6.0]], AdamP([weight], lr=0.1, weight_decay=0.5))
    assert weight.tolist()[0] == pytest.approx([2.985 + 0.112, 3.98 - 0.084])
    along = nn.Parameter(torch.tensor([[3.0, 4.0]]))
    _step(along, [[0.6, 0.8]], AdamP([along], lr=0.1, weight_decay=0.5))
    assert along.tolist()[0] == pytest.approx([0.95 * 3 - 0.1, 0.95 * 4 - 0.1])


def test_adamp_sees_a_whole_matrix_as_scale_invariant() -> None:
    """Each row's gradient lies along its row, with opposite signs: only the whole is orthogonal.

    p = ((1, 0), (-1, 0)) has no part along w = ((1, 0), (1, 0)), so all of it stays; the decay is less.
    """
    weight = nn.Parameter(torch.tensor([[1.0, 0.0], [1.0, 0.0]]))
    _step(weight, [[2.0, 0.0], [-2.0, 0.0]], AdamP([weight], lr=0.1, weight_decay=1.0))
    shrunk = 1 - 0.1 * 0.1  # the decay of a scale-invariant weight
    assert weight.flatten().tolist() == pytest.approx([shrunk - 0.1, 0, shrunk + 0.1, 0])


def test_adamp_never_projects_vectors() -> None:
    weight = nn.Parameter(torch.tensor([3.0, 4.0]))
    _step(weight, [-8.0, 6.0], AdamP([weight], lr=0.1))
    assert weight.tolist() == pytest.approx([3.1, 3.9])


def test_adamp_keeps_the_length_of_a_weight_that_is_normalised_after() -> None:
    """Adam's momentum lengthens such a weight; the projection leaves second-order growth only."""

    def length(make: Callable[[list[nn.Parameter]], torch.optim.Optimizer]) -> float:
        torch.manual_seed(0)
        weight = nn.Parameter(nn.functional.normalize(torch.randn(4, 16), dim=1))
        goal, optimiser = torch.randn(4, 16), make([weight])
        for _ in range(60):
            optimiser.zero_grad()
            (nn.functional.normalize(weight, dim=1) - goal).square().sum().backward()  # type: ignore[no-untyped-call]
            optimiser.step()
        return float(weight.detach().norm())

    adam = length(lambda weights: torch.optim.Adam(weights, lr=0.02))
    projected = length(lambda weights: AdamP(weights, lr=0.02))
    assert 2.0 < projected < adam


def test_adamp_is_adam_without_projection() -> None:
    torch.manual_seed(0)
    start = torch.randn(5, 3)
    one, other = nn.Parameter(start.clone()), nn.Parameter(start.clone())
    pair = (AdamP([one], lr=0.01, delta=0.0, weight_decay=0.1), torch.optim.AdamW([other], lr=0.01, weight_decay=0.1))  # fmt: skip
    for _ in range(20):
        gradient = torch.randn(5, 3)
        for weight, optimiser in zip((one, other), pair, strict=True):
            weight.grad = gradient.clone()
            optimiser.step()
    torch.testing.assert_close(one, other)


def test_radam_follows_liu_et_al() -> None:
    """rho_inf = 1999; steps 1 to 5 are plain momentum (rho <= 5), step 6 is rectified."""
    weight = nn.Parameter(torch.tensor([0.0]))
    optimiser = torch.optim.RAdam([weight], lr=1.0, decoupled_weight_decay=True)
    for _ in range(5):
        _step(weight, [2.0], optimiser)
    assert weight.item() == pytest.approx(-10.0)
    longest = 2 / (1 - 0.999) - 1
    rho = longest - 2 * 6 * 0.999**6 / (1 - 0.999**6)
    rectified = math.sqrt((rho - 4) * (rho - 2) * longest / ((longest - 4) * (longest - 2) * rho))
    assert rho > 5
    _step(weight, [2.0], optimiser)
    assert weight.item() == pytest.approx(-10.0 - rectified, rel=1e-4)


@pytest.mark.parametrize(
    ("kind", "left"),
    [("adamw", 10 * (1 - 0.1 * 0.5)), ("radam", 10 * (1 - 0.1 * 0.5)), ("adam", 10 - 0.1)],
)
def test_weight_decay_is_decoupled_except_with_adam(
    make_config: Callable[..., TrainConfig], kind: str, left: float
) -> None:
    """Without a gradient decoupled decay shrinks; coupled, it is a gradient, of which Adam takes the sign."""
    network = nn.Linear(1, 1, bias=False)
    network.weight.data.fill_(10.0)
    config = make_config(optimiser=kind, head_lr=0.1, head_weight_decay=0.5)
    _step(network.weight, [[0.0]], make_optimiser(network, config))
    assert network.weight.item() == pytest.approx(left)


def test_layers_learn_at_decaying_rates(
    make_config: Callable[..., TrainConfig], labels: Labels
) -> None:
    config = make_config(encoder_lr=1.0, head_lr=3.0, layer_decay=0.5)
    network = build_network(config, labels)
    rates = {
        id(parameter): group["lr"]
        for group in parameter_groups(network, config)
        for parameter in group["params"]
    }
    by_name = {name: rates[id(parameter)] for name, parameter in network.named_parameters()}
    prefix = "words.encoder."
    assert by_name[f"{prefix}encoder.layer.1.output.dense.weight"] == 1.0
    assert by_name[f"{prefix}encoder.layer.0.output.LayerNorm.bias"] == 0.5
    assert by_name[f"{prefix}embeddings.word_embeddings.weight"] == 0.25
    assert {rate for name, rate in by_name.items() if not name.startswith(prefix)} == {3.0}
    assert len(rates) == len(by_name)


def test_vectors_are_not_decayed_and_one_rate_needs_no_more_groups(
    make_config: Callable[..., TrainConfig], labels: Labels
) -> None:
    config = make_config(encoder_weight_decay=0.2, head_weight_decay=0.1)
    groups = parameter_groups(build_network(config, labels), config)
    assert [group["weight_decay"] for group in groups] == [0.2, 0.0, 0.1, 0.0]
    assert all(parameter.ndim == 1 for group in groups[1::2] for parameter in group["params"])


class Killed(Exception):
    """Stands for the process being killed."""


@pytest.mark.parametrize("kind", KINDS)
def test_resuming_equals_never_stopping(
    make_config: Callable[..., TrainConfig], labels: Labels, rules: SubwordRules, kind: str,
    tmp_path: Path,
) -> None:  # fmt: skip
    def kill(event: dict[str, Any]) -> None:
        if event["event"] == "step" and event["epoch"] == 3 and event["documents"] > 2:
            raise Killed

    config = make_config(
        epochs=4, evaluate_every=4, dropout=0.3, ema=0.9, optimiser=kind, layer_decay=0.9,
        schedule="polynomial", schedule_power=2.0, encoder_weight_decay=0.01,
    )  # fmt: skip
    data = TrainingData(list(family_of(config).examples(TEN_SENTENCES, labels, rules)), ())
    train(config, labels, rules, data, tmp_path / "whole", lambda event: None)
    with pytest.raises(Killed):
        train(config, labels, rules, data, tmp_path / "parts", as_mappings(kill))
    train(config, labels, rules, data, tmp_path / "parts", lambda event: None)
    whole, parts = (load_file(tmp_path / name / WEIGHTS) for name in ("whole", "parts"))
    assert whole.keys() == parts.keys()
    assert all(torch.equal(whole[name], parts[name]) for name in whole)
