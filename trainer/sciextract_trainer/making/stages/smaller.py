"""``kind = "smaller"``: a student encoder of some of a larger one's layers, or of other sizes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from sciextract import atomic
from sciextract_trainer.distillation.student import StudentPlan, write_student
from sciextract_trainer.making.products import ENCODER_WEIGHTS, EncoderMade, Product
from sciextract_trainer.making.stage import Stage

if TYPE_CHECKING:
    from sciextract_trainer.making.workshop import Workshop


@dataclass(frozen=True, kw_only=True)
class Smaller(Stage):
    """A smaller encoder with the same tokenizer.

    Attributes:
        encoder: The larger one.
        layers: Its layers that the student begins with, counted from 1.
        fresh: So many layers with random weights instead.
        hidden: Hidden size; that of the larger one when 0, like the other sizes.
        heads: Attention heads.
        intermediate: Neurons of a feed-forward layer.
        seed: Seed of random weights.
    """

    makes: ClassVar[type[Product]] = EncoderMade

    encoder: str
    layers: tuple[int, ...] = ()
    fresh: int = 0
    hidden: int = 0
    heads: int = 0
    intermediate: int = 0
    seed: int = 1

    def uses(self) -> Mapping[str, type[Product]]:
        """Earlier stages."""
        return {self.encoder: EncoderMade}

    def work(self, shop: Workshop, folder: Path) -> None:
        """Makes it, or goes on."""
        if (folder / "encoder" / ENCODER_WEIGHTS).is_file():
            return
        plan = StudentPlan(
            self.layers, self.fresh or None, hidden=self.hidden or None, heads=self.heads or None,
            intermediate=self.intermediate or None, seed=self.seed,
        )  # fmt: skip
        source = str(shop.made(self.encoder, EncoderMade).folder)
        with atomic.replacing(folder / "encoder", alone=True) as partial:
            shop.report({"event": "student", **write_student(source, plan, partial)})

    def product(self, shop: Workshop, folder: Path) -> EncoderMade:
        """What it made."""
        return EncoderMade(folder / "encoder")

    def settings(self) -> dict[str, Any]:
        """Those that are given: a size of 0 is the larger encoder's."""
        return {key: value for key, value in Stage.settings(self).items() if value}
