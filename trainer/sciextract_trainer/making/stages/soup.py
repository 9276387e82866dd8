"""``kind = "soup"``: the mean of the weights of several networks on one encoder."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from safetensors.torch import load_file, save_file

from sciextract.errors import ModelMismatchError
from sciextract_trainer.files import replacing
from sciextract_trainer.loop import BEST
from sciextract_trainer.making.products import NetworkMade, Product
from sciextract_trainer.making.stage import Stage
from sciextract_trainer.making.stages.network_folder import dev_scores_of, write_checked_model

if TYPE_CHECKING:
    from torch import Tensor

    from sciextract_trainer.making.workshop import Workshop


@dataclass(frozen=True, kw_only=True)
class Soup(Stage):
    """A uniform soup (Wortsman et al. 2022, "Model soups", arXiv 2203.05482, section 2).

    Attributes:
        members: Stages whose networks are averaged; they begin with the same encoder.
    """

    makes: ClassVar[type[Product]] = NetworkMade

    members: tuple[str, ...]

    def uses(self) -> Mapping[str, type[Product]]:
        """Earlier stages."""
        return dict.fromkeys(self.members, NetworkMade)

    def work(self, shop: Workshop, folder: Path) -> None:
        """Makes it, or goes on."""
        made = [shop.made(name, NetworkMade) for name in self.members]
        tensors = [load_file(each.weights) for each in made]
        for name, each, other in zip(self.members, made, tensors, strict=True):
            if each.config.encoder != made[0].config.encoder or _shapes(other) != _shapes(
                tensors[0]
            ):
                raise ModelMismatchError(
                    f"{name} and {self.members[0]} cannot be averaged: their encoders or sizes differ",
                    "members of a soup are trainings of one encoder with one recipe",
                )
        with replacing(folder / BEST) as temporary:
            save_file(mean_of(tensors), temporary)
        write_checked_model(shop, self.product(shop, folder))

    def product(self, shop: Workshop, folder: Path) -> NetworkMade:
        """What it made."""
        first = shop.made(self.members[0], NetworkMade)
        return NetworkMade(folder / BEST, first.config, folder / "model")

    def outcome(self, folder: Path) -> dict[str, Any]:
        """Facts for the record."""
        return {"scores": dev_scores_of(folder / "model")}


def mean_of(members: list[dict[str, Tensor]]) -> dict[str, Tensor]:
    """The mean of each tensor over all members."""
    first, *others = members
    return {
        name: sum((each[name] for each in others), start=value) / len(members)
        for name, value in first.items()
    }


def _shapes(tensors: dict[str, Tensor]) -> dict[str, tuple[int, ...]]:
    return {name: tuple(value.shape) for name, value in tensors.items()}
