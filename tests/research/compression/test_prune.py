"""Fewer subwords change nothing on the texts that named them; fewer heads are really gone."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("onnxscript")

import torch
from tokenizers import Tokenizer, models
from torch import nn

from research.compression.pruning import (
    cut_embeddings,
    cut_vocabulary,
    head_importance,
    least_important,
    used_subwords,
)
from sciextract.errors import UsageError
from sciextract.inference.extractor import Extractor
from sciextract.inference.model_folder import GRAPHS, open_folder
from sciextract.inference.tokenization import EncoderInput
from sciextract_trainer.build import SubwordRules, load_subword_rules
from sciextract_trainer.config import TrainConfig
from sciextract_trainer.data.examples import examples_from
from sciextract_trainer.encoders.layers import attentions, head_count, remove_heads
from sciextract_trainer.encoders.loading import load_encoder
from sciextract_trainer.families import as_joint
from sciextract_trainer.network.joint import JointNetwork, TorchNetwork
from sciextract_trainer.warm_start import open_start_model
from tests.trainer.corpus import TEN_SENTENCES

Events = list[dict[str, Any]]
FEW = [item.document for item in TEN_SENTENCES[:2]]


@pytest.fixture
def network(model_folder: Path) -> JointNetwork:
    """The trained network, to be changed."""
    return open_start_model(open_folder(model_folder)).network(TrainConfig(encoder=""))


def _windows(rules: SubwordRules) -> list[EncoderInput]:
    encoder = rules.encoder()
    texts = [document.tokens.slices(document.text) for document in FEW]
    return [encoder.frame(encoder.split(words), 0, len(words)) for words in texts]


def test_the_network_says_the_same_of_the_texts(network: JointNetwork, rules: SubwordRules) -> None:
    before = TorchNetwork(network).encode(_windows(rules))
    cut = cut_vocabulary(rules, used_subwords(rules, FEW))
    new = cut.rules(rules)
    cut_embeddings(network.words.encoder, cut.kept, new.pad)
    assert len(cut.kept) == new.tokenizer.get_vocab_size() < rules.tokenizer.get_vocab_size()
    for old, now in zip(before, TorchNetwork(network).encode(_windows(new)), strict=True):
        np.testing.assert_allclose(old.span_logits, now.span_logits, atol=1e-5)


def test_a_removed_word_falls_to_smaller_subwords(rules: SubwordRules) -> None:
    new = cut_vocabulary(rules, used_subwords(rules, FEW)).rules(rules)
    (word, kept) = ("teapot", "lantern")
    assert rules.tokenizer.encode(word, add_special_tokens=False).tokens == [word]
    assert new.tokenizer.encode(word, add_special_tokens=False).tokens == [
        "t",
        *(f"##{c}" for c in "eapot"),
    ]
    assert new.tokenizer.encode(kept, add_special_tokens=False).tokens == [kept]
    framed = new.tokenizer.encode(kept)
    assert framed.tokens == ["[CLS]", kept, "[SEP]"]
    assert (framed.ids[0], framed.ids[-1]) == (*new.prefix, *new.suffix)


def test_rare_subwords_go_where_asked(rules: SubwordRules) -> None:
    documents = [item.document for item in TEN_SENTENCES]
    all_of_them, often = (used_subwords(rules, documents, least) for least in (1, 3))
    assert often < all_of_them and used_subwords(rules, [], 1) == set()


def test_other_tokenizers_are_refused(rules: SubwordRules) -> None:
    from dataclasses import replace

    other = replace(rules, tokenizer=Tokenizer(models.BPE({"a": 0}, [])))
    with pytest.raises(UsageError, match="BPE tokenizer cannot be pruned"):
        cut_vocabulary(other, {0})


def test_a_model_with_fewer_subwords(
    model_folder: Path, gold_file: Path, tmp_path: Path, trainer: Callable[..., Events]
) -> None:
    output = tmp_path / "small"
    [told, done] = trainer(
        "prune",
        "vocabulary",
        model_folder,
        "--texts",
        gold_file,
        "--dev",
        gold_file,
        "--output",
        output,
    )
    assert told["after"]["fp32"]["ner"] == 100 and done["folder"] == str(output)
    folder = open_folder(output)
    assert "those of 5 texts" in folder.config.origin["vocabulary"]
    start = open_start_model(folder)
    again = start.network(TrainConfig(encoder=""))
    size = start.rules.tokenizer.get_vocab_size()
    assert len(again.words.encoder.get_input_embeddings().weight) == size  # type: ignore[operator]
    assert Extractor.load(output, threads=1).annotate(FEW[0]).annotations.entities


def test_an_encoder_with_fewer_subwords_can_be_trained_on(
    encoder_folder: Path, gold_file: Path, tmp_path: Path, trainer: Callable[..., Events],
    refused: Callable[..., str],
) -> None:  # fmt: skip
    output = tmp_path / "encoder"
    [told, _] = trainer(
        "prune", "vocabulary", encoder_folder, "--texts", gold_file, "--output", output
    )
    rules, encoder = load_subword_rules(str(output)), load_encoder(str(output))
    assert told["subwords"] == rules.tokenizer.get_vocab_size() == encoder.config.vocab_size  # type: ignore[union-attr]
    old = load_subword_rules(str(encoder_folder))
    for window, before in zip(_windows(rules), _windows(old), strict=True):
        assert len(window.input_ids) == len(before.input_ids)
        assert window.input_ids[0] == rules.prefix[0]
    told_again = refused(
        "prune", "vocabulary", encoder_folder, "--texts", gold_file, "--output", output
    )
    assert "exists already" in told_again


def test_a_head_without_effect_does_not_matter(
    network: JointNetwork, rules: SubwordRules, labels: Any, make_config: Callable[..., TrainConfig]
) -> None:
    block = attentions(network.words.encoder)[0]
    with torch.no_grad():
        block.output.dense.weight[:, :16] = 0  # what head 0 of 2 says goes nowhere
    examples = list(examples_from(TEN_SENTENCES[:2], labels, rules.encoder(), rules.limit))
    importance = head_importance(network, examples, make_config(), labels, rules.pad)
    assert importance[0] == pytest.approx([0.0, 1.0])
    assert sum(value**2 for value in importance[1]) == pytest.approx(1)
    before = TorchNetwork(network).encode(_windows(rules))
    remove_heads(network.words.encoder, {0: [0]})
    assert head_count(attentions(network.words.encoder)[0]) == 1
    for old, now in zip(before, TorchNetwork(network).encode(_windows(rules)), strict=True):
        np.testing.assert_allclose(old.span_logits, now.span_logits, atol=1e-5)


def test_heads_keep_their_numbers_when_more_are_removed(trained: nn.Module) -> None:
    from transformers import BertConfig, BertModel

    settings = BertConfig(
        hidden_size=32, num_hidden_layers=1, num_attention_heads=4, intermediate_size=8
    )
    encoder: Any = BertModel(settings, add_pooling_layer=False)
    wanted = encoder.encoder.layer[0].attention.self.query.weight[8:16].clone()
    remove_heads(encoder, {0: [0]})
    remove_heads(encoder, {0: [1, 2]})
    assert encoder.config.pruned_heads == {0: [0, 2, 3]}
    assert torch.equal(encoder.encoder.layer[0].attention.self.query.weight, wanted)
    with pytest.raises(UsageError, match="no head of layer 0"):
        remove_heads(encoder, {0: [0]})
    with pytest.raises(UsageError, match="cannot be pruned"):
        attentions(as_joint(trained))


def test_one_head_of_each_layer_stays() -> None:
    assert least_important([[0.1, 0.2, 0.3], [0.9, 0.8, 0.7]], 0.99) == {0: [0, 1], 1: [1, 2]}
    with pytest.raises(UsageError, match="is not possible"):
        least_important([[1.0]], 1.0)


def test_a_model_with_fewer_heads(
    model_folder: Path, gold_file: Path, tmp_path: Path, trainer: Callable[..., Events]
) -> None:
    output = tmp_path / "small"
    words = [
        "prune",
        "heads",
        model_folder,
        "--data",
        gold_file,
        "--dev",
        gold_file,
        "--output",
        output,
    ]
    [heads, told, _] = trainer(*words, "--share", "0.5")
    assert sum(map(len, heads["removed"].values())) == 2
    assert (output / GRAPHS["int8"]).stat().st_size < (model_folder / GRAPHS["int8"]).stat().st_size
    assert told["attention heads"] == "2 of 4"
    start = open_start_model(open_folder(output))
    again = start.network(TrainConfig(encoder=""))
    assert [head_count(block) for block in attentions(again.words.encoder)] == [1, 1]
    assert Extractor.load(output, threads=1).annotate(FEW[0]).annotations.entities
