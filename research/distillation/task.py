"""Task distillation: teachers label texts softly, one student learns to say the same."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

import torch
from torch import nn

from research.distillation.teachers import Panel, describe_labels, student_labels
from research.recipes import find_recipe
from research.reporting import Report, as_mappings
from research.unlabelled import read_unlabelled
from sciextract.documents.document import AnnotatedDocument, Document
from sciextract.documents.schema import LabelSchema
from sciextract.documents.schema_file import load_schema
from sciextract.errors import TrainingDataError
from sciextract.formats.inputs import Part
from sciextract.inference.batching import usable_cores
from sciextract.inference.model_config import ModelConfig
from sciextract.inference.pipeline import Labels, Pipeline
from sciextract.retraining.run_folder import Run
from sciextract_trainer.build import SubwordRules, as_joint, load_subword_rules
from sciextract_trainer.checkpoint import explaining, note_environment, recording
from sciextract_trainer.config import TrainConfig, load_config
from sciextract_trainer.data.examples import Example, examples_from
from sciextract_trainer.data.gold import read_gold, sha256
from sciextract_trainer.data.soft_labels import SoftDocument, label_softly, soft_examples
from sciextract_trainer.hardware import CPU, choose_device, has_fast_bf16
from sciextract_trainer.loop import TrainingData, train
from sciextract_trainer.package import Packaging, write_model_folder
from sciextract_trainer.warm_start import open_start_model


@dataclass(frozen=True, slots=True, kw_only=True)
class StudentSetup:
    """How a student learns, and where its model goes.

    Attributes:
        config: The recipe.
        schema: Its label schema.
        labels: What its classes mean.
        rules: Its tokenizer.
        dev: Gold for the choice of the epoch, for thresholds and scores.
        run: Run folder: checkpoint, best weights, metrics.
        output: The finished model folder; its name is the model's.
        gold: Gold to learn from in addition to the labels of the teachers.
        gold_times: Number of times that each gold document occurs in an epoch.
        device: Where the student is trained.
        network: What training begins with; the recipe's encoder with fresh heads when ``None``.
    """

    config: TrainConfig
    schema: LabelSchema
    labels: Labels
    rules: SubwordRules
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
        subwords = self.rules.encoder()
        return list(soft_examples(labelled, self.labels, subwords, self.rules.limit))

    def gold_examples(self) -> list[Example]:
        """Examples of the gold, as often as an epoch has them."""
        if self.gold is None:
            return []
        documents = read_gold(self.gold, self.schema)
        subwords = self.rules.encoder()
        return (
            list(examples_from(documents, self.labels, subwords, self.rules.limit))
            * self.gold_times
        )

    def origin(self) -> dict[str, Any]:
        """What the model card says of encoder, gold and seed."""
        facts: dict[str, Any] = {"encoder": self.config.encoder}
        if self.gold is not None:
            times = f", {self.gold_times} times an epoch" if self.gold_times > 1 else ""
            facts["additional gold"] = f"{self.gold.name}, sha256 {sha256(self.gold)}{times}"
        facts["dev data"] = f"{self.dev.name}, sha256 {sha256(self.dev, Part.DEV)}"
        return {**facts, "seed": self.config.seed}


def teach(
    setup: StudentSetup,
    examples: Sequence[Example],
    origin: dict[str, Any],
    report: Report,
    until: float = float("inf"),
) -> ModelConfig:
    """Trains a student on a teacher's examples and its gold, and writes its model folder.

    Args:
        setup: How and where.
        examples: What teachers say.
        origin: Who they are and what they labelled, for the model card.
        report: Gets every event.
        until: ``time.monotonic()`` at which training stops.

    Raises:
        TimeIsUp: It is later than ``until``; the same call continues.
        OutputError: The disk is full; the same call continues.
        LossError: The loss is not a number.
    """
    dev, gold = setup.dev_documents(), setup.gold_examples()
    origin = {**origin, **setup.origin()}
    report({"event": "data", "soft": len(examples), "gold": len(gold), "dev": len(dev)})
    data = TrainingData([*examples, *gold], dev)
    run = Run(setup.run)
    with explaining(setup.run), recording(run, setup.device):
        _note(setup, run, origin)
        network = train(
            setup.config, setup.labels, setup.rules, data, setup.run, as_mappings(report),
            network=setup.network, device=setup.device, until=until,
        )  # fmt: skip
    packaging = Packaging(setup.output.name, setup.schema, setup.labels, setup.rules, dev, origin)
    with explaining(setup.output):
        found = write_model_folder(as_joint(network), packaging, setup.output)
        run.note(scores=found.scores)
    return found


def _note(setup: StudentSetup, run: Run, origin: dict[str, Any]) -> None:
    """Begins ``run.json``."""
    run.folder.mkdir(parents=True, exist_ok=True)
    config = setup.config.to_json()
    note_environment(run, config=config, schema=setup.schema.name, origin=origin)


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

    def description(self) -> str:
        """Names and hashes, for the model card."""
        return "; ".join(f"{shard.name}, sha256 {sha256(shard)}" for shard in self.shards)


def label_texts(
    panel: Panel,
    texts: Texts,
    folder: Path,
    report: Report,
    until: float = float("inf"),
    pipelines: Sequence[Pipeline] = (),
) -> list[SoftDocument]:
    """What a panel says of texts, in shards on disk that are never made twice.

    Args:
        panel: The teachers.
        texts: What they read.
        folder: Where the shards are.
        report: Gets an event after each shard.
        until: ``time.monotonic()`` at which to stop after a shard.
        pipelines: The teachers as they run; the graphs of their folders when empty.

    Raises:
        FormatError: A file of texts is damaged; ``InputMissingError`` where there is none.
        TrainingDataError: There is no usable text.
        ModelDamagedError: A shard of labels is damaged.
        UsageError: The folder has labels of other teachers or texts.
        OutputError: The disk is full.
        TimeIsUp: It is later than ``until``.
    """
    documents = texts.documents()
    with explaining(folder):
        describe_labels(folder, panel.to_json())
        return label_softly(
            panel.ensemble(pipelines),
            documents,
            folder,
            as_mappings(report),
            until=until,
            workers=usable_cores(),
        )


def distil_model(
    panel: Panel, texts: Texts, setup: StudentSetup, report: Report, until: float = float("inf")
) -> ModelConfig:
    """Labels texts with the panel and teaches a student; a call that was stopped continues.

    Args:
        panel: The teachers.
        texts: The transfer set.
        setup: The student.
        report: Gets every event.
        until: ``time.monotonic()`` at which to stop.

    Raises:
        TimeIsUp: It is later than ``until``; the same call continues.
        SciextractError: Something cannot be done; what is finished is kept.
    """
    labelled = label_texts(panel, texts, setup.run / LABELS, report, until)
    examples = setup.soft_examples(labelled)
    return teach(setup, examples, origin_of(panel, texts, len(labelled)), report, until)


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
        "texts": texts.description(),
    }


def open_student(
    panel: Panel,
    recipe: str,
    changes: Mapping[str, Any],
    *,
    schema: str | None,
    dev: Path,
    gold: Path | None,
    run: Path,
    output: Path,
    gold_times: int = 1,
    device: str = "auto",
) -> StudentSetup:
    """The setup of a student of a panel.

    Args:
        panel: The teachers; the first one is trained on where ``changes`` name no encoder.
        recipe: Name of a packaged recipe, or a TOML file.
        changes: Settings that replace the recipe's; those that are ``None`` do not.
        schema: Name of a label schema, or a TOML file; the teachers' one when ``None``.
        dev: Gold to select on.
        gold: Gold to learn from.
        run: Run folder.
        output: The model folder.
        gold_times: Number of times that each gold document occurs in an epoch.
        device: ``auto``, ``cpu``, ``cuda`` or ``mps``.

    Raises:
        ModelMismatchError: The student's schema is not that of its teachers.
        ModelNotFoundError: The encoder cannot be loaded.
        UsageError: A setting is unknown or cannot work.
        InputMissingError: There is no such recipe or file.
        DeviceError: There is no such device here.
    """
    chosen, wanted = choose_device(device), load_schema(schema or panel.schema_name)
    settings = {key: value for key, value in changes.items() if value is not None}
    config = load_config(find_recipe(recipe), **settings)
    config = replace(config, bf16=config.bf16 and has_fast_bf16(chosen))
    start = None if "encoder" in settings else open_start_model(panel.folders[0])
    if start is not None:
        config = start.fit(config)
    return StudentSetup(
        config=config,
        schema=wanted,
        labels=student_labels(panel, wanted, config.max_span_width),
        rules=start.rules if start else load_subword_rules(config.encoder),
        dev=dev,
        run=run,
        output=output,
        gold=gold,
        gold_times=gold_times,
        device=chosen,
        network=start.network(config) if start else None,
    )
