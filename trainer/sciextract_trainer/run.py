"""Training from files to a model folder: what ``sciextract retrain`` calls."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from sciextract.codec import encode
from sciextract.documents.schema import LabelSchema
from sciextract.formats.inputs import Part
from sciextract.retraining.events import DataRead, Listener, Step, TrainingEvent, Warned
from sciextract.retraining.run_folder import Run
from sciextract_trainer.build import family_of, labels_for, load_subword_rules
from sciextract_trainer.checkpoint import note_environment, recording
from sciextract_trainer.config import TrainConfig
from sciextract_trainer.data.gold import has_untyped, read_gold, sha256, unseen_labels
from sciextract_trainer.evaluate import dev_report, dev_settings, headline, scored_layers
from sciextract_trainer.hardware import (
    CPU,
    Group,
    join_group,
)
from sciextract_trainer.loop import TrainingData, train
from sciextract_trainer.network.joint import JointNetwork
from sciextract_trainer.package import Packaging, write_model_folder

REPORT = "dev-report.json"


@dataclass(frozen=True, slots=True)
class TrainingJob:
    """Files in, model folder out.

    Attributes:
        config: The recipe.
        schema: Label schema of data and model.
        data: Training documents, or a folder with such a split.
        dev: Documents for selection, thresholds and the stated scores, or a folder with such a split.
        run_folder: Checkpoint, best weights and metrics; an interrupted job continues from here.
        output: The finished model folder.
        name: The model's name.
        device: Where to train.
    """

    config: TrainConfig
    schema: LabelSchema
    data: Path
    dev: Path
    run_folder: Path
    output: Path
    name: str
    device: torch.device = CPU


def run_training(job: TrainingJob, listener: Listener) -> dict[str, Any]:
    """Trains, exports and scores; returns the scores of the model folder.

    A network of another family than the joint one is for comparison: instead of a model folder, the
    output holds its full dev report. In a process that a launcher started as one of several, the processes
    train together; only the first one reports, writes and returns scores.

    Raises:
        FormatError: A training or dev record is bad.
        UsageError: A file holds labels the schema does not know, or the encoder cannot do what is asked.
        TrainingDataError: Nothing is annotated in a file.
        ModelNotFoundError: The encoder cannot be loaded.
        GroupError: The processes differ, or have lost each other.
    """
    with join_group(job.device) as group:
        if not group.is_first:
            _train(job, lambda event: None, group)
            return {}
        run = Run(job.run_folder)

        def keep(event: TrainingEvent) -> None:
            # Of the losses only those at the end of each epoch are kept, next to its dev scores.
            if isinstance(event, Step) and event.documents == event.of:
                run.append(event.to_json())
            listener(event)

        with recording(run, job.device, group.size):
            scores = _train(job, keep, group)
        run.note(scores=scores)
        return scores


def _train(job: TrainingJob, listener: Listener, group: Group) -> dict[str, Any]:
    rules = load_subword_rules(job.config.encoder)
    gold, dev = read_gold(job.data, job.schema), read_gold(job.dev, job.schema, Part.DEV)
    labels = labels_for(job.config, job.schema, has_untyped(gold))
    examples = list(family_of(job.config).examples(gold, labels, rules))
    listener(DataRead(train=len(gold), dev=len(dev), windows=len(examples)))
    if unseen := unseen_labels(gold, job.schema):
        message = f"{job.data} has no example of {', '.join(unseen)}; the model will not find such"
        listener(Warned(message=message))
    data = TrainingData(examples, dev)
    origin = origin_of(job)
    if group.is_first:
        job.run_folder.mkdir(parents=True, exist_ok=True)
        settings = job.config.to_json()
        note_environment(
            Run(job.run_folder), config=settings, schema=job.schema.name, origin=origin
        )
    network = train(
        job.config, labels, rules, data, job.run_folder, listener, device=job.device, group=group
    )
    if not group.is_first:
        return {}
    if not isinstance(network, JointNetwork):
        predict = family_of(job.config).predictor(network, labels, rules)
        report = dev_report(predict, dev, labels.relations.symmetric)
        job.output.mkdir(parents=True, exist_ok=True)
        text = encode({"config": job.config.to_json(), "dev": report.to_json()})
        (job.output / REPORT).write_text(text, encoding="utf-8")
        return {"fp32": headline(report).stated()}
    packaging = Packaging(
        job.name, job.schema, labels, rules, dev, origin,
        complete=scored_layers(job.config, dev, None), start=dev_settings(job.config),
        given_entities=job.config.given_entities,
    )  # fmt: skip
    return write_model_folder(network, packaging, job.output).scores


def origin_of(job: TrainingJob) -> dict[str, Any]:
    """What the model card says of where a model comes from."""
    # Names without folders: a path of this machine would say more than a card should.
    return {
        "encoder": job.config.encoder,
        "training data": f"{job.data.name}, sha256 {sha256(job.data)}",
        "dev data": f"{job.dev.name}, sha256 {sha256(job.dev, Part.DEV)}",
        "seed": job.config.seed,
    }
