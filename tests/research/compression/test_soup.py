"""Soups: the mean is the mean, greedy takes what helps, and unlike networks are refused."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")
pytest.importorskip("onnxscript")

import torch
from safetensors.torch import save_file
from torch import nn

from research.compression.soup import greedy_soup, mean_weights
from sciextract.documents.schema import LabelSchema
from sciextract.inference.model_folder import open_folder
from sciextract_trainer.build import build_network, labels_of
from sciextract_trainer.checkpoint import trainable
from sciextract_trainer.config import TrainConfig
from sciextract_trainer.loop import BEST

Events = list[dict[str, Any]]


@pytest.fixture
def run_of(
    tmp_path: Path, schema: LabelSchema, make_config: Callable[..., TrainConfig]
) -> Callable[..., Path]:
    """A run folder with a network of given settings."""

    def run_of(name: str, network: nn.Module | None = None, **changes: Any) -> Path:
        config, folder = make_config(**changes), tmp_path / name
        folder.mkdir()
        made = network or build_network(config, labels_of(schema, config.max_span_width))
        save_file(trainable(made), folder / BEST)
        stored = {"config": config.to_json(), "schema": "scierc"}
        (folder / "run.json").write_text(json.dumps(stored), encoding="utf-8")
        return folder

    return run_of


def test_the_mean_by_hand() -> None:
    members = [{"a": torch.tensor([1.0, 4.0])}, {"a": torch.tensor([3.0, 0.0])}]
    assert mean_weights(members)["a"].tolist() == [2.0, 2.0]


def test_greedy_adds_from_the_best_downwards_what_is_not_worse() -> None:
    asked: list[tuple[int, ...]] = []

    def score_of(rows: Any) -> float:
        asked.append(tuple(rows))
        return {(2, 0): 60.0, (2, 0, 1): 59.0, (2, 0, 3): 60.0}[tuple(rows)]

    assert greedy_soup([58.0, 57.0, 59.0, 50.0], score_of) == [2, 0, 3]
    assert asked == [(2, 0), (2, 0, 1), (2, 0, 3)]


def test_a_soup_of_equal_networks_is_that_network(
    trained: nn.Module, run_of: Callable[..., Path], model_folder: Path, gold_file: Path,
    tmp_path: Path, trainer: Callable[..., Events],
) -> None:  # fmt: skip
    run, output = run_of("run", trained), tmp_path / "soup"
    model = tmp_path / "model"
    shutil.copytree(model_folder, model)
    events = trainer(
        "soup", run, model, "--dev", gold_file, "--output", output, "--method", "uniform"
    )
    assert [each["mean"] for each in events[:3]] == [100.0] * 3
    assert [len(each["members"]) for each in events[:3]] == [1, 1, 2]
    config = open_folder(output).config
    assert config.name == "soup" and config.scores["int8"]["ner"] == 100
    assert config.origin["weights"] == "uniform mean of 2 of 2 trainings: run, model"


def test_greedy_leaves_out_what_ruins_the_soup(
    trained: nn.Module, run_of: Callable[..., Path], gold_file: Path, tmp_path: Path,
    trainer: Callable[..., Events],
) -> None:  # fmt: skip
    good, raw = run_of("good", trained), run_of("raw", seed=9)
    events = trainer("soup", raw, good, "--dev", gold_file, "--output", tmp_path / "soup")
    assert events[0]["mean"] < events[1]["mean"] == 100.0
    weights = open_folder(tmp_path / "soup").config.origin["weights"]
    assert weights == "greedy mean of 1 of 2 trainings: good"


def test_networks_of_other_shapes_and_labels_are_refused(
    run_of: Callable[..., Path], gold_file: Path, tmp_path: Path, refused: Callable[..., str]
) -> None:
    one, narrow, wide = (
        run_of("one"),
        run_of("narrow", hidden_width=8),
        run_of("w", max_span_width=5),
    )
    more = ["--dev", gold_file, "--output", tmp_path / "soup"]
    told = refused("soup", one, narrow, *more)
    assert str(narrow) in told and "shapes" in told and "8" in told
    assert "their labels" in refused("soup", one, wide, *more)
    other = json.loads((one / "run.json").read_text())
    (narrow / "run.json").write_text(json.dumps(other | {"schema": "genia"}), encoding="utf-8")
    assert "cannot" in refused("soup", one, narrow, *more)
    assert not (tmp_path / "soup").exists()


def test_what_is_no_run_and_what_is_in_the_way(
    run_of: Callable[..., Path], gold_file: Path, tmp_path: Path, refused: Callable[..., str]
) -> None:
    one, more = run_of("one"), ["--dev", gold_file, "--output", tmp_path / "soup"]
    assert "two or more" in refused("soup", one, *more)
    assert "neither a run folder" in refused("soup", one, tmp_path / "nowhere", *more)
    assert "choose from: uniform, greedy" in refused("soup", one, one, *more, "--method", "best")
    (one / "run.json").unlink()
    assert "--recipe" in refused("soup", one, one, *more)
    (one / BEST).write_bytes(b"no weights")
    assert "--recipe" in refused("soup", one, one, *more)
