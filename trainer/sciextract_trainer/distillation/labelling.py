"""Soft labels of many texts, in shards on disk that an interrupted run does not make again.

Targets are entity distributions of all spans, relation distributions of pairs and antecedent
probabilities (hard and soft labels on a transfer set: Hinton et al. 2015, arXiv 1503.02531, section 2).
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import count, islice
from pathlib import Path
from typing import Any, Protocol

from sciextract.documents.document import Document
from sciextract.documents.schema import LabelSchema
from sciextract.errors import (
    ModelDamagedError,
    ModelMismatchError,
    ModelNotFoundError,
    UsageError,
    as_command,
)
from sciextract.inference.batching import in_order
from sciextract.inference.model_folder import (
    PAIRS_GRAPH,
    TOKENIZER,
    ModelFolder,
    locate_model,
    open_folder,
)
from sciextract.inference.onnx_network import OnnxNetwork
from sciextract.inference.pipeline import Labels, Pipeline, RawPrediction
from sciextract.inference.settings import DecodeSettings, PerTask
from sciextract.inference.tokenization import SubwordTokenizer, read_tokenizer
from sciextract.retraining.events import Labelled, Listener
from sciextract_trainer.build import labels_of
from sciextract_trainer.data.examples import Targets
from sciextract_trainer.data.soft import (
    Shard,
    SoftDocument,
    load_targets,
    save_targets,
    targets_from,
)
from sciextract_trainer.distillation.ensemble import Ensemble, Member
from sciextract_trainer.files import replacing
from sciextract_trainer.sessions import require_time

SHARD_DOCUMENTS = 500
"""Documents of a shard: about half a minute of work for two small teachers on two cores."""

DESCRIPTION = "labels.json"

TEACHER_SETTINGS = DecodeSettings(
    thresholds=PerTask(0.3, 0.5, 0.5), nesting=True, candidates=True, candidate_score=0.05
)
"""Low enough that the student also learns what the teacher doubts."""


class Teacher(Protocol):
    """What labels texts: one model's pipeline, or a ensemble of several."""

    @property
    def labels(self) -> Labels:
        """What the classes of its distributions mean."""
        ...

    def predict(self, document: Document, settings: DecodeSettings) -> RawPrediction:
        """All predictions of one document, with everything that was considered."""
        ...


def label_softly(
    teacher: Teacher,
    documents: Sequence[Document],
    folder: Path,
    listener: Listener,
    *,
    until: float = float("inf"),
    workers: int = 1,
) -> list[SoftDocument]:
    """Soft targets for all documents, in shards that an interrupted run does not repeat.

    Args:
        teacher: Labels the documents.
        documents: The texts; more of them in another call go on behind those of an earlier one.
        folder: Where the shards are.
        listener: Gets an event after each shard.
        until: ``time.monotonic()`` at which to stop after a shard.
        workers: Documents that are labelled at a time.

    Raises:
        ModelDamagedError: A finished shard is damaged; names the file.
        UsageError: A finished shard has labels of other documents.
        OutputError: The disk is full; the shards so far are kept.
        TimeIsUp: It is later than ``until``.
    """
    folder.mkdir(parents=True, exist_ok=True)
    found: list[SoftDocument] = []
    source = iter(documents)
    for number in count():
        chunk = list(islice(source, SHARD_DOCUMENTS))
        if not chunk:
            return found
        path = folder / f"soft-{number:04d}.npz"
        targets = _finished(path, chunk, teacher.labels)
        if targets is None:
            require_time(until)
            targets = _label_shard(teacher, chunk, path, workers)
        found += [SoftDocument(*each) for each in zip(chunk, targets, strict=True)]
        listener(Labelled(documents=len(found), of=len(documents)))
    return found


def _finished(path: Path, chunk: Sequence[Document], labels: Labels) -> Sequence[Targets] | None:
    """The targets of a shard that is there; ``None`` where it has to be made, or held the start of this one."""
    if not path.is_file():
        return None
    shard = load_targets(path)
    _require_texts(path, shard, chunk)
    if len(shard.keys) < len(chunk):
        return None
    _require_classes(path, shard.targets, labels)
    return shard.targets


def _require_texts(path: Path, shard: Shard, chunk: Sequence[Document]) -> None:
    """Refuses a shard of other texts, or of the same names with other words."""
    texts = shard.texts or tuple(document.text_sha256 for document in chunk)[: len(shard.keys)]
    if len(shard.keys) > len(chunk):
        raise UsageError(
            f"{path} has labels of {len(shard.keys)} texts, wanted are {len(chunk)}",
            "give as many texts as before or more, or another run folder",
        )
    for document, key, text in zip(chunk, shard.keys, texts, strict=False):
        if (key, text) != (document.doc_key, document.text_sha256):
            raise UsageError(
                f"{path} has labels of other texts: where it has {key}, now there is "
                f"{document.doc_key}" + (" with other words" if key == document.doc_key else ""),
                "give the same texts in the same order as before, or another run folder",
            )


