"""Every scheme gives a folder that the core loads, and says what it costs."""

from __future__ import annotations

import errno
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")
pytest.importorskip("onnxscript")

from research.compression import opened
from research.compression.schemes import Scheme, read_texts
from sciextract.errors import OutputError, UsageError
from sciextract.inference.extractor import Extractor
from sciextract.inference.model_folder import GRAPHS, open_folder, write_manifest
from sciextract_trainer.warm_start import WEIGHTS, open_start_model
from tests.trainer.corpus import TEN_SENTENCES

Events = list[dict[str, Any]]
SCHEMES = {
    "dynamic": [],
    "weights4": ["--scheme", "weights4", "--block-size", "16"],
    "weights4, embeddings 8": ["--scheme", "weights4", "--block-size", "16", "--embeddings", "8"],
    "weights7": ["--scheme", "weights7", "--block-size", "16"],
}


@pytest.mark.parametrize("name", SCHEMES)
def test_every_scheme_gives_a_model(
    name: str, model_folder: Path, gold_file: Path, tmp_path: Path, trainer: Callable[..., Events]
) -> None:
    output = tmp_path / "small"
    words = ["quantise", model_folder, "--dev", gold_file, "--output", output, *SCHEMES[name]]
    [told, done] = trainer(*words)
    precision = "int4" if "weights4" in name else "int8"
    assert told["own_thresholds"]["ner"] > 80 and told["ms_per_abstract"] > 0
    assert done == {"event": "done", "model": str(output)}
    folder = open_folder(output)
    assert {file.name for file in output.glob("model*")} == {GRAPHS[precision]}
    assert folder.config.scores[precision] == told["own_thresholds"]
    assert folder.config.origin["quantisation"] == told["scheme"]
    assert "fp32" not in folder.config.scores
    found = Extractor.load(output, threads=1).annotate(TEN_SENTENCES[0].document)
    assert found.annotations.entities


def test_a_graph_is_made_of_weights_where_there_is_none(
    model_folder: Path, gold_file: Path, tmp_path: Path, trainer: Callable[..., Events],
    refused: Callable[..., str],
) -> None:  # fmt: skip
    model = tmp_path / "model"
    shutil.copytree(model_folder, model)
    (model / GRAPHS["fp32"]).unlink()
    write_manifest(model)
    words = ["quantise", model, "--dev", gold_file, "--output", tmp_path / "small", "--weights"]
    trainer(*words)
    assert open_start_model(open_folder(tmp_path / "small")).precision == "fp16"
    assert "exists already" in refused(*words)
    (model / WEIGHTS).unlink()
    write_manifest(model)
    words[-2] = tmp_path / "smaller"
    assert "round twice" in refused(*words)


@pytest.mark.parametrize("wrong", [{"kind": "half"}, {"block_size": 7}, {"embeddings": 16}])
def test_schemes_that_there_are_not(wrong: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match="is not possible") as caught:
        Scheme(**wrong)
    assert "choose from" in caught.value.hint


def test_other_labels_and_no_texts(
    model_folder: Path, gold_file: Path, tmp_path: Path, refused: Callable[..., str]
) -> None:
    words = ["quantise", model_folder, "--dev", gold_file, "--output", tmp_path / "small"]
    assert "was trained with a schema 'scierc'" in refused(*words, "--schema", "genia")
    missing = tmp_path / "nowhere.jsonl"
    assert "no texts at" in refused(*words, "--scheme", "weights7", "--calibration", missing)
    assert [document.doc_key for document in read_texts([gold_file], 2)] == ["otters", "lanterns"]


def test_a_full_disk_leaves_nothing(
    model_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("research.compression.opened.shutil.copyfile", full)
    folder = open_folder(model_folder)
    with (
        pytest.raises(OutputError, match="the disk is full"),
        opened.new_folder(tmp_path / "new") as work,
    ):
        opened.write_like(folder, work, folder.config, ())
    assert not list(tmp_path.iterdir())
