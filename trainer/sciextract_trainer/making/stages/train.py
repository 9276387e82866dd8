"""``kind = "train"``: a network on an encoder learns from gold, from soft labels, or from both."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from torch import nn

from sciextract.inference.pipeline import Labels
from sciextract_trainer.build import SubwordRules
from sciextract_trainer.checkpoint import load_weights
from sciextract_trainer.config import TrainConfig, load_config
from sciextract_trainer.data.examples import Example, examples_from
from sciextract_trainer.data.gold import read_gold
from sciextract_trainer.data.soft import soft_examples
from sciextract_trainer.families import family_of
from sciextract_trainer.loop import BEST
from sciextract_trainer.making.products import EncoderMade, LabelsMade, NetworkMade, Product
from sciextract_trainer.making.stage import Stage
from sciextract_trainer.making.stages.label import read_labels
from sciextract_trainer.making.stages.network_folder import dev_scores_of, write_checked_model
from sciextract_trainer.making.stages.training import setting_of, train_stage
from sciextract_trainer.run import find_recipe

if TYPE_CHECKING:
    from sciextract_trainer.making.workshop import Workshop


@dataclass(frozen=True, kw_only=True)
class Train(Stage):
    """A training on gold, on soft labels or on both.

    Attributes:
        encoder: What it starts from, with fresh heads.
        start: Stage whose network it goes on from instead; of the same encoder.
        recipe: Training recipe.
        gold: Gold in the data folder; none when empty.
        gold_times: How often an epoch has each gold document.
        labels: Stages that labelled texts.
        change: Settings that replace the recipe's, such as ``seed``.
    """

    makes: ClassVar[type[Product]] = NetworkMade

    encoder: str
    recipe: str
    start: str = ""
    gold: str = ""
    gold_times: int = 1
    labels: tuple[str, ...] = ()
    change: Mapping[str, Any] = field(default_factory=dict)

    def uses(self) -> Mapping[str, type[Product]]:
        """Earlier stages."""
        start = {self.start: NetworkMade} if self.start else {}
        return {self.encoder: EncoderMade, **start, **dict.fromkeys(self.labels, LabelsMade)}

    def inputs(self, shop: Workshop) -> dict[str, str]:
        """Files and recipe."""
        gold = shop.hashes([shop.file(self.gold)]) if self.gold else {}
        recipe = {k: v for k, v in self._config("").to_json().items() if k != "encoder"}
        return {**gold, "recipe": json.dumps(recipe, sort_keys=True)}

    def work(self, shop: Workshop, folder: Path) -> None:
        """Makes it, or goes on."""
        made = self.product(shop, folder)
        setting = setting_of(shop, made.config)
        examples = self._examples(shop, setting.labels, setting.rules)
        network = self._network(shop, setting.config, setting.labels)
        train_stage(shop, folder, setting, examples, network)
        write_checked_model(shop, made)

    def product(self, shop: Workshop, folder: Path) -> NetworkMade:
        """What it made."""
        config = self._config(str(shop.made(self.encoder, EncoderMade).folder))
        return NetworkMade(folder / BEST, config, folder / "model")

    def outcome(self, folder: Path) -> dict[str, Any]:
        """Facts for the record."""
        return {"seed": self._config("").seed, "scores": dev_scores_of(folder / "model")}

    def _network(self, shop: Workshop, config: TrainConfig, labels: Labels) -> nn.Module | None:
        """The network of the stage that it goes on from."""
        if not self.start:
            return None
        network: nn.Module = family_of(config).build(config, labels)
        load_weights(shop.made(self.start, NetworkMade).weights, network)
        return network

    def _examples(self, shop: Workshop, labels: Labels, rules: SubwordRules) -> Sequence[Example]:
        subwords, found = rules.encoder(), list[Example]()
        for name in self.labels:
            labelled = read_labels(shop.made(name, LabelsMade))
            found += soft_examples(labelled, labels, subwords, rules.limit)
        if self.gold:
            gold = read_gold(shop.file(self.gold), shop.schema)
            found += list(examples_from(gold, labels, subwords, rules.limit)) * self.gold_times
        return found

    def _config(self, encoder: str) -> TrainConfig:
        return load_config(find_recipe(self.recipe), **{**self.change, "encoder": encoder})