def _require_classes(path: Path, targets: Sequence[Targets], labels: Labels) -> None:
    """Refuses a shard whose distributions have other classes than the teacher's."""
    wanted = (1 + len(labels.entities), labels.relations.class_count)
    for each in targets:
        found = each.types.shape[1], each.relations.shape[1]
        if found != wanted:
            raise ModelDamagedError(
                f"{path} has distributions over {found[0]} and {found[1]} classes of entities and "
                f"relations; the teacher has {wanted[0]} and {wanted[1]}",
                "remove the folder and label again, or give the teacher that made it",
            )


def _label_shard(
    teacher: Teacher, documents: Sequence[Document], path: Path, workers: int
) -> Sequence[Targets]:
    """Labels and saves a shard, and gives it as it was saved: a resumed run learns from the same numbers."""

    def labelled(document: Document) -> Targets:
        return targets_from(teacher.predict(document, TEACHER_SETTINGS), teacher.labels.relations)

    targets = _ordered(labelled, documents, workers)
    save_targets(path, [SoftDocument(*each) for each in zip(documents, targets, strict=True)])
    return load_targets(path).targets


def _ordered(labelled: Any, documents: Iterable[Document], workers: int) -> Iterator[Targets]:
    return in_order(labelled, documents, workers) if workers > 1 else map(labelled, documents)


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
    if path.is_file():
        _require_same(path, described)
        return
    folder.mkdir(parents=True, exist_ok=True)
    with replacing(path) as temporary:
        temporary.write_text(json.dumps(described, indent=2) + "\n", encoding="utf-8")


def _require_same(path: Path, described: dict[str, Any]) -> None:
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
        members = [Member(*each) for each in zip(running, self.weights, strict=True)]
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
    _require_numbers(models, weights, temperature)
    folders = tuple(open_folder(locate_model(model)) for model in models)
    for folder in folders:
        if folder.config.given_entities:
            raise UsageError(
                f"{folder.path} predicts no entities, only relations between given ones",
                "give a teacher that predicts entities, relations and coreference",
            )
        _require_alike(folders[0], folder)
    return Panel(folders, weights, temperature)


def load_pipeline(folder: ModelFolder, threads: int = 1) -> Pipeline:
    """A model as it predicts, in full precision where the folder has that graph."""
    config, pairs = folder.config, folder.path / PAIRS_GRAPH
    network = OnnxNetwork(_graph(folder), pairs if pairs.is_file() else None, threads)
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


def _graph(folder: ModelFolder) -> Path:
    try:
        return folder.graph("fp32")
    except ModelNotFoundError:
        return folder.graph(None)


def _require_numbers(
    models: Sequence[str | Path], weights: Sequence[float], temperature: float
) -> None:
    if not models:
        raise UsageError("there is no teacher", "give at least one --teacher MODEL")
    if len(weights) != len(models):
        raise UsageError(
            f"{len(weights)} weights for {len(models)} teachers",
            "give --weight once for each --teacher, in the same order, or not at all",
        )
    for name, value in [("weight", each) for each in weights] + [("temperature", temperature)]:
        if not (math.isfinite(value) and value > 0):
            raise UsageError(f"{name} = {value:g} is not possible", f"a {name} is a number above 0")


def _require_alike(one: ModelFolder, other: ModelFolder) -> None:
    left, right = one.config, other.config
    difference = _difference(left.labels, right.labels)
    if not difference and left.schema_hash != right.schema_hash:
        difference = (
            f"the schema of one is {left.schema_name!r} ({left.schema_hash[:12]}), "
            f"of the other {right.schema_name!r} ({right.schema_hash[:12]})"
        )
    if difference:
        raise ModelMismatchError(
            f"teachers {left.name} ({one.path}) and {right.name} ({other.path}) differ: {difference}",
            "teachers of one student need the same label schema",
        )


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
            return f"the {name} of one are {_listed(one)}, of the other {_listed(other)}"
    if left.groups != right.groups:
        return f"the groups of labels of one are {left.groups}, of the other {right.groups}"
    return "one links mentions, the other does not"


def _listed(labels: Sequence[str]) -> str:
    return ", ".join(labels) or "none"
