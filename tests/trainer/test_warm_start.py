"""A model folder becomes the network it was exported from, from each kind of weights."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("onnxscript")

import onnx
import torch
from torch import nn

from sciextract.documents.schema import LabelSchema
from sciextract.errors import ModelDamagedError, ModelMismatchError
from sciextract.inference.decoding import RelationLayout
from sciextract.inference.model_folder import (
    CONFIG,
    GRAPHS,
    PAIRS_GRAPH,
    open_folder,
    write_manifest,
)
from sciextract.inference.network import WordStates
from sciextract.inference.onnx_network import OnnxNetwork
from sciextract.inference.tokenization import EncoderInput
from sciextract.resources import bundled_models
from sciextract.text.analyse import make_document
from sciextract_trainer.build import SubwordRules, as_joint
from sciextract_trainer.config import TrainConfig
from sciextract_trainer.export import PARITY, assert_parity, random_pairs
from sciextract_trainer.network.joint import JointNetwork, TorchNetwork
from sciextract_trainer.warm_start import ENCODER, WEIGHTS, StartModel, open_start_model
from tests.trainer.corpus import TEN_SENTENCES

HALF = 2.0**-11
"""Largest relative error of half precision."""


@pytest.fixture
def only(model_folder: Path, tmp_path: Path) -> Callable[..., StartModel]:
    """The model with some of its files taken away."""

    def only(*gone: str) -> StartModel:
        folder = tmp_path / "model"
        shutil.copytree(model_folder, folder)
        for name in gone:
            (folder / name).unlink()
        write_manifest(folder)
        return open_start_model(open_folder(folder))

    return only


def windows(rules: SubwordRules) -> list[EncoderInput]:
    encoder = rules.encoder()
    texts = [item.document.tokens.slices(item.document.text) for item in TEN_SENTENCES]
    return [encoder.frame(encoder.split(words), 0, len(words)) for words in texts]


def gaps(trained: nn.Module, rebuilt: JointNetwork) -> dict[str, float]:
    """Largest difference of each parameter, as a share of its largest value."""
    new = dict(rebuilt.named_parameters())
    with torch.no_grad():
        return {
            name: ((value - new[name]).abs().max() / value.abs().max().clamp(min=1e-4)).item()
            for name, value in trained.named_parameters()
        }


def test_fp32_graphs_give_the_very_network(
    only: Callable[..., StartModel], trained: nn.Module, make_config: Callable[..., TrainConfig]
) -> None:
    start = only(WEIGHTS)
    assert start.precision == "fp32" and start.widths == (48, 48)
    rebuilt = start.network(make_config())
    assert max(gaps(trained, rebuilt).values()) == 0.0
    pairs = random_pairs(32, 1 + len(start.labels.entities), start.labels.max_span_width)
    assert assert_parity(rebuilt, start.folder.path, windows(start.rules), pairs) <= PARITY


def test_int8_weights_come_back_within_half_a_step(
    only: Callable[..., StartModel], trained: nn.Module, make_config: Callable[..., TrainConfig]
) -> None:
    start = only(WEIGHTS, GRAPHS["fp32"])
    assert start.precision == "int8"
    rebuilt = start.network(make_config())
    found = gaps(trained, rebuilt)
    assert max(found.values()) <= 0.5 / 127 * 1.01
    assert all(gap == 0.0 for name, gap in found.items() if name.startswith("pairs."))
    graph = OnnxNetwork(start.folder.path / GRAPHS["int8"], start.folder.path / PAIRS_GRAPH)
    assert _agreement(TorchNetwork(rebuilt), graph, windows(start.rules)) > 0.99


def without_lexical_features(folder: Path) -> None:
    """Makes a model folder one of feature version 1, whose pair graph takes no lexical features."""
    model = onnx.load(folder / PAIRS_GRAPH)
    graph = model.graph
    [product] = [node for node in graph.node if "link_features" in node.input]
    [total] = [node for node in graph.node if product.output[0] in node.input]
    [rest] = [name for name in total.input if name != product.output[0]]
    for node in (product, total):
        graph.node.remove(node)
    for node in graph.node:
        node.input[:] = [rest if name == total.output[0] else name for name in node.input]
    graph.input.remove(next(value for value in graph.input if value.name == "link_features"))
    graph.initializer.remove(next(i for i in graph.initializer if i.name == product.input[1]))
    onnx.save(model, folder / PAIRS_GRAPH)
    config = json.loads((folder / CONFIG).read_text()) | {"feature_version": 1}
    (folder / CONFIG).write_text(json.dumps(config))
    write_manifest(folder)


@pytest.mark.parametrize("version", [1, 2])
def test_a_model_with_or_without_lexical_features_goes_on_as_it_was(
    version: int, make_config: Callable[..., TrainConfig], tmp_path: Path
) -> None:
    folder = Path(shutil.copytree(bundled_models() / "sci", tmp_path / "sci"))
    if version == 1:
        without_lexical_features(folder)
    start = open_start_model(open_folder(folder))
    assert start.folder.config.feature_version == version
    network = start.network(make_config())
    graph = OnnxNetwork(start.folder.graph(None), start.folder.path / PAIRS_GRAPH)
    types, width = 1 + len(start.labels.entities), start.labels.max_span_width
    for pairs in random_pairs(network.spans.first.in_features, types, width):
        mine, theirs = TorchNetwork(network).score_pairs(pairs), graph.score_pairs(pairs)
        assert np.abs(mine.link_scores - theirs.link_scores).max(initial=0) <= PARITY


def test_half_precision_weights_are_preferred(
    only: Callable[..., StartModel], trained: nn.Module, make_config: Callable[..., TrainConfig]
) -> None:
    start = only()
    assert start.precision == "fp16" and start.widths == (48, 48)
    assert max(gaps(trained, start.network(make_config())).values()) <= HALF
    size = (start.folder.path / WEIGHTS).stat().st_size
    assert size < 1.3 * 2 * sum(value.numel() for value in trained.parameters())


def test_the_tokenizer_comes_from_the_folder(
    only: Callable[..., StartModel], rules: SubwordRules
) -> None:
    start = only()
    for name in ("prefix", "suffix", "unknown", "mask", "pad", "limit"):
        assert getattr(start.rules, name) == getattr(rules, name)
    for mine, theirs in zip(windows(start.rules), windows(rules), strict=True):
        np.testing.assert_array_equal(mine.input_ids, theirs.input_ids)


def test_the_recipe_takes_the_sizes_of_the_weights(
    only: Callable[..., StartModel], make_config: Callable[..., TrainConfig]
) -> None:
    start = only()
    config = start.fit(make_config(span_width=7, hidden_width=9, max_span_width=99))
    assert (config.span_width, config.hidden_width, config.max_span_width) == (48, 48, 4)


def test_frozen_embeddings_do_not_learn(
    only: Callable[..., StartModel], make_config: Callable[..., TrainConfig]
) -> None:
    start = only()
    for frozen in (True, False):
        network = start.network(make_config(freeze_embeddings=frozen))
        learning = {name for name, value in network.named_parameters() if value.requires_grad}
        assert ("words.encoder.embeddings.word_embeddings.weight" in learning) is not frozen


def test_a_folder_without_architecture_is_refused(only: Callable[..., StartModel]) -> None:
    with pytest.raises(ModelMismatchError, match=r"has no encoder\.json"):
        only(ENCODER)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"model_type": 7}'])
def test_a_damaged_architecture_is_said(model_folder: Path, tmp_path: Path, text: str) -> None:
    folder = tmp_path / "model"
    shutil.copytree(model_folder, folder)
    (folder / ENCODER).write_text(text, encoding="utf-8")
    write_manifest(folder)
    with pytest.raises(ModelDamagedError, match=r"encoder\.json"):
        open_start_model(open_folder(folder)).network(TrainConfig(encoder="x"))


def test_weights_of_another_encoder_are_said(
    model_folder: Path, tmp_path: Path, make_config: Callable[..., TrainConfig]
) -> None:
    for gone in ((), (WEIGHTS,), (WEIGHTS, GRAPHS["fp32"])):
        folder = tmp_path / f"model{len(gone)}"
        shutil.copytree(model_folder, folder)
        for name in gone:
            (folder / name).unlink()
        values = json.loads((folder / ENCODER).read_text(encoding="utf-8"))
        (folder / ENCODER).write_text(json.dumps({**values, "num_hidden_layers": 3}))
        write_manifest(folder)
        start = open_start_model(open_folder(folder))
        with pytest.raises(ModelDamagedError):
            start.network(make_config())


@pytest.mark.parametrize("name", [WEIGHTS, GRAPHS["fp32"]])
def test_cut_weights_are_said(model_folder: Path, tmp_path: Path, name: str) -> None:
    folder = tmp_path / "model"
    shutil.copytree(model_folder, folder)
    if name != WEIGHTS:
        (folder / WEIGHTS).unlink()
    data = (folder / name).read_bytes()
    (folder / name).write_bytes(data[: len(data) // 2])
    write_manifest(folder)
    with pytest.raises(ModelDamagedError, match=name):
        open_start_model(open_folder(folder))


@pytest.mark.skipif(
    not (bundled_models() / "sci" / "manifest.json").is_file(), reason="no bundled model yet"
)
def test_the_bundled_model_can_be_trained_further(schema: LabelSchema) -> None:
    start = open_start_model(open_folder(bundled_models() / "sci"))
    assert start.precision == "int8" and start.labels.entities == tuple(schema.entity_labels)
    network = start.network(TrainConfig(encoder="sci"))
    graph = OnnxNetwork(start.folder.path / GRAPHS["int8"], start.folder.path / PAIRS_GRAPH)
    text = "We train a river model for otter counting. It beats the pebble baseline on night data."
    words = make_document("otters", text).tokens.slices(text)
    encoder = start.rules.encoder()
    window = encoder.frame(encoder.split(words), 0, len(words))
    assert _agreement(TorchNetwork(network), graph, [window]) > 0.99


def _agreement(mine: TorchNetwork, theirs: OnnxNetwork, texts: Sequence[EncoderInput]) -> float:
    """Share of cells with the same best type; int8 graphs round activations, too."""
    pairs: list[tuple[WordStates, WordStates]] = [
        (mine.encode([text])[0], theirs.encode([text])[0]) for text in texts
    ]
    same = [a.span_logits.argmax(axis=2) == b.span_logits.argmax(axis=2) for a, b in pairs]
    return float(np.concatenate(same).mean())


def test_an_exported_folder_is_trained_on_and_exported_again(
    only: Callable[..., StartModel], trained: nn.Module, make_config: Callable[..., TrainConfig]
) -> None:
    """Half precision is exact from the second export on, so that rounds do not pile up rounding."""
    start = only()
    network = start.network(make_config())
    halves = {name: value.detach().half().float() for name, value in network.named_parameters()}
    assert all(torch.equal(halves[name], value) for name, value in network.named_parameters())
    assert as_joint(network) is network


def test_other_labels_keep_what_both_know(
    only: Callable[..., StartModel], make_config: Callable[..., TrainConfig]
) -> None:
    start = only()
    old = start.labels
    layout = RelationLayout(("PART-OF", "CITES", "COMPARE"), frozenset({"COMPARE"}))
    new = replace(old, entities=("Gadget", "Task", "Method"), relations=layout)
    wider = start.with_labels(new)
    assert wider.new_labels == ("Gadget", "CITES")
    before, after = start.network(make_config()), wider.network(make_config())
    one, two = before.spans.out[4], after.spans.out[4]
    assert isinstance(one, nn.Linear) and isinstance(two, nn.Linear)
    task, method = (1 + old.entities.index(name) for name in ("Task", "Method"))
    assert torch.equal(two.weight[[0, 2, 3]], one.weight[[0, task, method]])
    assert torch.equal(two.bias[[0, 2, 3]], one.bias[[0, task, method]])
    columns = after.pairs.link_span.types.weight
    assert not columns[:, 1].any()
    assert torch.equal(columns[:, 2], before.pairs.link_span.types.weight[:, task])
    one, two = before.pairs.relation.out[2], after.pairs.relation.out[2]
    assert isinstance(one, nn.Linear) and isinstance(two, nn.Linear)
    was, now = (classes.forward_class("PART-OF") for classes in (old.relations, layout))
    inverse = int(old.relations.mirror()[was]), int(layout.mirror()[now])
    assert torch.equal(two.weight[now], one.weight[was])
    assert torch.equal(two.weight[inverse[1]], one.weight[inverse[0]])
    assert torch.equal(after.spans.first.weight, before.spans.first.weight)
