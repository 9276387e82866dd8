"""``python -m research distill model``: through the real entry point, with teachers of two tokenizers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

pytest.importorskip("torch")
pytestmark = pytest.mark.xdist_group("teaching")

from sciextract import Extractor
from sciextract.inference.model_folder import open_folder
from tests.research.teaching.conftest import Run


@pytest.fixture
def words(
    shard: Path, model_folder: Path, other_folder: Path, other_encoder: Path, recipe: Path,
    dev_file: Path, tmp_path: Path,
) -> list[object]:  # fmt: skip
    """Two teachers of two tokenizers and sizes; the student has the tokenizer of the second."""
    return [
        "distill", "model", shard, "--teacher", model_folder, "--teacher", other_folder,
        "--weight", 3, "--weight", 1, "--encoder", other_encoder, "--recipe", recipe,
        "--dev", dev_file, "--run", tmp_path / "run", "--output", tmp_path / "student", "--device", "cpu",
    ]  # fmt: skip


def test_two_teachers_make_a_student_that_annotates(
    run: Run, words: list[object], dev_file: Path, tmp_path: Path
) -> None:
    code, events, err = run(*words, "--gold", dev_file, "--gold-times", 2, "--minutes", 0)
    assert (code, events[-1]["event"]) == (0, "stopped"), err
    assert not list((tmp_path / "run" / "labels").glob("*.npz"))
    code, events, err = run(*words, "--gold", dev_file, "--gold-times", 2)
    assert (code, events[-1]["event"]) == (0, "done"), err
    assert {"event": "labelled", "documents": 6, "of": 6} in events
    assert {"event": "data", "soft": 6, "gold": 10, "dev": 5} in events
    origin = open_folder(tmp_path / "student").config.origin
    assert "tiny (" in origin["teachers"] and "weight 3" in origin["teachers"]
    assert "invented-000.jsonl.gz, sha256" in origin["texts"]
    assert "2 times an epoch" in origin["additional gold"]
    [found] = Extractor.load(tmp_path / "student")(["Kite networks share one loss."])
    assert found.document.text
    labels = json.loads((tmp_path / "run" / "labels" / "labels.json").read_text())
    assert [teacher["weight"] for teacher in labels["teachers"]] == [3.0, 1.0]
    code, _, err = run(*words, "--temperature", 2)
    assert code == 2 and "labels were made with temperature 1.0, now it is 2.0" in err


@pytest.mark.parametrize(
    ("change", "code", "told"),
    [
        (["--weight", 1], 2, "3 weights for 2 teachers"),
        (["--temperature", 0], 2, "temperature = 0 is not possible"),
        (["--schema", "genia"], 1, "the student's schema 'genia' differ: the entity labels of one"),
        (["--teacher", "none"], 2, "2 weights for 3 teachers"),
        (["--recipe", "none"], 4, "no recipe is called 'none'"),
    ],
)
def test_what_cannot_be_is_said(
    run: Run, words: list[object], change: list[object], code: int, told: str
) -> None:
    found, _, err = run(*words, *change)
    assert found == code and told in err


def test_the_help_has_an_example(run: Run) -> None:
    code, _, _ = run("distill", "model", "--help")
    assert code == 0
