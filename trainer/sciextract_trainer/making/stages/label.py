"""``kind = "label"``: networks label unlabelled abstracts softly."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from sciextract.errors import ModelDamagedError, UsageError
from sciextract_trainer.data.soft import SoftDocument, load_targets
from sciextract_trainer.distillation.labelling import open_panel
from sciextract_trainer.distillation.task import LABELS, Texts, label_texts
from sciextract_trainer.making.products import LabelsMade, NetworkMade, Product
from sciextract_trainer.making.stage import Stage

if TYPE_CHECKING:
    from sciextract_trainer.making.workshop import Workshop


@dataclass(frozen=True, kw_only=True)
class Label(Stage):
    """Soft labels of a panel of networks.

    Attributes:
        teachers: Stages whose networks teach.
        texts: Shards of abstracts, names or patterns in the data folder.
        most: Abstracts to label.
        skip: Abstracts to leave out before these.
        weights: How much each teacher says; all the same when empty.
        temperature: Divisor of their logits.
    """

    makes: ClassVar[type[Product]] = LabelsMade

    teachers: tuple[str, ...]
    texts: tuple[str, ...]
    most: int
    skip: int = 0
    weights: tuple[float, ...] = ()
    temperature: float = 1.0

    def uses(self) -> Mapping[str, type[Product]]:
        """Earlier stages."""
        return dict.fromkeys(self.teachers, NetworkMade)

    def inputs(self, shop: Workshop) -> dict[str, str]:
        """Files and recipe."""
        return shop.hashes(shop.texts(self.texts))

    def work(self, shop: Workshop, folder: Path) -> None:
        """Makes it, or goes on."""
        models = [shop.made(name, NetworkMade).model for name in self.teachers]
        panel = open_panel(models, self.weights, self.temperature)
        label_texts(panel, self._texts(shop), folder / LABELS, shop.report, shop.until)

    def product(self, shop: Workshop, folder: Path) -> LabelsMade:
        """What it made."""
        return LabelsMade(folder / LABELS, self._texts(shop))

    def outcome(self, folder: Path) -> dict[str, Any]:
        """Facts for the record."""
        return {"abstracts": count_labels(folder)}

    def _texts(self, shop: Workshop) -> Texts:
        return Texts(shop.texts(self.texts), self.most, self.skip)


def count_labels(folder: Path) -> int:
    """Abstracts whose labels a stage's folder holds."""
    shards = sorted((folder / LABELS).glob("soft-*.npz"))
    return sum(len(load_targets(shard).keys) for shard in shards)


def read_labels(made: LabelsMade) -> list[SoftDocument]:
    """Texts with their labels.

    Raises:
        ModelDamagedError: A shard is damaged, or there are fewer or more labels than texts.
        UsageError: The labels are of other texts.
    """
    shards = [load_targets(path) for path in sorted(made.folder.glob("soft-*.npz"))]
    keys = [key for shard in shards for key in shard.keys]
    targets = [each for shard in shards for each in shard.targets]
    documents = made.texts.documents()
    if len(keys) != len(documents):
        few = len(keys) < len(documents)
        raise ModelDamagedError(
            f"{made.folder} has labels of {len(keys)} texts, wanted are {len(documents)}",
            "give the command again: missing shards are labelled"
            if few
            else "remove the shards of other texts",
        )
    for key, document in zip(keys, documents, strict=True):
        if key != document.doc_key:
            raise UsageError(
                f"{made.folder} has labels of {key} where the texts have {document.doc_key}",
                "give the texts that were labelled, or remove the folder",
            )
    return [SoftDocument(*each) for each in zip(documents, targets, strict=True)]
