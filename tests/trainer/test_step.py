"""What goes with a step and an epoch: the pull, rehearsal, early stop, short memory, devices."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("torch")

import torch
from torch import nn

from research.reporting import as_mappings
from sciextract.errors import UsageError
from sciextract.retraining.events import TrainingEvent
from sciextract_trainer.build import SubwordRules, build_network
from sciextract_trainer.config import TrainConfig
from sciextract_trainer.data.examples import Example, collate, examples_from
from sciextract_trainer.evaluate import DevScores
from sciextract_trainer.hardware import CPU, choose_device, move_to
from sciextract_trainer.loop import L2SP, Stepper, TrainingData, train
from sciextract_trainer.optimisation import make_optimiser
from tests.trainer.corpus import TEN_SENTENCES

if TYPE_CHECKING:
    from sciextract.inference.pipeline import Labels

Config = Callable[..., TrainConfig]


@pytest.fixture
def examples(labels: Labels, rules: SubwordRules) -> list[Example]:
    return list(examples_from(TEN_SENTENCES, labels, rules.encoder(), rules.limit))


def test_a_pull_moves_weights_back_by_rate_times_strength(make_config: Config) -> None:
    network = nn.Linear(1, 1)
    with torch.no_grad():
        network.weight.fill_(1.0)
        network.bias.fill_(1.0)
    optimiser = make_optimiser(network, make_config(head_lr=0.01))
    pull = L2SP(optimiser, 10.0)
    with torch.no_grad():
        network.weight.fill_(3.0)
    pull.apply(optimiser)
    assert network.weight.item() == pytest.approx(3.0 - 0.01 * 10 * 2.0)
    assert network.bias.item() == pytest.approx(1.0)
    optimiser.param_groups[2]["lr"] = 1.0
    pull.apply(optimiser)
    assert network.weight.item() == pytest.approx(1.0)


def test_a_strong_pull_keeps_the_weights(
    make_config: Config,
    labels: Labels,
    rules: SubwordRules,
    examples: list[Example],
    tmp_path: Path,
) -> None:
    def distance(pull: float) -> float:
        config = make_config(epochs=2, evaluate_every=9, pull=pull)
        start = build_network(config, labels)
        before = {name: value.detach().clone() for name, value in start.named_parameters()}
        folder = tmp_path / str(pull)
        after = train(config, labels, rules, TrainingData(examples, []), folder, _quiet, start)
        gaps = [(value - before[name]).abs().sum() for name, value in after.named_parameters()]
        return torch.stack(gaps).sum().item()

    assert distance(1e6) == 0.0
    assert 0.0 < distance(100.0) < distance(0.0)


def _quiet(event: TrainingEvent) -> None:
    """Nobody listens."""


def test_rehearsal_joins_every_epoch_in_its_share(
    make_config: Config,
    labels: Labels,
    rules: SubwordRules,
    examples: list[Example],
    tmp_path: Path,
) -> None:
    events: list[dict[str, Any]] = []
    config = make_config(epochs=2, rehearsal=1.5)
    data = TrainingData(examples[:2], [], rehearsal=examples[2:])
    train(config, labels, rules, data, tmp_path, as_mappings(events.append))
    assert {event["of"] for event in events} == {5}


@pytest.mark.parametrize(
    ("selects", "scores", "told"),
    [
        (True, [10.0, 30.0, 20.0, 30.0, 40.0], "dev has not improved since epoch 2"),
        (False, [0.0, 0.0, 0.0, 30.0, 20.0, 20.0, 20.05, 40.0], "dev has not moved in 2 eval"),
    ],
)
def test_a_training_ends_when_the_score_stands_still(
    selects: bool, scores: list[float], told: str, make_config: Config, labels: Labels, rules: SubwordRules, examples: list[Example],
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    coming = iter(scores)

    def scored(*rest: Any) -> DevScores:
        return DevScores(next(coming), None, None, None)

    monkeypatch.setattr("sciextract_trainer.loop.dev_scores", scored)
    events: list[dict[str, Any]] = []
    config = make_config(epochs=9, evaluate_every=1, patience=2)
    data = TrainingData(examples[:1], TEN_SENTENCES[:1], selects=selects)
    train(config, labels, rules, data, tmp_path, as_mappings(events.append))
    assert [event for event in events if event["event"] == "dev"][-1]["epoch"] == len(scores) - 1
    assert told in events[-1]["message"] and "of 9" in events[-1]["message"]
    train(config, labels, rules, data, tmp_path, as_mappings(events.append))
    assert events[-2] == {"event": "resumed", "epoch": len(scores) - 1}


def test_a_step_in_parts_is_the_whole_step(
    make_config: Config, labels: Labels, rules: SubwordRules, examples: list[Example]
) -> None:
    config = make_config(negatives_per_word=0.0, batch_documents=3)
    gradients = []
    for most in (0, 1):
        network = build_network(config, labels)
        stepper = Stepper(config, labels, rules, CPU, _quiet, most)
        stepper._gradients(network, make_optimiser(network, config), examples[:3])
        gradients.append([p.grad for p in network.parameters() if p.grad is not None])
    for whole, parts in zip(*gradients, strict=True):
        torch.testing.assert_close(whole, parts, rtol=1e-4, atol=1e-5)


def test_batches_move_with_all_their_tensors(examples: list[Example], rules: SubwordRules) -> None:
    batch = collate(examples, rules.pad)
    there = move_to(batch, torch.device("meta"))
    tensors = (there.input_ids, there.attention_mask, there.word_first, there.word_last)
    assert {tensor.device.type for tensor in tensors} == {"meta"}
    assert there.examples is batch.examples and batch.input_ids.device.type == "cpu"


def test_devices_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    assert choose_device("cpu") == CPU
    with pytest.raises(UsageError, match="device 'tpu' is unknown"):
        choose_device("tpu")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    assert choose_device("auto").type == choose_device("cuda").type == "cuda"


@pytest.mark.gpu
def test_a_training_on_the_gpu_learns(
    make_config: Config,
    labels: Labels,
    rules: SubwordRules,
    examples: list[Example],
    tmp_path: Path,
) -> None:
    data = TrainingData(examples, TEN_SENTENCES)
    events: list[dict[str, Any]] = []
    train(
        make_config(), labels, rules, data, tmp_path, as_mappings(events.append),
        device=choose_device("cuda"),
    )  # fmt: skip
    assert events[-1]["entity"] == 100.0
