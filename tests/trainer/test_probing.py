"""Heads of new labels learn before the encoder does."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

from sciextract.documents.schema import LabelSchema
from sciextract.inference.model_folder import open_folder
from sciextract_trainer.build import SubwordRules, labels_of
from sciextract_trainer.config import TrainConfig
from sciextract_trainer.data.examples import collate, examples_from
from sciextract_trainer.loop import TrainingData
from sciextract_trainer.warm_start import RememberedStates, open_start_model, probe
from tests.trainer.corpus import TEN_SENTENCES


def test_states_are_computed_once_and_padding_is_zero(
    model_folder: Path, rules: SubwordRules, make_config: Callable[..., TrainConfig]
) -> None:
    start = open_start_model(open_folder(model_folder))
    encoder = start.network(make_config()).words.encoder
    calls: list[int] = []
    encoder.register_forward_hook(lambda module, given, found: calls.append(1))
    remembered = RememberedStates(encoder).train()
    examples = list(examples_from(TEN_SENTENCES, start.labels, rules.encoder(), rules.limit))[:3]
    batch = collate(examples, rules.pad)
    with torch.no_grad():
        [first], [again] = (remembered(batch.input_ids, batch.attention_mask) for _ in range(2))
        expected = encoder.eval()(input_ids=batch.input_ids, attention_mask=batch.attention_mask)[0]
    assert len(calls) == 2 and torch.equal(first, again)
    seen = batch.attention_mask.bool()
    assert torch.allclose(first[seen], expected[seen], atol=2e-3) and not first[~seen].any()


def test_only_heads_of_new_labels_learn(
    model_folder: Path, schema: LabelSchema, make_config: Callable[..., TrainConfig], tmp_path: Path
) -> None:
    start = open_start_model(open_folder(model_folder))
    one, *others = schema.entities
    renamed = replace(schema, entities=(replace(one, label="Novelty"), *others))
    start = start.with_labels(labels_of(renamed, start.labels.max_span_width))
    config = make_config(probe_epochs=3)
    examples = examples_from(TEN_SENTENCES, start.labels, start.rules.encoder(), start.rules.limit)
    network = start.network(config)
    before = {name: parameter.detach().clone() for name, parameter in network.named_parameters()}
    probe(network, start, config, TrainingData(list(examples), []), tmp_path, torch.device("cpu"))
    after = dict(network.named_parameters())
    assert before.keys() == after.keys()
    changed = {name.split(".")[0] for name in after if not torch.equal(before[name], after[name])}
    assert changed == {"spans"}
    assert any(parameter.requires_grad for parameter in network.words.encoder.parameters())
