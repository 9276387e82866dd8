"""torch and ONNX Runtime say the same, for inputs of every size."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("onnxscript")

from torch import nn

from sciextract.errors import ModelMismatchError, UsageError
from sciextract.inference.model_folder import GRAPHS, PAIRS_GRAPH
from sciextract.inference.network import WordStates
from sciextract.inference.onnx_network import OnnxNetwork
from sciextract.inference.tokenization import EncoderInput
from sciextract_trainer.build import SubwordRules, as_joint
from sciextract_trainer.export import EXPORTED, PARITY, assert_parity, random_pairs
from sciextract_trainer.network.joint import TorchNetwork

if TYPE_CHECKING:
    from sciextract.inference.pipeline import Labels

TEXTS = [
    ["otters"],
    ["the", "lantern", "corpus"],
    ["kite"] * 40,
    ["🧬", "\x00", "x" * 300],
    ["we", "train", "a", "river", "model", "for", "otter", "counting", "."],
]


def _windows(rules: SubwordRules, texts: Sequence[Sequence[str]]) -> list[EncoderInput]:
    encoder = rules.encoder()
    return [encoder.frame(encoder.split(words), 0, len(words)) for words in texts]


def _served(folder: Path, precision: str) -> OnnxNetwork:
    return OnnxNetwork(folder / GRAPHS[precision], folder / PAIRS_GRAPH, threads=1)


def _gap(left: WordStates, right: WordStates) -> float:
    names = ("first", "last", "span_logits")
    return max(float(np.abs(getattr(left, n) - getattr(right, n)).max()) for n in names)


@pytest.mark.parametrize("words", TEXTS, ids=lambda words: f"{len(words)} words")
def test_one_window_has_parity(
    words: list[str], trained: nn.Module, model_folder: Path, rules: SubwordRules
) -> None:
    windows = _windows(rules, [words])
    [mine] = TorchNetwork(as_joint(trained)).encode(windows)
    [theirs] = _served(model_folder, "fp32").encode(windows)
    assert theirs.span_logits.shape == (len(words), 4, 7)
    assert _gap(mine, theirs) <= PARITY


def test_graphs_do_not_tell_where_they_were_made(model_folder: Path) -> None:
    here = str(Path(__file__).resolve().parents[2]).encode()
    for graph in model_folder.glob("*.onnx"):
        content = graph.read_bytes()
        assert here not in content and b"site-packages" not in content


def test_a_batch_of_windows_has_parity(
    trained: nn.Module, model_folder: Path, rules: SubwordRules
) -> None:
    windows = _windows(rules, TEXTS)
    mine = TorchNetwork(as_joint(trained)).encode(windows)
    theirs = _served(model_folder, "fp32").encode(windows)
    assert max(_gap(a, b) for a, b in zip(mine, theirs, strict=True)) <= PARITY


def test_pairs_of_all_shapes_have_parity(
    trained: nn.Module, model_folder: Path, rules: SubwordRules, labels: Labels
) -> None:
    pairs = random_pairs(32, 1 + len(labels.entities), labels.max_span_width)
    shapes = {(len(p.relation_pairs), len(p.link_pairs)) for p in pairs}
    assert {0, 1} <= {count for shape in shapes for count in shape}
    assert assert_parity(as_joint(trained), model_folder, _windows(rules, TEXTS), pairs) <= PARITY


def test_parity_is_refused_for_another_network(
    trained: nn.Module,
    model_folder: Path,
    rules: SubwordRules,
    encoder_folder: Path,
    labels: Labels,
) -> None:
    import copy

    other = copy.deepcopy(as_joint(trained))
    other.spans.first.bias.data += 0.01
    with pytest.raises(ModelMismatchError, match="differ by"):
        assert_parity(other, model_folder, _windows(rules, TEXTS), [])


def test_int8_is_smaller_and_close(model_folder: Path, rules: SubwordRules) -> None:
    sizes = {name: (model_folder / file).stat().st_size for name, file in EXPORTED.items()}
    assert sizes["int8"] < sizes["fp32"]
    windows = _windows(rules, [TEXTS[4]])
    [full], [small] = (_served(model_folder, name).encode(windows) for name in ("fp32", "int8"))
    same = full.span_logits.argmax(axis=2) == small.span_logits.argmax(axis=2)
    assert same.mean() > 0.8


def test_other_families_are_not_exported() -> None:
    with pytest.raises(UsageError, match="a Linear cannot be exported"):
        as_joint(nn.Linear(1, 1))
