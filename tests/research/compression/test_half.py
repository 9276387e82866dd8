"""Half precision: the same labels as fp32, in a folder that keeps all it had."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

pytest.importorskip("torch")
pytest.importorskip("onnxscript")

from research.compression import quantise
from sciextract.errors import ModelMismatchError
from sciextract.inference.extractor import Extractor
from sciextract.inference.model_folder import GRAPHS, PAIRS_GRAPH, open_folder, write_manifest
from sciextract.inference.onnx_network import OnnxNetwork
from sciextract_trainer.build import SubwordRules
from sciextract_trainer.warm_start import WEIGHTS
from tests.trainer.corpus import TEN_SENTENCES

Events = list[dict[str, Any]]


@pytest.fixture(scope="module")
def halved(model_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    output = tmp_path_factory.mktemp("half") / "model"
    quantise.half_precision(open_folder(model_folder), output, lambda event: None)
    return output


def test_the_folder_keeps_what_it_has_and_says_what_is_new(
    halved: Path, model_folder: Path
) -> None:
    before, after = open_folder(model_folder), open_folder(halved)
    added = {file.name for file in halved.iterdir()} - {
        file.name for file in model_folder.iterdir()
    }
    assert added == {GRAPHS["fp16"]}
    assert after.config.settings == before.config.settings
    assert after.config.origin["half precision"]["spans"] > 0
    assert after.graph(None) == halved / GRAPHS["int8"]


def test_logits_and_labels_are_those_of_fp32(halved: Path, rules: SubwordRules) -> None:
    exact, rounded = (
        OnnxNetwork(halved / GRAPHS[name], halved / PAIRS_GRAPH) for name in ("fp32", "fp16")
    )
    encoder = rules.encoder()
    texts = [sentence.document.tokens.slices(sentence.document.text) for sentence in TEN_SENTENCES]
    windows = [encoder.frame(encoder.split(words), 0, len(words)) for words in texts]
    for left, right in zip(exact.encode(windows), rounded.encode(windows), strict=True):
        assert right.first.dtype == right.span_logits.dtype == np.float32
        np.testing.assert_allclose(right.span_logits, left.span_logits, atol=1e-2)
        np.testing.assert_array_equal(right.span_logits.argmax(-1), left.span_logits.argmax(-1))


def test_weights_are_halves_and_inputs_and_outputs_stay(halved: Path) -> None:
    graphs = [onnx.load(halved / GRAPHS[name]).graph for name in ("fp32", "fp16")]
    kinds = [
        [(value.name, value.type.tensor_type.elem_type) for value in (*graph.input, *graph.output)]
        for graph in graphs
    ]
    assert kinds[0] == kinds[1]
    weights = [sum(len(tensor.raw_data) for tensor in graph.initializer) for graph in graphs]
    assert weights[1] < 0.6 * weights[0]


def test_the_same_is_predicted(halved: Path) -> None:
    document = TEN_SENTENCES[0].document
    spans = [
        [(entity.label, entity.fragments) for entity in found.annotations.entities]
        for precision in ("fp32", "fp16")
        for found in [Extractor.load(halved, precision=precision, threads=1).annotate(document)]
    ]
    assert spans[0] and spans[0] == spans[1]


def test_the_command_needs_no_gold_and_takes_int8_graphs(
    model_folder: Path, tmp_path: Path, trainer: Callable[..., Events],
    refused: Callable[..., str],
) -> None:  # fmt: skip
    model = tmp_path / "model"
    shutil.copytree(model_folder, model)
    for name in (GRAPHS["fp32"], WEIGHTS):
        (model / name).unlink()
    write_manifest(model)
    words = ["quantise", model, "--output", tmp_path / "half"]
    [told, done] = trainer(*words, "--scheme", "fp16")
    assert told["scheme"] == "fp16" and told["other_labels"] <= 2 < told["spans"]
    assert done["model"] == str(tmp_path / "half")
    assert "needs --dev" in refused(*words)
    assert "dynamic, weights4, weights7, fp16" in refused(*words, "--scheme", "fp8")
    assert "exists already" in refused(*words, "--scheme", "fp16")


def test_a_graph_that_finds_other_labels_is_refused(
    model_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(source: Path, target: Path) -> None:
        model = onnx.load(source)
        for tensor in model.graph.initializer:
            if tensor.data_type == onnx.TensorProto.FLOAT and len(tensor.dims) == 2:
                values = onnx.numpy_helper.to_array(tensor)
                tensor.CopyFrom(onnx.numpy_helper.from_array(-values, tensor.name))
        onnx.save(model, target)

    monkeypatch.setattr(quantise, "write_half", broken)
    with pytest.raises(
        ModelMismatchError, match=r"finds another label than the fp32 graph for"
    ) as e:
        quantise.half_precision(open_folder(model_folder), tmp_path / "half", lambda event: None)
    assert "--precision fp32" in e.value.hint
    assert not (tmp_path / "half").exists()
