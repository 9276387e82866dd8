"""Task distillation: teachers label texts softly, one student learns to say the same."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from sciextract.documents.document import Document
from sciextract.errors import TrainingDataError
from sciextract.inference.cores import usable_cores
from sciextract.inference.model_config import ModelConfig
from sciextract.workflows.events import Report
from sciextract_trainer.data.gold import sha256
from sciextract_trainer.data.soft import SoftDocument
from sciextract_trainer.full_disk import explained
from sciextract_trainer.teaching.labelling import describe_labels, label_softly
from sciextract_trainer.teaching.student import Lesson, teach
from sciextract_trainer.teaching.teachers import Panel
from sciextract_trainer.unlabelled import read_unlabelled

LABELS = "labels"
"""Folder of the soft labels in a run folder."""


@dataclass(frozen=True, slots=True)
class Texts:
    """Unlabelled texts.

    Attributes:
        shards: JSON Lines files with abstracts.
        most: How many abstracts to take, in the order of the shards.
        skip: How many to leave out before these.
    """

    shards: Sequence[Path]
    most: int
    skip: int = 0

    def documents(self) -> list[Document]:
        """The abstracts.

        Raises:
            FormatError: A file is damaged; ``InputMissingError`` where there is none.
            TrainingDataError: There is no usable abstract.
        """
        found = list(islice(read_unlabelled(self.shards, self.skip + self.most), self.skip, None))
        if not found:
            behind = f" behind the first {self.skip}" if self.skip else ""
            raise TrainingDataError(
                f"no usable abstract in {', '.join(map(str, self.shards))}{behind}",
                "each line is an object with id, title and abstract; some sources are left out for their licence",
            )
        return found

    def told(self) -> str:
        """Names and hashes, for the model card."""
        return "; ".join(f"{shard.name}, sha256 {sha256(shard)}" for shard in self.shards)


def label_texts(
    panel: Panel, texts: Texts, folder: Path, report: Report, until: float = float("inf")
) -> list[SoftDocument]:
    """What a panel says of texts, in shards on disk that are never made twice.

    Args:
        panel: The teachers.
        texts: What they read.
        folder: Where the shards are.
        report: Told after each shard.
        until: ``time.monotonic()`` at which to stop after a shard.

    Raises:
        FormatError: A file of texts is damaged; ``InputMissingError`` where there is none.
        TrainingDataError: There is no usable text.
        ModelDamagedError: A shard of labels is damaged.
        UsageError: The folder has labels of other teachers or texts.
        OutputError: The disk is full.
        TimeIsUp: It is later than ``until``.
    """
    documents = texts.documents()
    with explained(folder):
        describe_labels(folder, panel.to_json())
        return label_softly(
            panel.committee(), documents, folder, report, until=until, workers=usable_cores()
        )


def distil_model(
    panel: Panel, texts: Texts, lesson: Lesson, report: Report, until: float = float("inf")
) -> ModelConfig:
    """Labels texts with the panel and teaches a student; a call that was stopped goes on.

    Args:
        panel: The teachers.
        texts: The transfer set.
        lesson: The student.
        report: Gets every event.
        until: ``time.monotonic()`` at which to stop.

    Raises:
        TimeIsUp: It is later than ``until``; the same call goes on.
        SciextractError: Something cannot be done; what is finished is kept.
    """
    labelled = label_texts(panel, texts, lesson.run / LABELS, report, until)
    examples = lesson.soft_examples(labelled)
    return teach(lesson, examples, origin_of(panel, texts, len(labelled)), report, until)


def origin_of(panel: Panel, texts: Texts, count: int) -> dict[str, Any]:
    """What the model card says of teachers and texts."""
    teachers = [
        f"{folder.config.name} ({folder.hash[:12]}, weight {weight:g})"
        for folder, weight in zip(panel.folders, panel.weights, strict=True)
    ]
    warmth = f", temperature {panel.temperature:g}" if panel.temperature != 1 else ""
    return {
        "training data": f"soft labels of {count} abstracts",
        "teachers": f"the mean of {', '.join(teachers)}{warmth}",
        "texts": texts.told(),
    }
