"""``kind = "markers"``: a teacher for relations learns from gold, with markers around the mentions."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from torch import nn

from sciextract.inference.model_folder import open_folder
from sciextract.inference.pipeline import Labels
from sciextract_trainer.checkpoint import load_encoder_weights, load_weights
from sciextract_trainer.config import TrainConfig, load_config
from sciextract_trainer.data.gold import read_gold
from sciextract_trainer.distillation.labelling import load_pipeline
from sciextract_trainer.families import MARKERS
from sciextract_trainer.loop import BEST
from sciextract_trainer.making.products import EncoderMade, MarkersMade, NetworkMade, Product
from sciextract_trainer.making.stage import Stage
from sciextract_trainer.making.stages.training import setting_of, train_stage
from sciextract_trainer.markers.batches import marked_examples
from sciextract_trainer.markers.mentions import MentionsOf, Proposed
from sciextract_trainer.markers.scoring import MarkerScorer
from sciextract_trainer.run import find_recipe

if TYPE_CHECKING:
    from sciextract_trainer.making.workshop import Workshop


@dataclass(frozen=True, kw_only=True)
class Markers(Stage):
    """A training between the entities of gold; the network teaches relations and becomes no model folder.

    Attributes:
        encoder: What it starts from, with a fresh head.
        recipe: Training recipe with ``network = "markers"``.
        gold: Gold in the data folder.
        start: Stage whose joint network, of the same encoder, lends the trained weights of its encoder; none when empty.
        mentions: Stage whose joint network proposes mentions beside the gold ones; none when empty.
        change: Settings that replace the recipe's, such as ``seed``.
    """

    makes: ClassVar[type[Product]] = MarkersMade

    encoder: str
    recipe: str
    gold: str
    start: str = ""
    mentions: str = ""
    change: Mapping[str, Any] = field(default_factory=dict)

    def uses(self) -> Mapping[str, type[Product]]:
        """Earlier stages."""
        networks = [name for name in (self.start, self.mentions) if name]
        return {self.encoder: EncoderMade, **dict.fromkeys(networks, NetworkMade)}

    def inputs(self, shop: Workshop) -> dict[str, str]:
        """Files and recipe."""
        recipe = {k: v for k, v in self._config("").to_json().items() if k != "encoder"}
        gold = shop.hashes([shop.file(self.gold)])
        return {**gold, "recipe": json.dumps(recipe, sort_keys=True)}

    def work(self, shop: Workshop, folder: Path) -> None:
        """Makes it, or goes on."""
        setting = setting_of(shop, self.product(shop, folder).config)
        gold, mentions_of = read_gold(shop.file(self.gold), shop.schema), self._mentions_of(shop)
        examples = list(marked_examples(gold, setting.labels, setting.rules, mentions_of))
        network = self._network(shop, setting.config, setting.labels)
        train_stage(shop, folder, setting, examples, network)

    def product(self, shop: Workshop, folder: Path) -> MarkersMade:
        """What it made."""
        config = self._config(str(shop.made(self.encoder, EncoderMade).folder))
        return MarkersMade(folder / BEST, config)

    def outcome(self, folder: Path) -> dict[str, Any]:
        """Facts for the record: dev F1 of relations between gold entities."""
        lines = (folder / "metrics.jsonl").read_text(encoding="utf-8").splitlines()
        best = max(float(json.loads(line)["relation"]) for line in lines)
        return {"seed": self._config("").seed, "scores": {"relation between gold entities": best}}

    def _mentions_of(self, shop: Workshop) -> MentionsOf | None:
        if not self.mentions:
            return None
        return Proposed(load_pipeline(open_folder(shop.made(self.mentions, NetworkMade).model)))

    def _network(self, shop: Workshop, config: TrainConfig, labels: Labels) -> nn.Module:
        network: nn.Module = MARKERS.build(config, labels)
        if self.start:
            load_encoder_weights(shop.made(self.start, NetworkMade).weights, network)
        return network

    def _config(self, encoder: str) -> TrainConfig:
        return load_config(find_recipe(self.recipe), **{**self.change, "encoder": encoder})


def open_scorer(shop: Workshop, made: MarkersMade) -> MarkerScorer:
    """A trained teacher for relations.

    Raises:
        ModelDamagedError: Its weights cannot be read.
    """
    setting = setting_of(shop, made.config)
    network = MARKERS.build(setting.config, setting.labels)
    load_weights(made.weights, network)
    return MarkerScorer(network.to(setting.device).eval(), setting.labels, setting.rules)
