"""The pretraining loop and its command."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")

import torch
from safetensors.torch import load_file

from research import __main__ as cli
from research.pretraining.command import run_pretraining
from research.pretraining.network import MaskedLanguageModel
from research.pretraining.steps import PretrainConfig, load_pretrain_config
from research.recipes import find_recipe
from sciextract.errors import InputMissingError, SciextractError, UsageError
from sciextract_trainer.encoders.loading import load_encoder

SENTENCE = "we parse trees with a model, and the model learns to parse."
Settings = Callable[..., PretrainConfig]


class Killed(Exception):
    """Stands for the process being killed."""


@pytest.fixture
def settings(encoder_folder: Path) -> Settings:
    base = {"encoder": str(encoder_folder), "steps": 40, "batch_blocks": 4, "length": 32}
    base |= {"lr": 5e-3, "bf16": False, "checkpoint_steps": 10}
    return lambda **changes: PretrainConfig(**{**base, **changes})


@pytest.fixture
def shard(tmp_path: Path) -> Path:
    path = tmp_path / "texts.jsonl.gz"
    with gzip.open(path, "wt", encoding="utf-8") as lines:
        for number in range(40):
            record = {"id": f"a{number}", "title": "trees", "abstract": SENTENCE, "source": "own"}
            print(json.dumps(record), file=lines)
    return path


def _run(config: PretrainConfig, shard: Path, folder: Path, **more: Any) -> list[dict[str, Any]]:
    told: list[dict[str, Any]] = []
    run_pretraining(config, [shard], 40, folder, more.pop("report", told.append), **more)
    return told


def test_learns_and_writes_an_encoder_that_trainings_can_start_from(
    settings: Settings, shard: Path, tmp_path: Path
) -> None:
    config = settings(steps=100)
    told = _run(config, shard, tmp_path / "run")
    losses = [event["loss"] for event in told if event["event"] == "step"]
    assert losses[-1] < 0.7 * losses[0]
    before, after = load_encoder(config.encoder), load_encoder(str(tmp_path / "run" / "encoder"))
    ids = torch.tensor([[2, 5, 6, 7, 3]])
    assert before(ids)[0].shape == after(ids)[0].shape
    assert not torch.allclose(before(ids)[0], after(ids)[0], atol=1e-3)


def test_a_killed_pretraining_goes_on_to_the_same_weights(
    settings: Settings, shard: Path, tmp_path: Path
) -> None:
    def kill(event: dict[str, Any]) -> None:
        if event.get("step") == 30:
            raise Killed

    _run(settings(), shard, tmp_path / "whole")
    with pytest.raises(Killed):
        _run(settings(), shard, tmp_path / "killed", report=kill)
    told = _run(settings(), shard, tmp_path / "killed")
    assert [event["step"] for event in told if event["event"] == "step"] == [30, 40]
    whole, resumed = (
        load_file(tmp_path / name / "encoder" / "model.safetensors") for name in ("whole", "killed")
    )
    assert all(torch.equal(whole[name], resumed[name]) for name in whole)


def test_stops_when_its_time_is_over_and_goes_on(
    settings: Settings, shard: Path, tmp_path: Path
) -> None:
    assert not [e for e in _run(settings(), shard, tmp_path, minutes=0.0) if e["event"] == "step"]
    assert _run(settings(), shard, tmp_path)[-1]["step"] == 40


def test_other_settings_do_not_go_on_from_a_checkpoint(
    settings: Settings, shard: Path, tmp_path: Path
) -> None:
    _run(settings(), shard, tmp_path)
    with pytest.raises(UsageError, match="lr was"):
        _run(settings(lr=1e-3), shard, tmp_path)


def test_hidden_subwords_get_the_logits_of_their_own_place(encoder_folder: Path) -> None:
    network = MaskedLanguageModel(load_encoder(str(encoder_folder))).eval()
    ids = torch.tensor([[2, 5, 6, 7, 3], [2, 8, 9, 10, 3]])
    both = network(ids, torch.tensor([1, 7]))
    alone = network(ids[1:], torch.tensor([2]))
    assert both.shape == (2, network.bias.shape[0])
    assert torch.allclose(both[1], alone[0], atol=1e-5)


def test_too_little_text_is_said(settings: Settings, shard: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="fewer than one step takes"):
        _run(settings(batch_blocks=1000), shard, tmp_path)


@pytest.mark.parametrize(
    ("name", "value"), [("steps", 0), ("length", 600), ("mask_share", 1.0), ("weight_decay", -1)]
)
def test_values_that_cannot_work_are_refused(settings: Settings, name: str, value: float) -> None:
    with pytest.raises(UsageError, match=name):
        settings(**{name: value})


def test_recipes_name_what_they_do_not_know(tmp_path: Path) -> None:
    recipe = tmp_path / "r.toml"
    recipe.write_text("encoder = 'x'\nspeed = 3\n", encoding="utf-8")
    with pytest.raises(UsageError, match="unknown setting 'speed'"):
        load_pretrain_config(recipe)
    with pytest.raises(InputMissingError):
        load_pretrain_config(tmp_path / "none.toml")
    assert load_pretrain_config(find_recipe("mlm-minilm"), encoder="x").steps > 0


def test_the_command_says_what_is_missing(
    capsys: pytest.CaptureFixture[str], encoder_folder: Path, tmp_path: Path
) -> None:
    with pytest.raises(SystemExit) as ended:
        run = ["--run", str(tmp_path / "r"), "--encoder", str(encoder_folder)]
        cli.main(["pretrain", str(tmp_path / "no.gz"), *run])
    assert ended.value.code == InputMissingError("").exit_code
    assert "no unlabelled abstracts" in capsys.readouterr().err
    assert issubclass(InputMissingError, SciextractError)
