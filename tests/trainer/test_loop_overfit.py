"""The network learns ten sentences by heart: every task, in both families."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("torch")

from torch import nn

from sciextract_trainer.build import JOINT, SubwordRules, as_joint, family_of
from sciextract_trainer.config import TrainConfig
from sciextract_trainer.evaluate import DevScores, dev_report, headline
from sciextract_trainer.loop import TrainingData, train
from tests.trainer.corpus import TEN_SENTENCES

pytestmark = pytest.mark.full

if TYPE_CHECKING:
    from sciextract.inference.pipeline import Labels

PERFECT = DevScores(entity=100.0, relation=100.0, strict=100.0, coreference=100.0, unordered=100.0)


def test_the_joint_network_learns_every_task(
    trained: nn.Module, labels: Labels, rules: SubwordRules
) -> None:
    predict = JOINT.predictor(as_joint(trained), labels, rules)
    report = dev_report(predict, TEN_SENTENCES, labels.relations.symmetric)
    assert headline(report) == PERFECT


@pytest.mark.parametrize("propagation", [0, 2])
def test_the_dygie_network_learns_every_task(
    propagation: int,
    make_config: Callable[..., TrainConfig],
    labels: Labels,
    rules: SubwordRules,
    tmp_path: Path,
) -> None:
    config = make_config(
        network="dygie",
        coref_propagation=propagation,
        coref_spans_per_word=2.0,  # a fresh pruner that hides gold mentions learns nothing of them
        epochs=40,
        evaluate_every=10,
    )
    family = family_of(config)
    examples = list(family.examples(TEN_SENTENCES, labels, rules))
    data = TrainingData(examples, TEN_SENTENCES)
    network = train(config, labels, rules, data, tmp_path, lambda event: None)
    predict = family.predictor(network, labels, rules)
    report = dev_report(predict, TEN_SENTENCES, labels.relations.symmetric)
    assert headline(report) == PERFECT
