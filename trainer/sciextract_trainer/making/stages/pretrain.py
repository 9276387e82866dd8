"""``kind = "pretrain"``: an encoder goes on reading unlabelled abstracts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from sciextract_trainer.making.products import EncoderMade, Product
from sciextract_trainer.making.stage import Stage
from sciextract_trainer.making.stages.steps import minutes_left, require_last_step
from sciextract_trainer.pretraining.command import run_pretraining
from sciextract_trainer.pretraining.steps import PretrainConfig, load_pretrain_config
from sciextract_trainer.run import find_recipe

if TYPE_CHECKING:
    from sciextract_trainer.making.workshop import Workshop


@dataclass(frozen=True, kw_only=True)
class Pretrain(Stage):
    """Continued masked-language training.

    Attributes:
        encoder: What it starts from.
        texts: Shards of abstracts, names or patterns in the data folder.
        most: Abstracts to read.
        recipe: Pretraining recipe.
        change: Settings that replace the recipe's.
    """

    makes: ClassVar[type[Product]] = EncoderMade

    encoder: str
    texts: tuple[str, ...]
    most: int
    recipe: str
    change: Mapping[str, Any] = field(default_factory=dict)

    def uses(self) -> Mapping[str, type[Product]]:
        """Earlier stages."""
        return {self.encoder: EncoderMade}

    def inputs(self, shop: Workshop) -> dict[str, str]:
        """Files and recipe."""
        return shop.hashes(shop.texts(self.texts)) | {"recipe": str(self._config("").to_json())}

    def work(self, shop: Workshop, folder: Path) -> None:
        """Makes it, or goes on."""
        config = self._config(str(shop.made(self.encoder, EncoderMade).folder))
        run_pretraining(
            config, shop.texts(self.texts), self.most, folder, shop.report, minutes_left(shop.until)
        )
        require_last_step(folder, config.steps)

    def product(self, shop: Workshop, folder: Path) -> EncoderMade:
        """What it made."""
        return EncoderMade(folder / "encoder")

    def _config(self, encoder: str) -> PretrainConfig:
        return load_pretrain_config(find_recipe(self.recipe), encoder=encoder, **self.change)
