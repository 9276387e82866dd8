"""``kind = "relabel"``: teachers with markers have their say on the relations of labelled texts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from sciextract_trainer.distillation.task import LABELS
from sciextract_trainer.making.products import LabelsMade, MarkersMade, Product
from sciextract_trainer.making.stage import Stage
from sciextract_trainer.making.stages.label import count_labels, read_labels
from sciextract_trainer.making.stages.markers import open_scorer
from sciextract_trainer.markers.mentions import LEAST
from sciextract_trainer.markers.relabel import Second, relabel_softly

if TYPE_CHECKING:
    from sciextract_trainer.making.workshop import Workshop


@dataclass(frozen=True, kw_only=True)
class Relabel(Stage):
    """Soft labels whose relation distributions are mixed with those of other teachers.

    Attributes:
        labels: Stage that labelled the texts.
        teachers: Stages whose networks put markers around the mentions.
        most: Abstracts, from the first on; all that are labelled when 0.
        share: How much the teachers with markers say of a relation, all together.
        least: Spans that are less likely a mention keep the relations they have.
    """

    makes: ClassVar[type[Product]] = LabelsMade

    labels: str
    teachers: tuple[str, ...]
    most: int = 0
    share: float = 0.5
    least: float = LEAST

    def uses(self) -> Mapping[str, type[Product]]:
        """Earlier stages."""
        return {self.labels: LabelsMade, **dict.fromkeys(self.teachers, MarkersMade)}

    def work(self, shop: Workshop, folder: Path) -> None:
        """Makes it, or goes on."""
        scorers = [open_scorer(shop, shop.made(name, MarkersMade)) for name in self.teachers]
        labelled = read_labels(shop.made(self.labels, LabelsMade))
        wanted = labelled[: self.most or None]
        second = Second(scorers, self.share, self.least)
        relabel_softly(second, wanted, folder / LABELS, shop.report, shop.until)

    def product(self, shop: Workshop, folder: Path) -> LabelsMade:
        """What it made."""
        texts = shop.made(self.labels, LabelsMade).texts
        return LabelsMade(folder / LABELS, replace(texts, most=self.most or texts.most))

    def outcome(self, folder: Path) -> dict[str, Any]:
        """Facts for the record."""
        return {"abstracts": count_labels(folder)}
