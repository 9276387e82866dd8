"""Every family of encoders learns, is exported, predicts and is trained on, as all others do."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("onnxscript")

import onnxruntime
import torch

from sciextract.errors import ModelDamagedError
from sciextract.inference.extractor import Extractor
from sciextract.inference.model_folder import GRAPHS, PAIRS_GRAPH, open_folder, write_manifest
from sciextract.inference.network import WordStates
from sciextract.inference.onnx_network import OnnxNetwork
from sciextract.inference.tokenization import EncoderInput
from sciextract_trainer.build import SubwordRules
from sciextract_trainer.export import PARITY
from sciextract_trainer.network.joint import TorchNetwork
from sciextract_trainer.warm_start import WEIGHTS, open_start_model
from tests.trainer.corpus import TEN_SENTENCES
from tests.trainer.encoders.conftest import EXPORTED, Learned

SPARED = ("word_embeddings", "embeddings.weight")
"""The input embeddings, under the families' names for them."""


def windows(rules: SubwordRules, most: int = 10) -> list[EncoderInput]:
    encoder = rules.encoder()
    texts = [item.document.tokens.slices(item.document.text) for item in TEN_SENTENCES]
    texts += [("kite",), ("Kite", "🧬", "x" * 300)]
    splits = [(encoder.split(words), len(words)) for words in texts[-most:]]
    return [encoder.frame(split, 0, count) for split, count in splits]


def gap(left: WordStates, right: WordStates) -> float:
    names = ("first", "last", "span_logits")
    return max(float(np.abs(getattr(left, n) - getattr(right, n)).max()) for n in names)


def worst(left: list[WordStates], right: list[WordStates]) -> float:
    return max(gap(a, b) for a, b in zip(left, right, strict=True))


def test_training_lowers_the_loss(learned: Learned) -> None:
    before, after = learned.losses
    assert after < before


def test_all_but_frozen_embeddings_learn(learned: Learned) -> None:
    names = {name for name, _ in learned.network.named_parameters()}
    still = sorted(names - learned.changed)
    assert [name for name in still if name.endswith(SPARED)] == still
    assert len(still) == 1


@EXPORTED
def test_torch_and_onnx_say_the_same(
    learned: Learned, exported: Path, family_rules: SubwordRules
) -> None:
    texts = windows(family_rules)
    served = OnnxNetwork(exported / GRAPHS["fp32"], exported / PAIRS_GRAPH)
    mine = TorchNetwork(learned.network)
    assert worst(mine.encode(texts), served.encode(texts)) <= PARITY
    assert worst(mine.encode(texts[:1]), served.encode(texts[:1])) <= PARITY


def test_padding_changes_nothing(learned: Learned, family_rules: SubwordRules) -> None:
    texts = windows(family_rules)
    mine = TorchNetwork(learned.network)
    for one, text in zip(mine.encode(texts), texts, strict=True):
        [alone] = mine.encode([text])
        for name in ("first", "last"):  # spans beyond the last word are no spans, and differ
            assert np.abs(getattr(one, name) - getattr(alone, name)).max() <= PARITY


def test_the_longest_window_has_places(learned: Learned, family_rules: SubwordRules) -> None:
    encoder = family_rules.encoder()
    split = encoder.split(["kite"] * family_rules.limit)
    words = int(np.searchsorted(split.starts, family_rules.limit, side="right")) - 1
    frame = encoder.frame(split, 0, words)
    assert len(frame.input_ids) + split.counts[0] > family_rules.limit
    [states] = TorchNetwork(learned.network).encode([frame])
    assert np.isfinite(states.span_logits).all()


@EXPORTED
@pytest.mark.parametrize("precision", ["int8", "fp32"])
def test_texts_are_annotated(exported: Path, precision: str) -> None:
    extractor = Extractor.load(exported, precision=precision, threads=1)
    long = " ".join(item.document.text for item in TEN_SENTENCES * 3)
    results = extractor([TEN_SENTENCES[0].document.text, long, "🧬 \x00", ""])
    assert [result.document.text for result in results][1] == long


@EXPORTED
def test_half_precision_is_trained_on(learned: Learned, exported: Path) -> None:
    start = open_start_model(open_folder(exported))
    assert start.precision == "fp16"
    assert max(differences(learned, start.network(learned.config))) <= 2.0**-10


@EXPORTED
@pytest.mark.parametrize("gone", [(WEIGHTS,), (WEIGHTS, GRAPHS["fp32"])], ids=["fp32", "int8"])
def test_graphs_are_trained_on(
    learned: Learned, exported: Path, family: str, gone: tuple[str, ...], tmp_path: Path
) -> None:
    folder = tmp_path / "model"
    shutil.copytree(exported, folder)
    for name in gone:
        (folder / name).unlink()
    write_manifest(folder)
    start = open_start_model(open_folder(folder))
    if family == "lstm":
        with pytest.raises(ModelDamagedError, match="lstm") as caught:  # its graph mixes the gates
            start.network(learned.config)
        assert WEIGHTS in caught.value.hint
        return
    step = 0.0 if start.precision == "fp32" else 0.51 / 127
    assert max(differences(learned, start.network(learned.config))) <= step


def differences(learned: Learned, rebuilt: torch.nn.Module) -> list[float]:
    """Largest difference of each parameter, as a share of its largest value."""
    new = dict(rebuilt.named_parameters())
    assert new.keys() == dict(learned.network.named_parameters()).keys()
    with torch.no_grad():
        return [
            ((value - new[name]).abs().max() / value.abs().max().clamp(min=1e-4)).item()
            for name, value in learned.network.named_parameters()
        ]


@pytest.mark.usefixtures("traced_each_time")
def test_an_lstm_is_exported_with_any_length_each_time(tmp_path: Path) -> None:
    from research.encoder_files import WordVectorsConfig, WordVectorsModel
    from sciextract_trainer.encoders.loading import WordEncoder
    from sciextract_trainer.export import export_module

    settings = WordVectorsConfig(vocab_size=9, vector_size=4, lstm_layers=1, lstm_size=2)
    ids = torch.randint(0, 9, (2, 7))
    places, texts, subwords, words = torch.arange(7), *map(torch.export.Dim, ("t", "p", "w"))
    shapes = ({0: texts, 1: subwords}, {0: texts, 1: subwords}, {0: words}, {0: words})
    for time in range(2):
        module = WordEncoder(WordVectorsModel(settings), 0.0).eval()
        values = (ids, torch.ones_like(ids), places, places)
        path = tmp_path / f"{time}.onnx"
        export_module(module, values, path, ("ids", "mask", "f", "l"), ("first", "last"), shapes)
        session = onnxruntime.InferenceSession(path)
        for length in (3, 11):
            longer = np.ones((1, length), np.int64)
            given = {"ids": longer, "mask": longer, "f": np.arange(2), "l": np.arange(2)}
            states = session.run(None, given)
            assert [state.shape[-2] for state in states] == [2, 2]
