"""A training that is stopped goes on as if it had not been; a broken one keeps its best."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("torch")

import torch
from safetensors.torch import load_file

from research.reporting import as_mappings
from sciextract.errors import ModelDamagedError, SciextractError, UsageError
from sciextract_trainer.build import SubwordRules, family_of
from sciextract_trainer.checkpoint import WEIGHTS
from sciextract_trainer.config import TrainConfig
from sciextract_trainer.loop import BEST, TrainingData, train
from tests.trainer.corpus import TEN_SENTENCES

pytestmark = pytest.mark.full

if TYPE_CHECKING:
    from sciextract.inference.pipeline import Labels

Train = Callable[..., torch.nn.Module]


class Killed(Exception):
    """Stands for the process being killed."""


@pytest.fixture
def run(
    make_config: Callable[..., TrainConfig], labels: Labels, rules: SubwordRules
) -> Callable[..., dict[str, torch.Tensor]]:
    def run(
        folder: Path, report: Callable[[dict[str, Any]], None] = lambda event: None, **changes: Any
    ) -> dict[str, torch.Tensor]:
        config = make_config(
            epochs=4, evaluate_every=1, dropout=0.3, word_dropout=0.1, ema=0.9, **changes
        )
        examples = list(family_of(config).examples(TEN_SENTENCES, labels, rules))
        data = TrainingData(examples, TEN_SENTENCES)
        network = train(config, labels, rules, data, folder, as_mappings(report))
        return {name: value.clone() for name, value in network.state_dict().items()}

    return run


def _kill_in_epoch(epoch: int) -> Callable[[dict[str, Any]], None]:
    def report(event: dict[str, Any]) -> None:
        if event["event"] == "step" and event["epoch"] == epoch and event["documents"] > 2:
            raise Killed

    return report


@pytest.mark.parametrize("network", ["joint", "dygie"])
def test_resuming_equals_never_stopping(
    run: Callable[..., dict[str, torch.Tensor]], network: str, tmp_path: Path
) -> None:
    whole = run(tmp_path / "whole", network=network)
    with pytest.raises(Killed):
        run(tmp_path / "parts", _kill_in_epoch(3), network=network)
    events: list[dict[str, Any]] = []
    resumed = run(tmp_path / "parts", events.append, network=network)
    assert events[0] == {"event": "resumed", "epoch": 2}
    assert whole.keys() == resumed.keys()
    assert all(torch.equal(whole[name], resumed[name]) for name in whole)
    last = [load_file(tmp_path / folder / WEIGHTS) for folder in ("whole", "parts")]
    assert last[0].keys() == last[1].keys()
    assert all(torch.equal(last[0][name], last[1][name]) for name in last[0])


@pytest.fixture
def two_threads() -> Iterator[None]:
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(1)


@pytest.mark.usefixtures("two_threads")
def test_two_threads_end_with_the_same_weights(
    make_config: Callable[..., TrainConfig], labels: Labels, rules: SubwordRules, tmp_path: Path
) -> None:
    """The spans are so wide that both threads add gradients up; in any order, runs differ."""
    config = make_config(epochs=2, batch_documents=10, span_width=1024)
    examples = list(family_of(config).examples(TEN_SENTENCES, labels, rules))

    def weights(name: str) -> dict[str, torch.Tensor]:
        data = TrainingData(examples, ())
        return train(config, labels, rules, data, tmp_path / name, print).state_dict()

    one, other = weights("one"), weights("other")
    assert all(torch.equal(one[name], other[name]) for name in one)
    assert not torch.are_deterministic_algorithms_enabled()


def test_a_finished_training_is_not_repeated(
    run: Callable[..., dict[str, torch.Tensor]], tmp_path: Path
) -> None:
    first = run(tmp_path)
    events: list[dict[str, Any]] = []
    again = run(tmp_path, events.append)
    assert [event["event"] for event in events] == ["resumed"]
    assert all(torch.equal(first[name], again[name]) for name in first)


def test_seeds_decide_the_outcome(
    run: Callable[..., dict[str, torch.Tensor]], tmp_path: Path
) -> None:
    one, same, other = (
        run(tmp_path / name, seed=seed) for name, seed in (("a", 1), ("b", 1), ("c", 2))
    )
    assert all(torch.equal(one[name], same[name]) for name in one)
    assert any(not torch.equal(one[name], other[name]) for name in one)


@pytest.mark.parametrize("damage", [b"", b"not a checkpoint", None])
def test_a_damaged_checkpoint_is_said(
    run: Callable[..., dict[str, torch.Tensor]], tmp_path: Path, damage: bytes | None
) -> None:
    run(tmp_path)
    path = tmp_path / WEIGHTS
    path.write_bytes(path.read_bytes()[:-100] if damage is None else damage)
    with pytest.raises(ModelDamagedError, match="cannot be resumed") as caught:
        run(tmp_path)
    assert "remove it" in caught.value.hint


def test_a_checkpoint_without_a_weight_names_it(
    run: Callable[..., dict[str, torch.Tensor]], tmp_path: Path
) -> None:
    from safetensors import safe_open
    from safetensors.torch import save_file

    run(tmp_path)
    path = tmp_path / WEIGHTS
    with safe_open(path, framework="pt") as file:
        metadata = file.metadata()
    tensors = load_file(path)
    del tensors["network.spans.first.weight"]
    save_file(tensors, path, metadata=metadata)
    with pytest.raises(ModelDamagedError, match=r"network\.spans\.first\.weight is missing"):
        run(tmp_path)


@pytest.mark.parametrize("damage", ["cut", "foreign"])
def test_damaged_best_weights_are_said(
    run: Callable[..., dict[str, torch.Tensor]], tmp_path: Path, damage: str
) -> None:
    from safetensors.torch import save_file

    run(tmp_path)
    path = tmp_path / BEST
    if damage == "cut":
        path.write_bytes(path.read_bytes()[:-100])
    else:
        save_file({"other": torch.zeros(1)}, path)
    with pytest.raises(
        ModelDamagedError, match=r"best\.safetensors: the best weights cannot"
    ) as caught:
        run(tmp_path)
    assert "start again" in caught.value.hint


def test_a_checkpoint_of_another_network_is_said(
    run: Callable[..., dict[str, torch.Tensor]], tmp_path: Path
) -> None:
    run(tmp_path)
    with pytest.raises(UsageError, match="span_width was"):
        run(tmp_path, span_width=24)


def test_a_loss_that_is_not_a_number_stops_and_keeps_the_best(
    run: Callable[..., dict[str, torch.Tensor]], tmp_path: Path
) -> None:
    with pytest.raises(Killed):
        run(tmp_path, _kill_in_epoch(3))
    best = load_file(tmp_path / BEST)
    with pytest.raises(SciextractError, match=r"the loss is nan at the documents?") as caught:
        _run_with_broken_weights(run, tmp_path)
    assert "lower the learning rates" in caught.value.hint
    kept = load_file(tmp_path / BEST)
    assert all(torch.equal(best[name], kept[name]) for name in best)


def _run_with_broken_weights(run: Callable[..., Any], folder: Path) -> None:
    from safetensors import safe_open
    from safetensors.torch import save_file

    path = folder / WEIGHTS
    with safe_open(path, framework="pt") as file:
        metadata = file.metadata()
    tensors = load_file(path)
    tensors["network.spans.first.weight"].fill_(float("nan"))
    save_file(tensors, path, metadata=metadata)
    run(folder)


def test_other_settings_do_not_go_on(
    run: Callable[..., dict[str, torch.Tensor]], tmp_path: Path
) -> None:
    with pytest.raises(Killed):
        run(tmp_path, _kill_in_epoch(2))
    with pytest.raises(UsageError, match=r"clip was 5\.0, is 1\.0"):
        run(tmp_path, clip=1.0)


@pytest.mark.parametrize(("selects", "kept"), [(True, 1), (False, 3)])
def test_too_few_dev_documents_do_not_choose_the_epoch(
    selects: bool, kept: int, make_config: Callable[..., TrainConfig], labels: Labels,
    rules: SubwordRules, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    falling = iter((60.0, 50.0, 40.0))
    monkeypatch.setattr("sciextract_trainer.loop.selection_score", lambda *_: next(falling))
    config = make_config(epochs=3, evaluate_every=1, patience=0 if selects else 1)
    examples = list(family_of(config).examples(TEN_SENTENCES[:2], labels, rules))
    data = TrainingData(examples, TEN_SENTENCES[:2], selects=selects)
    ended: dict[int, dict[str, torch.Tensor]] = {}

    def report(event: dict[str, Any]) -> None:
        if event["event"] == "dev":
            ended[event["epoch"]] = load_file(tmp_path / BEST)

    network = train(config, labels, rules, data, tmp_path, as_mappings(report))
    assert len(ended) == 3
    for name, value in ended[kept].items():
        assert torch.equal(network.state_dict()[name], value)
    assert (
        any(not torch.equal(ended[1][name], value) for name, value in ended[3].items())
        is not selects
    )
