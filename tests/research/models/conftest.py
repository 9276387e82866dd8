"""A plan of several kinds of stages, on tiny encoders and invented data."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.research.teaching import conftest as teaching

if TYPE_CHECKING:
    from sciextract_trainer.config import TrainConfig

dev_file, recipe, shard = teaching.dev_file, teaching.recipe, teaching.shard

PLAN = """
schema = "scierc"
dev = "gold.jsonl"

[encoder.tiny]
sha256 = "{sha256}"
origin = "a tiny encoder with random weights"
get = "let the test make it"

[stage.mlm]
kind = "pretrain"
encoder = "tiny"
texts = ["invented-*.jsonl.gz"]
most = 6
recipe = "{mlm}"
change = {{ steps = 2 }}

[stage.teacher]
kind = "train"
encoder = "mlm"
recipe = "{recipe}"
gold = "gold.jsonl"
change = {{ epochs = 1 }}

[stage.soft]
kind = "label"
teachers = ["teacher"]
texts = ["invented-*.jsonl.gz"]
most = 6

[stage.student]
kind = "train"
encoder = "mlm"
recipe = "{recipe}"
labels = ["soft"]
gold = "gold.jsonl"

[model.small]
network = "student"

[model.small.card]
licence = "none: it is a test"
"""

MLM = """
steps = 9
batch_blocks = 1
length = 16
bf16 = false
"""


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> teaching.Run:
    """``python -m research.models``: exit code, events and standard error."""
    from research.models.__main__ import main

    return teaching.runner(main, capsys)


@pytest.fixture
def data(shard: Path, dev_file: Path, tmp_path: Path) -> Path:
    """A data folder of its own, which a test may change."""
    folder = tmp_path / "data"
    folder.mkdir()
    shutil.copy(shard, folder)
    shutil.copy(dev_file, folder)
    return folder


@pytest.fixture
def plan(
    recipe: Path, encoder_folder: Path, make_config: Callable[..., TrainConfig], tmp_path: Path
) -> Path:
    """The file of the plan."""
    mlm, path = tmp_path / "mlm.toml", tmp_path / "small-plan.toml"
    mlm.write_text(MLM, encoding="utf-8")
    weights = (encoder_folder / "model.safetensors").read_bytes()
    text = PLAN.format(sha256=hashlib.sha256(weights).hexdigest(), mlm=mlm, recipe=recipe)
    path.write_text(text, encoding="utf-8")
    return path


@pytest.fixture
def words(plan: Path, data: Path, encoder_folder: Path, tmp_path: Path) -> list[object]:
    """The command that makes it."""
    return [
        plan, "--data", data, "--encoder", f"tiny={encoder_folder}",
        "--runs", tmp_path / "runs", "--output", tmp_path / "models",
    ]  # fmt: skip


@pytest.fixture
def record(tmp_path: Path) -> Callable[[], dict[str, dict[str, dict[str, object]]]]:
    """What ``build.json`` says now."""
    return lambda: json.loads((tmp_path / "runs" / "build.json").read_text(encoding="utf-8"))
