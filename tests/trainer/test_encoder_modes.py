"""Accumulation and checkpointing change time and memory, not what is learned."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("torch")

import torch
from safetensors.torch import load_file

from research.reporting import as_mappings
from sciextract.errors import UsageError
from sciextract_trainer.build import SubwordRules, build_network
from sciextract_trainer.checkpoint import WEIGHTS
from sciextract_trainer.config import TrainConfig
from sciextract_trainer.data.examples import Example, examples_from
from sciextract_trainer.hardware import CPU, enable_checkpointing
from sciextract_trainer.loop import Stepper, TrainingData, train
from sciextract_trainer.optimisation import make_optimiser
from tests.trainer.corpus import TEN_SENTENCES

if TYPE_CHECKING:
    from sciextract.inference.pipeline import Labels

Config = Callable[..., TrainConfig]
Events = list[dict[str, Any]]


@pytest.fixture
def examples(labels: Labels, rules: SubwordRules) -> list[Example]:
    return list(examples_from(TEN_SENTENCES, labels, rules.encoder(), rules.limit))


@pytest.fixture
def gradients(
    labels: Labels, rules: SubwordRules, examples: list[Example]
) -> Callable[[TrainConfig], list[torch.Tensor]]:
    """Gradients of one step on four documents, with the encoder's dropout drawn anew from a seed."""

    def gradients(config: TrainConfig) -> list[torch.Tensor]:
        network = build_network(config, labels)
        network.train(config.checkpointing)
        if config.checkpointing:
            enable_checkpointing(network)
        stepper = Stepper(config, labels, rules, CPU, lambda event: None)
        stepper._gradients(network, make_optimiser(network, config), examples[:4])
        return [p.grad for p in network.parameters() if p.grad is not None]

    return gradients


def test_accumulated_batches_are_one_larger_batch(
    make_config: Config, gradients: Callable[[TrainConfig], list[torch.Tensor]]
) -> None:
    whole = gradients(make_config(batch_documents=4, negatives_per_word=0.0))
    parts = gradients(make_config(batch_documents=1, accumulate=4, negatives_per_word=0.0))
    assert len(whole) == len(parts)
    for one, other in zip(whole, parts, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-5)


def test_the_schedule_counts_optimiser_steps(
    make_config: Config,
    labels: Labels,
    rules: SubwordRules,
    examples: list[Example],
    tmp_path: Path,
) -> None:
    """Five documents, two at once, two times accumulated: two steps an epoch, and the rate ends at zero."""
    from safetensors import safe_open

    events: Events = []
    config = make_config(epochs=3, batch_documents=2, accumulate=2, evaluate_every=9)
    train(config, labels, rules, TrainingData(examples, []), tmp_path, as_mappings(events.append))
    assert len([event for event in events if event["event"] == "step"]) == 6
    with safe_open(tmp_path / WEIGHTS, framework="pt") as file:
        assert '"schedule_step": 6' in file.metadata()["state"]


class Killed(Exception):
    """Stands for the process being killed."""


@pytest.fixture
def run(
    make_config: Config, labels: Labels, rules: SubwordRules, examples: list[Example]
) -> Callable[..., dict[str, torch.Tensor]]:
    """Trains three epochs with dropout; the weights."""

    def run(
        folder: Path, report: Callable[[dict[str, Any]], None] = lambda event: None, **changes: Any
    ) -> dict[str, torch.Tensor]:
        config = make_config(epochs=3, dropout=0.3, word_dropout=0.1, evaluate_every=9, **changes)
        train(config, labels, rules, TrainingData(examples, []), folder, as_mappings(report))
        return load_file(folder / WEIGHTS)

    return run


@pytest.mark.parametrize(
    "mode",
    [
        {"accumulate": 2},
        {"checkpointing": True},
    ],
    ids=str,
)
def test_every_mode_goes_on_as_if_it_had_not_been_stopped(
    run: Callable[..., dict[str, torch.Tensor]], mode: dict[str, Any], tmp_path: Path
) -> None:
    def kill(event: dict[str, Any]) -> None:
        if event["event"] == "step" and event["epoch"] == 2:
            raise Killed

    whole = run(tmp_path / "whole", **mode)
    with pytest.raises(Killed):
        run(tmp_path / "parts", kill, **mode)
    parts = run(tmp_path / "parts", **mode)
    assert whole.keys() == parts.keys()
    assert all(torch.equal(whole[name], parts[name]) for name in whole)


def test_checkpointing_learns_the_same(
    run: Callable[..., dict[str, torch.Tensor]], tmp_path: Path
) -> None:
    kept, again = run(tmp_path / "a"), run(tmp_path / "b", checkpointing=True)
    assert kept.keys() == again.keys()
    for name, value in kept.items():
        torch.testing.assert_close(again[name], value, rtol=1e-5, atol=1e-6)


def test_an_encoder_without_checkpointing_is_named(
    make_config: Config, labels: Labels, monkeypatch: pytest.MonkeyPatch
) -> None:
    network = build_network(make_config(), labels)
    monkeypatch.setattr(type(network.words.encoder), "supports_gradient_checkpointing", False)
    with pytest.raises(UsageError, match=r"not possible with this encoder \(BertModel\)") as caught:
        enable_checkpointing(network)
    assert "accumulate" in caught.value.hint
