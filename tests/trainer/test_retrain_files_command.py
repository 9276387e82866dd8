"""``sciextract retrain --data`` as a user types it."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path

import pytest

pytest.importorskip("torch")

from sciextract import formats
from tests.cli import conftest as cli
from tests.trainer.corpus import TEN_SENTENCES

pytestmark = pytest.mark.full

command = cli.command

RECIPE = """
epochs = 2
batch_documents = 2
optimiser = "adamp"
schedule = "polynomial"
reinit_layers = [2]
layer_decay = 0.9
span_width = 16
hidden_width = 16
max_span_width = 4
relation_weight = 0
bf16 = false
"""


@pytest.fixture
def words(tmp_path: Path, encoder_folder: Path) -> list[str]:
    data, recipe = tmp_path / "gold.jsonl", tmp_path / "small.toml"
    with closing(formats.open_writer("scierc", data)) as writer:
        for item in TEN_SENTENCES:
            writer.write(item)
    recipe.write_text(f'encoder = "{encoder_folder}"\n{RECIPE}', encoding="utf-8")
    output = tmp_path / "model"
    return [
        "retrain", "--data", str(data), "--dev", str(data), "--recipe", str(recipe), "--device", "cpu",
        "--output", str(output),
    ]  # fmt: skip


def test_a_model_comes_of_files_and_is_not_overwritten(
    words: list[str],
    command: cli.Command,
    tmp_path: Path,
) -> None:
    outcome = command(*words)
    assert outcome.code == 0, outcome.err
    config = json.loads((tmp_path / "model" / "config.json").read_text(encoding="utf-8"))
    assert config["scores"]
    again = command(*words)
    assert again.code == 1 and "exists already" in again.err
