"""Training from files to a model folder: what ``sciextract retrain`` calls."""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from sciextract import formats
from sciextract.documents.document import AnnotatedDocument
from sciextract.documents.schema import LabelSchema
from sciextract.documents.schema_file import load_schema
from sciextract.errors import FormatError, InputMissingError, UsageError
from sciextract.formats.base import BadRecord
from sciextract.metrics.report import EvaluationReport
from sciextract_trainer.build import labels_of, load_piece_rules
from sciextract_trainer.config import TrainConfig, load_config
from sciextract_trainer.device import CPU, choose_device
from sciextract_trainer.evaluate import dev_report
from sciextract_trainer.families import family_of
from sciextract_trainer.loop import TrainingData, train
from sciextract_trainer.network.joint import JointNetwork
from sciextract_trainer.package import Packaging, write_model_folder
from sciextract_trainer.progress import Report

RECIPES = Path(__file__).resolve().parent / "recipes"
REPORT = "dev-report.json"


@dataclass(frozen=True, slots=True)
class TrainingJob:
    """Files in, model folder out.

    Attributes:
        config: The recipe.
        schema: Label schema of data and model.
        data: Training documents.
        dev: Documents for selection, thresholds and the stated scores.
        run_folder: Checkpoint, best weights and metrics; an interrupted job goes on from here.
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


def make_job(
    recipe: str,
    changes: dict[str, Any],
    *,
    schema: str,
    data: Path,
    dev: Path,
    output: Path,
    run_folder: Path | None = None,
    device: str = "cpu",
) -> TrainingJob:
    """A job from the words of a command.

    Args:
        recipe: Name of a packaged recipe, or a TOML file.
        changes: Settings that replace the recipe's.
        schema: Name of a label schema, or a TOML file.
        data: Training documents.
        dev: Dev documents.
        output: The finished model folder; its name is the model's name.
        run_folder: Resumable state; ``OUTPUT.run`` beside the output when ``None``.
        device: ``auto``, ``cpu``, ``cuda`` or ``mps``.

    Raises:
        DeviceMissingError: There is no such device here.
        InputMissingError: No such recipe.
        UsageError: A setting is unknown or cannot work.
        SchemaError: The schema has a mistake.
    """
    chosen = choose_device(device)
    return TrainingJob(
        config=load_config(find_recipe(recipe), **changes),
        schema=load_schema(schema),
        data=data,
        dev=dev,
        run_folder=run_folder or output.with_name(output.name + ".run"),
        output=output,
        name=output.name,
        device=chosen,
    )


def find_recipe(recipe: str) -> Path:
    """The file of a recipe.

    Raises:
        InputMissingError: Neither a file nor a packaged recipe; names the packaged ones.
    """
    path = Path(recipe)
    packaged = RECIPES / f"{recipe}.toml"
    if path.is_file() or packaged.is_file():
        return path if path.is_file() else packaged
    names = ", ".join(sorted(file.stem for file in RECIPES.glob("*.toml")))
    raise InputMissingError(f"no recipe is called {recipe!r}", f"packaged recipes: {names}")


def run_training(job: TrainingJob, report: Report) -> dict[str, Any]:
    """Trains, exports and scores; returns the scores of the model folder.

    A network of another family than the joint one is for comparison: instead of a model folder, the
    output holds its full dev report.

    Raises:
        FormatError: A training or dev record is bad.
        UsageError: A file holds no documents, or labels the schema does not know.
        ModelNotFoundError: The encoder cannot be loaded.
    """
    rules = load_piece_rules(job.config.encoder)
    labels = labels_of(job.schema, job.config.max_span_width)
    gold, dev = read_gold(job.data, job.schema), read_gold(job.dev, job.schema)
    examples = list(family_of(job.config).examples(gold, labels, rules))
    report({"event": "data", "train": len(gold), "dev": len(dev), "windows": len(examples)})
    data = TrainingData(examples, dev)
    network = train(job.config, labels, rules, data, job.run_folder, report, device=job.device)
    if not isinstance(network, JointNetwork):
        predict = family_of(job.config).predictor(network, labels, rules)
        return _write_report(job, dev_report(predict, dev, labels.relations.symmetric))
    origin = {
        "encoder": job.config.encoder,
        "training data": f"{job.data.name}, sha256 {sha256(job.data)}",
        "dev data": f"{job.dev.name}, sha256 {sha256(job.dev)}",
        "seed": job.config.seed,
    }
    packaging = Packaging(job.name, job.schema, labels, rules, dev, origin)
    return write_model_folder(network, packaging, job.output).scores


def _write_report(job: TrainingJob, scores: EvaluationReport) -> dict[str, Any]:
    """Writes configuration and dev report of a network that is not exported; returns the report."""
    values = {"config": job.config.to_json(), "dev": scores.to_json()}
    job.output.mkdir(parents=True, exist_ok=True)
    text = json.dumps(values, indent=2) + "\n"
    (job.output / REPORT).write_text(text, encoding="utf-8")
    return scores.to_json()


def read_gold(path: Path, schema: LabelSchema) -> list[AnnotatedDocument]:
    """All documents of a labelled file.

    Raises:
        FormatError: A record is bad: a training set is not used in part.
        UsageError: There are no documents, or labels the schema does not know.
    """
    documents = []
    for item in formats.read([path]):
        if isinstance(item, BadRecord):
            raise item.error
        documents.append(item)
    if not documents:
        raise FormatError("no documents", path=path)
    _check_labels(documents, schema, path)
    return documents


def _check_labels(documents: Sequence[AnnotatedDocument], schema: LabelSchema, path: Path) -> None:
    used = {entity.label for item in documents for entity in item.annotations.entities} - {""}
    used |= {relation.label for item in documents for relation in item.annotations.relations}
    known = {*schema.entity_labels, *schema.relation_labels}
    unknown = sorted(used - known)
    if unknown:
        raise UsageError(
            f"{path}: labels that the schema {schema.name!r} does not know: {', '.join(unknown)}",
            f"known: {', '.join(sorted(known))}; give a schema with --schema",
        )
    unseen = sorted(set(schema.entity_labels) - used)
    if unseen:
        print(f"note: {path} has no example of {', '.join(unseen)}", file=sys.stderr)


def sha256(path: Path) -> str:
    """Hex SHA-256 of a file."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
