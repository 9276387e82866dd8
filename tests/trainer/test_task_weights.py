"""A task of weight 0 is not computed, not scored, not chosen by and not predicted."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("torch")

import torch

from research.reporting import as_mappings
from sciextract import formats
from sciextract.documents.annotations import Layer
from sciextract.documents.schema import LabelSchema
from sciextract.errors import UsageError
from sciextract.inference.extractor import Extractor
from sciextract.inference.model_folder import CONFIG
from sciextract_trainer.build import SubwordRules, build_network, family_of
from sciextract_trainer.config import TrainConfig, config_from
from sciextract_trainer.data.examples import collate, examples_from
from sciextract_trainer.evaluate import DEV_SETTINGS, dev_settings, learned_layers, scored_layers
from sciextract_trainer.hardware import CPU
from sciextract_trainer.loop import TrainingData, train
from sciextract_trainer.network.joint import JointNetwork
from sciextract_trainer.network.training_step import Losses, batch_losses
from sciextract_trainer.run import TrainingJob, run_training
from tests.trainer.corpus import TEN_SENTENCES

if TYPE_CHECKING:
    from sciextract.inference.pipeline import Labels

Config = Callable[..., TrainConfig]
NER = {"relation_weight": 0.0, "coreference_weight": 0.0, "select_by": "entity"}


def _losses(
    config: TrainConfig, labels: Labels, rules: SubwordRules
) -> tuple[JointNetwork, Losses, list[int]]:
    """A backward pass; the pairs and links that were scored are counted."""
    counted: list[int] = []
    network = build_network(config, labels)
    network.pairs.register_forward_hook(
        lambda module, arrays, scores: counted.extend(len(batch) for batch in scores)
    )
    examples = list(examples_from(TEN_SENTENCES, labels, rules.encoder(), rules.limit))
    torch.manual_seed(0)
    losses = batch_losses(network, collate(examples, rules.pad), config, labels.relations)
    losses.total(config).backward()  # type: ignore[no-untyped-call]
    return network, losses, counted


def test_entities_alone_score_no_pair(
    make_config: Config, labels: Labels, rules: SubwordRules
) -> None:
    network, losses, counted = _losses(make_config(**NER), labels, rules)
    assert counted == []
    assert losses.entity > 0 and losses.relation == losses.coreference == 0
    assert all(parameter.grad is None for parameter in network.pairs.parameters())


@pytest.mark.parametrize(
    ("off", "place"), [("relation_weight", 0), ("coreference_weight", 1), ("entity_weight", None)]
)
def test_the_other_tasks_lose_what_they_lost_before(
    make_config: Config, labels: Labels, rules: SubwordRules, off: str, place: int | None
) -> None:
    _, all_three, before = _losses(make_config(), labels, rules)
    _, losses, counted = _losses(make_config(**{off: 0.0}), labels, rules)
    assert counted == [0 if row == place else count for row, count in enumerate(before)]
    for task in ("entity", "relation", "coreference"):
        expected = 0.0 if off.startswith(task) else getattr(all_three, task).item()
        assert getattr(losses, task).item() == pytest.approx(expected, rel=1e-6)


def test_an_epoch_is_not_chosen_by_a_task_that_is_not_learned() -> None:
    with pytest.raises(UsageError) as caught:
        config_from(
            {"encoder": "x", "relation_weight": 0.0, "select_by": "relation"}, "recipe.toml"
        )
    assert "relation_weight = 0" in caught.value.message
    assert "mean, entity, coreference" in caught.value.hint


def test_some_task_has_to_be_learned() -> None:
    weights = {f"{task}_weight": 0 for task in ("entity", "relation", "coreference")}
    with pytest.raises(UsageError, match="are all 0"):
        config_from({"encoder": "x", **weights}, "recipe.toml")


def test_only_learned_layers_are_scored(make_config: Config) -> None:
    config = make_config(coreference_weight=0.0)
    both = {Layer.ENTITIES, Layer.RELATIONS}
    assert learned_layers(config) == both
    assert scored_layers(config, TEN_SENTENCES[:2], None) == [both, both]
    done = [frozenset({Layer.ENTITIES, Layer.COREFERENCE}), frozenset[Layer]()]
    assert scored_layers(config, TEN_SENTENCES[:2], done) == [{Layer.ENTITIES}, set()]
    assert dev_settings(make_config()) == DEV_SETTINGS
    assert dev_settings(config).thresholds == replace(DEV_SETTINGS.thresholds, coreference=1.0)


@pytest.mark.parametrize("network", ["joint", "dygie"])
def test_the_mean_is_of_the_tasks_that_are_learned(
    make_config: Config, labels: Labels, rules: SubwordRules, network: str, tmp_path: Path
) -> None:
    events: list[dict[str, Any]] = []
    config = make_config(**NER, epochs=25, evaluate_every=25, network=network)
    examples = list(family_of(config).examples(TEN_SENTENCES, labels, rules))
    train(
        config,
        labels,
        rules,
        TrainingData(examples, TEN_SENTENCES),
        tmp_path,
        as_mappings(events.append),
    )
    dev = events[-1]
    assert (dev["relation"], dev["strict"], dev["coreference"]) == (None, None, None)
    assert dev["mean"] == dev["entity"] > 80


def test_a_model_of_entities_alone_predicts_nothing_else(
    make_config: Config, schema: LabelSchema, tmp_path: Path
) -> None:
    data = tmp_path / "gold.jsonl"
    with closing(formats.open_writer("scierc", data)) as writer:
        for item in TEN_SENTENCES:
            writer.write(item)
    folder = tmp_path / "entities"
    config = make_config(**NER, epochs=25, evaluate_every=25)
    run_training(
        TrainingJob(config, schema, data, data, tmp_path / "run", folder, "entities", CPU),
        lambda event: None,
    )
    stated = json.loads((folder / CONFIG).read_text(encoding="utf-8"))
    assert stated["scores"]["int8"]["relation"] is None
    assert stated["scores"]["int8"]["ner"] > 80
    found = Extractor.load(folder).annotate(TEN_SENTENCES[0].document).annotations
    assert found.entities and not found.relations and not found.clusters
