"""The network with markers: trained, scored, and what may not change its mind."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch")

import torch

from sciextract.errors import ModelMismatchError, UsageError
from sciextract.inference.pipeline import Labels
from sciextract.inference.results import given_of
from sciextract_trainer.build import PieceRules
from sciextract_trainer.config import TrainConfig
from sciextract_trainer.evaluate import dev_scores
from sciextract_trainer.families import MARKERS, family_of, labels_for
from sciextract_trainer.loop import TrainingData, train
from sciextract_trainer.markers import texts
from sciextract_trainer.markers.network import MarkerNetwork
from sciextract_trainer.markers.scoring import MarkerPredictor, MarkerScorer
from tests.trainer.corpus import ONE_MENTION, TEN_SENTENCES, gold

SETTINGS = {
    "network": "markers",
    "given_entities": True,
    "entity_weight": 0.0,
    "coreference_weight": 0.0,
    "select_by": "relation",
    "batch_documents": 4,
}


@pytest.fixture(scope="module")
def config(make_config: Callable[..., TrainConfig]) -> TrainConfig:
    return make_config(**SETTINGS)


@pytest.fixture(scope="module")
def network(
    config: TrainConfig, labels: Labels, rules: PieceRules, tmp_path_factory: pytest.TempPathFactory
) -> MarkerNetwork:
    """Knows the relations of the ten sentences by heart."""
    examples = list(family_of(config).examples(TEN_SENTENCES, labels, rules))
    folder = tmp_path_factory.mktemp("markers")
    data = TrainingData(examples, TEN_SENTENCES)
    trained = train(config, labels, rules, data, folder, lambda event: None)
    assert isinstance(trained, MarkerNetwork)
    return trained


def test_relations_are_learned_between_given_entities(
    network: MarkerNetwork, labels: Labels, rules: PieceRules
) -> None:
    predictor = MarkerPredictor(network, labels, rules)
    scores = dev_scores(predictor, TEN_SENTENCES, labels.relations.symmetric)
    assert (scores.relation, scores.strict) == (100.0, 100.0)
    assert (scores.entity, scores.coreference) == (None, None)


def test_nothing_is_predicted_where_nothing_is_given(
    network: MarkerNetwork, labels: Labels, rules: PieceRules
) -> None:
    predictor = MarkerPredictor(network, labels, rules)
    assert predictor(TEN_SENTENCES[0].document).annotations.relations == ()
    assert predictor.of(ONE_MENTION).annotations.entities == ONE_MENTION.annotations.entities


def test_objects_do_not_disturb_each_other(
    network: MarkerNetwork, labels: Labels, rules: PieceRules, monkeypatch: pytest.MonkeyPatch
) -> None:
    many = gold(
        "many", "A [parser|Method], a [grammar|Method], [trees|Material] and [recall|Metric]."
    )
    mentions = given_of(many, labels).mentions
    scorer = MarkerScorer(network, labels, rules)
    together = scorer.pairs(many.document, mentions)
    monkeypatch.setattr(texts, "MOST_OBJECTS", 1)
    alone = scorer.pairs(many.document, mentions)
    np.testing.assert_array_equal(together.pairs, alone.pairs)
    np.testing.assert_allclose(together.probabilities, alone.probabilities, atol=1e-5)
    assert together.pairs.tolist() == [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]]


def test_types_of_mentions_count(network: MarkerNetwork, labels: Labels, rules: PieceRules) -> None:
    from dataclasses import replace

    document, mentions = TEN_SENTENCES[0].document, given_of(TEN_SENTENCES[0], labels).mentions
    scorer = MarkerScorer(network, labels, rules)
    other = replace(mentions, features=np.roll(mentions.features, 1, axis=1))
    one, two = scorer.pairs(document, mentions), scorer.pairs(document, other)
    assert np.abs(one.probabilities - two.probabilities).max() > 1e-3


def test_pairs_that_one_side_does_not_see_are_left_out(
    network: MarkerNetwork, labels: Labels, rules: PieceRules
) -> None:
    middle = " ".join(["model"] * 120)
    near = "The [parser|Method] beats the [grammar|Method]"
    endless = gold("endless", f"{near} {middle} the [trees|Material].")
    scorer = MarkerScorer(network, labels, rules)
    found = scorer.pairs(endless.document, given_of(endless, labels).mentions)
    assert found.pairs.tolist() == [[0, 1]]


def test_an_encoder_without_places_is_refused(labels: Labels, config: TrainConfig) -> None:
    from transformers import DebertaV2Config, DebertaV2Model

    encoder = DebertaV2Model(
        DebertaV2Config(
            vocab_size=20, hidden_size=8, num_hidden_layers=1, num_attention_heads=1,
            intermediate_size=8,
        )
    )  # fmt: skip
    with pytest.raises(ModelMismatchError, match=r"absolute positions.*deberta-v2"):
        MarkerNetwork(encoder, 8, labels, config)


@pytest.mark.parametrize("kind", ["bert", "roberta"])
def test_places_are_counted_as_the_encoder_counts_them(
    kind: str, labels: Labels, config: TrainConfig
) -> None:
    """A text without markers has the states that the encoder gives it by itself."""
    from transformers import AutoConfig, AutoModel

    settings = AutoConfig.for_model(
        kind, vocab_size=30, hidden_size=16, num_hidden_layers=2, num_attention_heads=2,
        intermediate_size=16, max_position_embeddings=40, pad_token_id=1,
    )  # fmt: skip
    torch.manual_seed(0)
    encoder = AutoModel.from_config(settings).eval()  # type: ignore[no-untyped-call]
    network = MarkerNetwork(encoder, 16, labels, config).eval()
    ids, zeros = torch.arange(5, 15)[None], torch.zeros(1, 10, dtype=torch.long)
    seen = torch.ones(1, 10, 10, dtype=torch.bool)
    types = torch.zeros(1, 10, 1 + len(labels.entities))
    mine = network.words(ids, seen, torch.arange(10)[None], zeros, types)
    torch.testing.assert_close(mine, encoder(input_ids=ids)[0], atol=1e-5, rtol=0)


def test_markers_need_given_entities(make_config: Callable[..., TrainConfig]) -> None:
    with pytest.raises(UsageError, match=r'network = "markers" does not go with'):
        make_config(network="markers")


def test_the_packaged_recipe_is_for_this_network(schema: object, tmp_path: Path) -> None:
    from sciextract_trainer.config import load_config
    from sciextract_trainer.run import find_recipe

    config = load_config(find_recipe("sci-markers"))
    assert family_of(config) is MARKERS
    assert not labels_for(config, schema).coreference  # type: ignore[arg-type]
