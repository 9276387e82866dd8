"""``python -m research selftrain``: rounds through the real entry point."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

pytest.importorskip("torch")
pytestmark = pytest.mark.xdist_group("teaching")

from sciextract.inference.model_folder import open_folder
from tests.research.teaching.conftest import Run


@pytest.fixture
def words(
    shard: Path, model_folder: Path, recipe: Path, dev_file: Path, tmp_path: Path
) -> list[object]:
    return [
        "selftrain", shard, "--model", model_folder, "--gold", dev_file, "--dev", dev_file,
        "--recipe", recipe, "--run", tmp_path / "run", "--output", tmp_path / "student",
        "--device", "cpu", "--epochs", 1,
    ]  # fmt: skip


def test_hard_labels_are_learned_beside_gold_and_a_finished_round_is_kept(
    run: Run, words: list[object], tmp_path: Path
) -> None:
    hard = [*words, "--hard", "--threshold", 0.6, "--threshold", "USED-FOR=0.8"]
    code, events, err = run(*hard)
    assert (code, events[-1]["event"]) == (0, "done"), err
    rounds = [event for event in events if event["event"] == "round"]
    assert [each["round"] for each in rounds] == [0, 1] and rounds[0]["ner"] == 100.0
    assert {"event": "data", "soft": 6, "gold": 5, "dev": 5} in events
    origin = open_folder(tmp_path / "student").config.origin
    assert origin["training data"].startswith("hard labels of 6 abstracts")
    assert '"USED-FOR": 0.8' in origin["training data"] and "tiny (" in origin["teachers"]
    noted = json.loads((tmp_path / "run" / "round-1" / "labels.json").read_text())
    assert noted["thresholds"] == {"USED-FOR": 0.8} and noted["default"] == 0.6
    code, events, err = run(*hard)
    assert [each["event"] for each in events] == ["round", "warning", "kept", "done"], err


def test_thresholds_are_for_hard_labels(run: Run, words: list[object]) -> None:
    code, _, err = run(*words, "--threshold", 0.6)
    assert code == 2 and "add --hard" in err


def test_an_unknown_label_is_refused_before_anything_is_trained(
    run: Run, words: list[object], tmp_path: Path
) -> None:
    code, _, err = run(*words, "--hard", "--threshold", "LIKES=0.5")
    assert code == 2 and "'LIKES', which is not a label of the model" in err
    assert not (tmp_path / "student").exists()
