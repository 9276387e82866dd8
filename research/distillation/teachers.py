"""Teachers of a distillation: opened, checked against each other, and described next to the labels that they made."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from research.distillation.ensemble import Ensemble, Member
from sciextract.documents.schema import LabelSchema
from sciextract.errors import (
    ModelDamagedError,
    ModelMismatchError,
    ModelNotFoundError,
    UsageError,
    as_command,
)
from sciextract.inference.model_folder import (
    PAIRS_GRAPH,
    TOKENIZER,
    ModelFolder,
    locate_model,
    open_folder,
)
from sciextract.inference.onnx_network import OnnxNetwork
from sciextract.inference.pipeline import Labels, Pipeline
from sciextract.inference.tokenization import SubwordTokenizer, read_tokenizer
from sciextract_trainer.build import labels_of
from sciextract_trainer.checkpoint import replacing

DESCRIPTION = "labels.json"


def describe_labels(folder: Path, described: dict[str, Any]) -> None:
    """Notes who labels what, so that labels of other teachers are never taken for these.

    Args:
        folder: Where the shards are.
        described: Teachers with their hashes, texts with theirs, settings.

    Raises:
        UsageError: The folder has labels that were made in another way; names the first difference.
        OutputError: The disk is full.
    """
    path = folder / DESCRIPTION
    described = json.loads(json.dumps(described))
    if not path.is_file():
        folder.mkdir(parents=True, exist_ok=True)
        with replacing(path) as temporary:
            temporary.write_text(json.dumps(described, indent=2) + "\n", encoding="utf-8")
        return
    try:
        found = dict(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError) as error:
        raise ModelDamagedError(
            f"{path} cannot be read: {error}", "remove its folder and label again"
        ) from error
    for key in sorted({*found, *described}):
        if found.get(key) != described.get(key):
            raise UsageError(
                f"{path}: labels were made with {key} {json.dumps(found.get(key))}, "
                f"now it is {json.dumps(described.get(key))}",
                "give what was given before, or another run folder",
            )


@dataclass(frozen=True, slots=True)
class Panel:
    """The teachers of a distillation.

    Attributes:
        folders: Their verified model folders.
        weights: How much each says.
        temperature: Divisor of their logits.
    """

    folders: tuple[ModelFolder, ...]
    weights: tuple[float, ...]
    temperature: float

    @property
    def labels(self) -> Labels:
        """What the classes of all of them mean."""
        return self.folders[0].config.labels

    @property
    def schema_name(self) -> str:
        """Name of their schema."""
        return self.folders[0].config.schema_name

    def ensemble(self, pipelines: Sequence[Pipeline] = ()) -> Ensemble:
        """The teachers as one, each on the best graph that its folder has, or as the given pipelines."""
        running = pipelines or [load_pipeline(folder) for folder in self.folders]
        members = [Member(*pair) for pair in zip(running, self.weights, strict=True)]
        return Ensemble(members, self.temperature)

    def to_json(self) -> dict[str, Any]:
        """Who they are, with hashes: two panels that say the same describe themselves alike."""
        teachers = [
            {"name": folder.config.name, "hash": folder.hash, "weight": weight}
            for folder, weight in zip(self.folders, self.weights, strict=True)
        ]
        return {"teachers": teachers, "temperature": self.temperature}


def open_panel(
    models: Sequence[str | Path], weights: Sequence[float] = (), temperature: float = 1.0
) -> Panel:
    """Opens teachers by name or folder.

    Args:
        models: What ``sciextract annotate --model`` takes.
        weights: One per model; all the same when empty.
        temperature: Divisor of their logits.

    Raises:
        UsageError: The numbers do not fit or cannot work, or a model predicts no entities.
        ModelMismatchError: Two of them have different labels or schemas; names both.
        ModelNotFoundError: There is no such model; ``ModelDamagedError`` where one is not whole.
    """
    weights = tuple(weights) or (1.0,) * len(models)
    if not models:
        raise UsageError("there is no teacher", "give at least one --teacher MODEL")
    if len(weights) != len(models):
        raise UsageError(
            f"{len(weights)} weights for {len(models)} teachers",
            "give --weight once for each --teacher, in the same order, or not at all",
        )
    for name, value in [("weight", weight) for weight in weights] + [("temperature", temperature)]:
        if not (math.isfinite(value) and value > 0):
            raise UsageError(f"{name} = {value:g} is not possible", f"a {name} is a number above 0")
    folders = tuple(open_folder(locate_model(model)) for model in models)
    for folder in folders:
        left, right = folders[0].config, folder.config
        if right.given_entities:
            raise UsageError(
                f"{folder.path} predicts no entities, only relations between given ones",
                "give a teacher that predicts entities, relations and coreference",
            )
        difference = _difference(left.labels, right.labels)
        if not difference and left.schema_hash != right.schema_hash:
            difference = (
                f"the schema of one is {left.schema_name!r} ({left.schema_hash[:12]}), "
                f"of the other {right.schema_name!r} ({right.schema_hash[:12]})"
            )
        if difference:
            raise ModelMismatchError(
                f"teachers {left.name} ({folders[0].path}) and {right.name} ({folder.path}) differ: "
                f"{difference}",
                "teachers of one student need the same label schema",
            )
    return Panel(folders, weights, temperature)


def load_pipeline(folder: ModelFolder, threads: int = 1) -> Pipeline:
    """A model as it predicts, in full precision where the folder has that graph."""
    config, pairs = folder.config, folder.path / PAIRS_GRAPH
    try:
        graph = folder.graph("fp32")
    except ModelNotFoundError:
        graph = folder.graph(None)
    network = OnnxNetwork(graph, pairs if pairs.is_file() else None, threads)
    tokenizer = read_tokenizer(folder.path / TOKENIZER)
    subwords = SubwordTokenizer(
        tokenizer, config.prefix, config.suffix, config.unknown, config.subword_limit
    )
    return Pipeline(network, subwords, config.labels, config.subword_limit)


def student_labels(panel: Panel, schema: LabelSchema, max_span_width: int) -> Labels:
    """What the classes of a student of this panel mean.

    Raises:
        ModelMismatchError: The student's schema is not the one of its teachers; says what differs.
    """
    labels = labels_of(schema, max_span_width)
    teacher = panel.folders[0]
    named = f"teacher {teacher.config.name} ({teacher.path})"
    difference = _difference(teacher.config.labels, labels)
    if difference:
        raise ModelMismatchError(
            f"{named} and the student's schema {schema.name!r} differ: {difference}",
            "give the student the schema of its teachers: "
            + as_command("--schema", teacher.config.schema_name),
        )
    if teacher.config.schema_hash != schema.content_hash:
        raise ModelMismatchError(
            f"{named} has schema {teacher.config.schema_name!r} "
            f"({teacher.config.schema_hash[:12]}), the student {schema.name!r} "
            f"({schema.content_hash[:12]}): the labels are the same, what is legal between them is not",
            "give the student the schema that the teachers were trained with: --schema NAME|FILE",
        )
    return labels


def _difference(left: Labels, right: Labels) -> str:
    """The first thing that two models mean differently; their widths may differ."""
    if replace(left, max_span_width=0) == replace(right, max_span_width=0):
        return ""
    for name, one, other in (
        ("entity labels", left.entities, right.entities),
        ("relation labels", left.relations.labels, right.relations.labels),
        ("symmetric labels", sorted(left.relations.symmetric), sorted(right.relations.symmetric)),
    ):
        if one != other:
            listed = (", ".join(names) or "none" for names in (one, other))
            return f"the {name} of one are {', of the other '.join(listed)}"
    if left.groups != right.groups:
        return f"the groups of labels of one are {left.groups}, of the other {right.groups}"
    return "one links mentions, the other does not"
