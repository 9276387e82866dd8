"""Graphs without guards that nothing needs: the same bits, from fewer nodes."""

from __future__ import annotations

import shutil
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("onnxscript")

import onnx
from torch import nn

import sciextract
from sciextract.inference.model_folder import GRAPHS, PAIRS_GRAPH
from sciextract.inference.onnx_network import OnnxNetwork
from sciextract.inference.tokenization import EncoderInput
from sciextract_trainer import export
from sciextract_trainer.build import SubwordRules, as_joint
from sciextract_trainer.export import drop_guards, has_full_attention, quantise_int8

BUNDLED = Path(sciextract.__file__).parent / "bundled"
TEXTS = [["otters"], ["river", "kite"] * 30, ["we", "count", "."]]


@pytest.fixture
def windows(rules: SubwordRules) -> list[EncoderInput]:
    """Windows of very different lengths, which pad each other."""
    encoder = rules.encoder()
    return [encoder.frame(encoder.split(words), 0, len(words)) for words in TEXTS]


@pytest.fixture
def guarded(
    trained: nn.Module,
    windows: list[EncoderInput],
    model_folder: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Path:
    """A folder with the graph as the exporter makes it, in fp32 and int8."""
    monkeypatch.setattr(export, "has_full_attention", lambda encoder: False)
    export.export_encoder(as_joint(trained), tmp_path / GRAPHS["fp32"], windows[1])
    quantise_int8(tmp_path / GRAPHS["fp32"], tmp_path / GRAPHS["int8"])
    shutil.copy(model_folder / PAIRS_GRAPH, tmp_path)
    return tmp_path


def _kinds(path: Path) -> Counter[str]:
    return Counter(node.op_type for node in onnx.load(path).graph.node)


def _said(folder: Path, precision: str, windows: list[EncoderInput]) -> list[np.ndarray]:
    network = OnnxNetwork(folder / GRAPHS[precision], folder / PAIRS_GRAPH, threads=1)
    return [states.span_logits for states in network.encode(windows)]


@pytest.mark.parametrize("precision", ["fp32", "int8"])
def test_the_same_bits_without_guards(
    guarded: Path, windows: list[EncoderInput], precision: str
) -> None:
    path = guarded / GRAPHS[precision]
    before, layers = _said(guarded, precision, windows), _kinds(path)["Softmax"]
    assert _kinds(path)["IsNaN"] == layers > 0
    assert drop_guards(path) == layers
    assert _kinds(path)["IsNaN"] == 0 and _kinds(path)["Softmax"] == layers
    for one, other in zip(before, _said(guarded, precision, windows), strict=True):
        assert np.isfinite(one).all()
        np.testing.assert_array_equal(one, other)
    assert drop_guards(path) == 0


def test_it_makes_no_difference_when_guards_go(guarded: Path, model_folder: Path) -> None:
    """Before int8 or behind it: models that were made before have the bytes of those that are made now."""
    for precision in ("fp32", "int8"):
        drop_guards(guarded / GRAPHS[precision])
    again = guarded / "again.onnx"
    quantise_int8(guarded / GRAPHS["fp32"], again)
    assert _kinds(again) == _kinds(guarded / GRAPHS["int8"])
    assert again.read_bytes() == (guarded / GRAPHS["int8"]).read_bytes()
    assert (guarded / GRAPHS["fp32"]).read_bytes() == (model_folder / GRAPHS["fp32"]).read_bytes()


@pytest.mark.parametrize("name", ["sci", "bio"])
def test_the_bundled_models_have_none(name: str) -> None:
    assert _kinds(BUNDLED / name / GRAPHS["int8"])["IsNaN"] == 0


def test_encoders_that_look_at_neighbours_only_keep_them() -> None:
    def encoder(kind: str) -> nn.Module:
        module = nn.Linear(1, 1)
        module.config = SimpleNamespace(model_type=kind)  # type: ignore[assignment]
        return module

    assert has_full_attention(encoder("bert"))
    assert not has_full_attention(encoder("modernbert")) and not has_full_attention(nn.Linear(1, 1))
