"""Predictions on an emulated processor without VNNI; 7-bit weights."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

onnx = pytest.importorskip("onnx")

from research.processors import EMULATOR, main, seven_bits
from sciextract.inference.extractor import Extractor
from sciextract.inference.model_folder import locate_model
from sciextract.resources import data_root

TEXT = "We train a neural parser for dependency parsing and evaluate it on a benchmark dataset."


def test_seven_bits_predict_nearly_the_same(tmp_path: Path) -> None:
    folder = seven_bits(locate_model("sci"), tmp_path / "seven")
    graph = onnx.load(folder / "model.int8.onnx").graph
    weights = {node.input[1] for node in graph.node if node.op_type == "MatMulInteger"}
    arrays = [
        onnx.numpy_helper.to_array(tensor) for tensor in graph.initializer if tensor.name in weights
    ]
    assert arrays and all(array.min() >= -64 and array.max() <= 63 for array in arrays)
    [here], [there] = (Extractor.load(model, threads=1)([TEXT]) for model in ("sci", folder))
    labels = [{entity.label for entity in one.annotations.entities} for one in (here, there)]
    assert labels[0] and labels[0] == labels[1]


@pytest.mark.full
@pytest.mark.skipif(shutil.which(EMULATOR[0]) is None, reason="qemu-user is not installed")
def test_an_emulated_processor_finds_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    gold = Path(str(data_root() / "sample_data" / "gold.jsonl"))
    main([str(gold), "--documents", "1"])
    found = json.loads(capsys.readouterr().out)
    assert found["of one only"] == 0 and found["largest difference"] < 0.05
    assert found["F1 here"] == found["F1 emulated"]
