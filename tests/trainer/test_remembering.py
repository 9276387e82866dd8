"""A remembering network says what the network itself says, and asks it once."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

pytest.importorskip("torch")

from torch import nn

from sciextract.inference.network import Network, PairInput, PairScores, WordStates
from sciextract.inference.pipeline import Labels, Pipeline
from sciextract.inference.results import annotate
from sciextract.inference.tokenization import EncoderInput
from sciextract_trainer.build import SubwordRules, as_joint
from sciextract_trainer.evaluate import DEV_SETTINGS
from sciextract_trainer.network.joint import RememberingNetwork, TorchNetwork
from tests.trainer.corpus import TEN_SENTENCES


class Counting:
    """Counts how many windows and lists of pairs a network is asked for."""

    def __init__(self, network: Network) -> None:
        self._network = network
        self.windows = self.lists = 0

    def encode(self, windows: Sequence[EncoderInput]) -> list[WordStates]:
        self.windows += len(windows)
        return self._network.encode(windows)

    def score_pairs(self, pairs: PairInput) -> PairScores:
        self.lists += 1
        return self._network.score_pairs(pairs)


def _pipeline(network: Network, labels: Labels, rules: SubwordRules) -> Pipeline:
    return Pipeline(network, rules.encoder(), labels, rules.limit)


def test_it_predicts_what_the_network_predicts_for_all_settings(
    trained: nn.Module, labels: Labels, rules: SubwordRules
) -> None:
    plain = TorchNetwork(as_joint(trained))
    remembering = _pipeline(RememberingNetwork(plain), labels, rules)
    for entity in (0.1, 0.5, 0.9):
        settings = DEV_SETTINGS.with_thresholds({"entity": entity})
        for item in TEN_SENTENCES:
            expected = annotate(_pipeline(plain, labels, rules), item.document, settings)
            assert annotate(remembering, item.document, settings) == expected


def test_the_network_is_asked_once_for_the_same_text_and_settings(
    trained: nn.Module, labels: Labels, rules: SubwordRules
) -> None:
    counting = Counting(TorchNetwork(as_joint(trained)))
    pipeline = _pipeline(RememberingNetwork(counting), labels, rules)
    for entity in (0.2, 0.4, 0.2, 0.4):
        settings = DEV_SETTINGS.with_thresholds({"entity": entity})
        pipeline.predict(TEN_SENTENCES[0].document, settings)
    assert counting.windows == 1
    once = counting.lists
    pipeline.predict(TEN_SENTENCES[0].document, DEV_SETTINGS.with_thresholds({"entity": 0.2}))
    assert counting.lists == once > 0
