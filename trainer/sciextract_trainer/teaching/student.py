"""A student: a network that learns from examples of teachers, and the model folder that it becomes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import nn

from sciextract.documents.document import AnnotatedDocument
from sciextract.documents.schema import LabelSchema
from sciextract.formats.splits import Part
from sciextract.inference.model_config import ModelConfig
from sciextract.inference.pipeline import Labels
from sciextract.workflows.correction.beginning import circumstances
from sciextract.workflows.events import Report
from sciextract.workflows.runs import Run
from sciextract_trainer.build import PieceRules
from sciextract_trainer.config import TrainConfig
from sciextract_trainer.data.examples import Example, examples_from
from sciextract_trainer.data.gold import read_gold, sha256
from sciextract_trainer.data.soft import SoftDocument, soft_examples
from sciextract_trainer.families import as_joint
from sciextract_trainer.full_disk import explained
from sciextract_trainer.hardware.device import CPU
from sciextract_trainer.loop import TrainingData, train
from sciextract_trainer.package import Packaging, write_model_folder
from sciextract_trainer.record import recorded


@dataclass(frozen=True, slots=True, kw_only=True)
class Lesson:
    """How a student learns, and where its model goes.

    Attributes:
        config: The recipe.
        schema: Its label schema.
        labels: What its classes mean.
        rules: Its tokenizer.
        dev: Gold for the choice of the epoch, for thresholds and scores.
        run: Run folder: checkpoint, best weights, metrics.
        output: The finished model folder; its name is the model's.
        gold: Gold to learn from beside what the teachers say.
        gold_times: How often an epoch has each gold document.
        device: Where the student is trained.
        network: What training begins with; the recipe's encoder with fresh heads when ``None``.
    """

    config: TrainConfig
    schema: LabelSchema
    labels: Labels
    rules: PieceRules
    dev: Path
    run: Path
    output: Path
    gold: Path | None = None
    gold_times: int = 1
    device: torch.device = CPU
    network: nn.Module | None = None

    def dev_documents(self) -> list[AnnotatedDocument]:
        """The gold to select on."""
        return read_gold(self.dev, self.schema, Part.DEV)

    def soft_examples(self, labelled: Sequence[SoftDocument]) -> list[Example]:
        """Examples with the teachers' distributions as targets."""
        pieces = self.rules.encoder()
        return list(soft_examples(labelled, self.labels, pieces, self.rules.limit))

    def gold_examples(self) -> list[Example]:
        """Examples of the gold, as often as an epoch has them."""
        if self.gold is None:
            return []
        documents = read_gold(self.gold, self.schema)
        pieces = self.rules.encoder()
        return (
            list(examples_from(documents, self.labels, pieces, self.rules.limit)) * self.gold_times
        )

    def origin(self) -> dict[str, Any]:
        """What the model card says of encoder, gold and seed."""
        told: dict[str, Any] = {"encoder": self.config.encoder}
        if self.gold is not None:
            times = f", {self.gold_times} times an epoch" if self.gold_times > 1 else ""
            told["gold beside the labels"] = f"{self.gold.name}, sha256 {sha256(self.gold)}{times}"
        told["dev data"] = f"{self.dev.name}, sha256 {sha256(self.dev, Part.DEV)}"
        return {**told, "seed": self.config.seed}


def teach(
    lesson: Lesson,
    examples: Sequence[Example],
    origin: dict[str, Any],
    report: Report,
    until: float = float("inf"),
) -> ModelConfig:
    """Trains a student on a teacher's examples and its gold, and writes its model folder.

    Args:
        lesson: How and where.
        examples: What teachers say.
        origin: Who they are and what they labelled, for the model card.
        report: Gets every event.
        until: ``time.monotonic()`` at which training stops.

    Raises:
        TimeIsUp: It is later than ``until``; the same call goes on.
        OutputError: The disk is full; the same call goes on.
        LossError: The loss is not a number.
    """
    dev, gold = lesson.dev_documents(), lesson.gold_examples()
    origin = {**origin, **lesson.origin()}
    report({"event": "data", "soft": len(examples), "gold": len(gold), "dev": len(dev)})
    data = TrainingData([*examples, *gold], dev)
    run = Run(lesson.run)
    with explained(lesson.run), recorded(run, lesson.device):
        _note(lesson, run, origin)
        network = train(
            lesson.config, lesson.labels, lesson.rules, data, lesson.run, report,
            network=lesson.network, device=lesson.device, until=until,
        )  # fmt: skip
    packaging = Packaging(
        lesson.output.name, lesson.schema, lesson.labels, lesson.rules, dev, origin
    )
    with explained(lesson.output):
        found = write_model_folder(as_joint(network), packaging, lesson.output)
        run.write_run(scores=found.scores)
    return found


def _note(lesson: Lesson, run: Run, origin: dict[str, Any]) -> None:
    """Begins ``run.json``."""
    run.folder.mkdir(parents=True, exist_ok=True)
    told = circumstances()
    told["versions"]["torch"] = torch.__version__
    config = lesson.config.to_json()
    run.write_run(config=config, schema=lesson.schema.name, origin=origin, **told)
