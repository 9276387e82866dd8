"""``kind = "distil-encoder"``: a small encoder learns from a large one with the same subwords."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from sciextract_trainer.distillation.pair import DistilConfig, load_distil_config, run_distillation
from sciextract_trainer.making.products import EncoderMade, Product
from sciextract_trainer.making.stage import Stage
from sciextract_trainer.making.stages.steps import minutes_left, require_last_step

if TYPE_CHECKING:
    from sciextract_trainer.making.workshop import Workshop


@dataclass(frozen=True, kw_only=True)
class DistilEncoder(Stage):
    """Distillation of an encoder on unlabelled abstracts.

    Attributes:
        teacher: The large encoder, with the head of its pretraining.
        student: The small one.
        texts: Shards of abstracts, names or patterns in the data folder.
        most: Abstracts to read.
        recipe: ``distilbio``, ``tinybio`` or ``compactbio``.
        change: Settings that replace the recipe's.
    """

    makes: ClassVar[type[Product]] = EncoderMade

    teacher: str
    student: str
    texts: tuple[str, ...]
    most: int
    recipe: str
    change: Mapping[str, Any] = field(default_factory=dict)

    def uses(self) -> Mapping[str, type[Product]]:
        """Earlier stages."""
        return {self.teacher: EncoderMade, self.student: EncoderMade}

    def learns_heads_of(self) -> tuple[str, ...]:
        """The teacher."""
        return (self.teacher,)

    def inputs(self, shop: Workshop) -> dict[str, str]:
        """Files and recipe."""
        return shop.hashes(shop.texts(self.texts)) | {"recipe": str(self._config("", "").to_json())}

    def work(self, shop: Workshop, folder: Path) -> None:
        """Makes it, or goes on."""
        teacher, student = (
            str(shop.made(name, EncoderMade).folder) for name in (self.teacher, self.student)
        )
        config = self._config(teacher, student)
        run_distillation(
            config, shop.texts(self.texts), self.most, folder, shop.report, minutes_left(shop.until)
        )
        require_last_step(folder, config.steps)

    def product(self, shop: Workshop, folder: Path) -> EncoderMade:
        """What it made."""
        return EncoderMade(folder / "encoder")

    def _config(self, teacher: str, student: str) -> DistilConfig:
        return load_distil_config(self.recipe, teacher=teacher, student=student, **self.change)
