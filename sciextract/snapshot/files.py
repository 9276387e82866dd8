"""A snapshot as a folder: built from an open project, whole or not at all, and read back exactly.

Counts, hashes and warnings are in ``manifest.json``.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from sciextract import atomic
from sciextract.codec import decode, encode
from sciextract.documents.annotations import Annotations, Cluster, Entity, Layer, Relation, State
from sciextract.documents.document import AnnotatedDocument, Document
from sciextract.documents.schema import LabelSchema
from sciextract.errors import TrainingDataError, as_command, explain_write_errors
from sciextract.formats.base import BadRecord, Source
from sciextract.formats.exchange import encode as encode_document
from sciextract.formats.jsonl import read_jsonl
from sciextract.metrics.promotion import CROSS_VALIDATED, HELD_OUT
from sciextract.snapshot.documents import (
    Origin,
    Split,
    TrainingDocument,
    Verdict,
    from_read,
    to_line,
    verdicts_of,
)
from sciextract.snapshot.gathering import (
    NOT_DONE,
    Gathering,
    GoldFile,
    check_project_labels,
    survey,
)
from sciextract.store import Project
from sciextract.store.rows import IN_VIEW

_MODEL = "model:"


def suggesting_models(
    annotations: Annotations, states: Collection[State] = IN_VIEW
) -> frozenset[str]:
    """The models (``NAME@HASH``) that had proposed an entity, relation or cluster, of those in some states."""
    kinds: tuple[Iterable[Entity | Relation | Cluster], ...]
    kinds = (annotations.entities, annotations.relations, annotations.clusters)
    sources = {item.source for items in kinds for item in items if item.state in states}
    models = (source.removeprefix(_MODEL) for source in sources if source.startswith(_MODEL))
    return frozenset(model.partition("/")[0] for model in models)


FORMAT_VERSION = 1
MANIFEST_FILE = "manifest.json"
UNTYPED = "(no type)"
"""Stands for the label of mentions that have none."""

Tally = dict[str, int]


@dataclass(slots=True)
class SplitCounts:
    """What one split holds.

    Attributes:
        documents: How many.
        origins: By origin (project, base, gate).
        complete: By layer in how many documents it is done.
        verdicts: By layer (its items: entities, relations, mentions of clusters) how many are positive,
            negative and masked. Negatives are those that somebody rejected; those that follow from a
            complete layer are not counted.
        labels: By layer and label the same.
        suggested_by: By model the documents with positives that it had proposed: a score on these favours it.
        finished: Documents of the project with a complete layer.
    """

    documents: int = 0
    origins: Tally = field(default_factory=dict)
    complete: Tally = field(default_factory=dict)
    verdicts: dict[str, Tally] = field(default_factory=dict)
    labels: dict[str, dict[str, Tally]] = field(default_factory=dict)
    suggested_by: Tally = field(default_factory=dict)
    finished: int = 0

    def add(self, document: TrainingDocument) -> None:
        self.documents += 1
        _count(self.origins, document.origin.value)
        self.finished += document.origin is Origin.PROJECT and bool(document.complete)
        for layer in sorted(document.complete):
            _count(self.complete, layer.value)
        annotations, verdicts = document.annotated.annotations, verdicts_of(document)
        for entity in annotations.entities:
            label = entity.label or UNTYPED
            self._add_item(Layer.ENTITIES, label, verdicts.entities[entity.id])
        for relation in annotations.relations:
            self._add_item(Layer.RELATIONS, relation.label, verdicts.relations[relation.id])
        for cluster in annotations.clusters:
            for mention in cluster.mentions:
                self._add_item(Layer.COREFERENCE, None, verdicts.mentions[cluster.id, mention])
        for model in sorted(suggesting_models(annotations)):
            _count(self.suggested_by, model)

    def _add_item(self, layer: Layer, label: str | None, verdict: Verdict) -> None:
        none_yet = dict.fromkeys(map(str, Verdict), 0)
        _count(self.verdicts.setdefault(layer.value, {**none_yet}), verdict.value)
        if label is not None:
            of_layer = self.labels.setdefault(layer.value, {})
            _count(of_layer.setdefault(label, {**none_yet}), verdict.value)

    def positives(self, layer: Layer, label: str | None = None) -> int:
        """Positive items of a layer, perhaps only those of one label."""
        tallies = self.verdicts if label is None else self.labels.get(layer.value, {})
        return tallies.get(layer.value if label is None else label, {}).get(Verdict.POSITIVE, 0)


@dataclass(frozen=True, slots=True)
class Manifest:
    """What is in a snapshot.

    Attributes:
        project: The project's name.
        schema: Its label schema's name.
        schema_hash: What changes the meaning of labels, hashed.
        splits: Counts of each split.
        undecided: Abstracts in ``undecided.jsonl``.
        share_of_base: Which part (0 to 1) of the train split comes from ``--base``.
        left_out: Documents that went into no split, by reason.
        warnings: What the user should know.
        files: SHA-256 of each file by name.
    """

    project: str
    schema: str
    schema_hash: str
    splits: Mapping[Split, SplitCounts]
    undecided: int
    share_of_base: float
    left_out: Mapping[str, int]
    warnings: tuple[str, ...]
    files: Mapping[str, str]
    format_version: int = FORMAT_VERSION


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A snapshot in memory.

    Attributes:
        train: To learn from.
        dev: To choose a checkpoint and thresholds by.
        gate: To compare the old and the new model on, once; each with at least one complete layer.
        manifest: What is in it.
    """

    train: tuple[TrainingDocument, ...]
    dev: tuple[TrainingDocument, ...]
    gate: tuple[TrainingDocument, ...]
    manifest: Manifest


_AGAIN = "sciextract retrain --project DB makes a new snapshot"


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise TrainingDataError(f"{path} cannot be read: {error.strerror}", _AGAIN) from error


def read_manifest(folder: Path) -> Manifest:
    """Read ``manifest.json`` of a folder.

    Raises:
        TrainingDataError: It is not there, is damaged, or another version wrote it.
    """
    path = folder / MANIFEST_FILE
    if not path.exists():
        raise TrainingDataError(f"{folder} is not a snapshot: it has no {MANIFEST_FILE}")
    with _readable(path):
        data = path.read_bytes()
    manifest = decode(data, Manifest, path, error=TrainingDataError, hint=_AGAIN)
    if manifest.format_version != FORMAT_VERSION:
        raise TrainingDataError(
            f"{path}: format_version {manifest.format_version} found; expected {FORMAT_VERSION}",
            _AGAIN,
        )
    return manifest


def _count(tally: Tally, key: str) -> None:
    tally[key] = tally.get(key, 0) + 1


Splits = Mapping[Split, SplitCounts]


def remarks(
    splits: Splits, left_out: Mapping[str, int], schema: LabelSchema, files: Iterable[GoldFile]
) -> Iterator[str]:
    """Warnings, most important first."""
    train, gate = splits[Split.TRAIN], splits[Split.GATE]
    if not any(train.positives(layer) for layer in Layer):
        yield (
            "train has nothing positive: all that was decided is wrong or absent, and a model that "
            "learns only this proposes less and less; accept or add what is right"
        )
    else:
        known = {Layer.ENTITIES: schema.entity_labels, Layer.RELATIONS: schema.relation_labels}
        for layer, labels in known.items():
            if unseen := [label for label in labels if not train.positives(layer, label)]:
                yield (
                    f"{layer.value} without a positive example in train: {', '.join(unseen)}; "
                    "the model cannot learn them from it"
                )
    if not splits[Split.DEV].documents:
        yield (
            "dev is empty: no held-out abstract has a done layer, so nothing tells when the training "
            "has gone on for too long; an abstract is marked as done with D at the desk (sciextract tui)"
        )
    finished = sum(split.finished for split in splits.values())
    if few := too_few_to_compare(gate.documents, finished, gate.positives(Layer.ENTITIES)):
        yield few
    if waiting := left_out.get(NOT_DONE, 0):
        yield f"held-out abstracts with decisions, but without any done layer, left out: {waiting}"
    for file in files:
        if file.bad:
            yield f"{file.path}: records that cannot be read, left out: {file.bad}; the first: {file.first_problem}"
        if file.undecided:
            yield (
                f"{file.path}: documents with undecided items, whose layers are not complete: {file.undecided}; "
                "a model's predictions are not gold"
            )
        for layer in Layer:
            if layer in file.schema.layers - file.layers:
                yield f"{file.path}: no {layer.value} in it, so nothing is learned about them"


def nothing_to_train(splits: Splits, left_out: Mapping[str, int], path: Path) -> TrainingDataError:
    """The error of an empty train split."""
    held_out = (
        splits[Split.DEV].documents + splits[Split.GATE].documents + left_out.get(NOT_DONE, 0)
    )
    if held_out:
        return TrainingDataError(
            f"{path}: there is nothing to train on: all {held_out} abstracts with decisions are held out "
            "(by their hash 1 in 10 is for dev, 2 in 10 are for the gate)",
            "decide more abstracts, or add gold with --base FILE",
        )
    return TrainingDataError(
        f"{path}: there is nothing to train on: nobody has decided or imported any annotation",
        f"{as_command('sciextract', 'tui', path)} to correct what a model proposes, or add gold with --base FILE",
    )


def too_few_to_compare(documents: int, finished: int, entities: int | None = None) -> str:
    """That the held-out abstracts alone will not tell two models apart, and what will; empty where they do.

    Args:
        documents: Held-out documents with a done layer.
        finished: All abstracts of the project with a done layer.
        entities: Gold entities in the held-out ones, where they are counted.
    """
    many, many_entities = HELD_OUT.many
    enough, found, least = many, f"{documents}", f"{many}"
    if entities is not None:
        if entities:
            # As many documents as hold enough entities at the density found.
            enough = max(enough, math.ceil(many_entities * documents / entities))
        found += f" with {entities} gold entities"
        least += f" with {many_entities}"
    if documents >= enough:
        return ""
    few = f"too few abstracts are held out to tell small differences of two models ({found}; {least} do)"
    if finished >= CROSS_VALIDATED.documents:
        return (
            f"{few}: cross-validation over {finished} finished ones does, and takes as long as five trainings "
            "more; --no-cross-validation leaves it out"
        )
    if documents >= HELD_OUT.documents:
        return f"{few}: only a clearly better model will be used"
    return (
        f"{few}. Cross-validation needs {CROSS_VALIDATED.documents} finished ones, and there are {finished}: the "
        "present model will stay in use. Finish more abstracts, or give gold of your own to compare on: "
        "sciextract retrain --gate FILE"
    )


UNDECIDED_FILE = "undecided.jsonl"


def build_snapshot(
    project: Project, folder: Path, *, base: Path | None = None, gate: Path | None = None
) -> Manifest:
    """Write ``{train,dev,gate,undecided}.jsonl`` and ``manifest.json`` into a folder.

    Documents belong to a split by the hash of their text alone, so that none ever moves: 10 % dev, 20 % gate,
    the rest train. One enters when something of it is decided or imported, or a layer is done; dev and gate
    take it only with a done layer. The same project and files give the same bytes.

    Args:
        project: The open project; it is only read.
        folder: Where to write; what is there is replaced.
        base: The user's copy of a published set, for train and dev.
        gate: Further gold for the gate.

    Returns:
        What went in, with warnings.

    Raises:
        TrainingDataError: There is nothing to train on; nothing is written.
        SchemaError: Items have labels that the project's schema lacks.
        UsageError: A file is the project itself, or standard input.
        InputMissingError: A file does not exist.
        FormatError: A file cannot be read at all.
        OutputError: The folder cannot be written.
    """
    schema = project.schema
    check_project_labels(project, schema)
    read = {
        origin: survey(path, origin, schema, project)
        for origin, path in ((Origin.BASE, base), (Origin.GATE, gate))
        if path is not None
    }
    gathering = Gathering(project, read.get(Origin.BASE), read.get(Origin.GATE))
    hint = "make room, or choose another --run"
    with explain_write_errors(folder, hint, when_full=hint):
        folder.parent.mkdir(parents=True, exist_ok=True)
        with atomic.replacing(folder, alone=True) as partial:
            partial.mkdir()
            manifest = _write_files(project, gathering, list(read.values()), partial)
            (partial / MANIFEST_FILE).write_text(encode(manifest), encoding="utf-8")
    return manifest


def _write_files(
    project: Project, gathering: Gathering, read: list[GoldFile], folder: Path
) -> Manifest:
    """Write the splits and the undecided abstracts one by one; give what is in them."""
    counts = {split: SplitCounts() for split in Split}
    train, schema = counts[Split.TRAIN], project.schema
    with ExitStack() as stack:
        # The undecided come last: what goes into a split is taken, and only the rest is left for them.
        streams = {
            name: stack.enter_context((folder / name).open("w", encoding="utf-8", newline="\n"))
            for name in FILES
        }
        for split, document in gathering.documents():
            streams[file_of(split)].write(f"{to_line(document)}\n")
            counts[split].add(document)
        if not train.documents:
            raise nothing_to_train(counts, gathering.left_out, project.path)
        undecided = gathering.choose_undecided()
        for number in undecided:
            text = replace(project.document_state(number).stored.document, fields={})
            line = encode_document(AnnotatedDocument(text))
            streams[UNDECIDED_FILE].write(f"{line}\n")
    return Manifest(
        project=project.path.stem,
        schema=schema.name,
        schema_hash=schema.content_hash,
        splits=counts,
        undecided=len(undecided),
        share_of_base=round(train.origins.get(Origin.BASE.value, 0) / train.documents, 4),
        left_out=dict(sorted(gathering.left_out.items())),
        warnings=tuple(remarks(counts, gathering.left_out, schema, read)),
        files={name: atomic.sha256_of(folder / name) for name in FILES},
    )


def file_of(split: Split) -> str:
    return f"{split.value}.jsonl"


FILES = (*map(file_of, Split), UNDECIDED_FILE)


def read_snapshot(folder: Path) -> Snapshot:
    """All splits of a snapshot, after its files were held against their hashes.

    Raises:
        TrainingDataError: It is not a snapshot, or a file is missing or not as it was written.
    """
    manifest = read_manifest(folder)
    for name in FILES:
        path, wanted = folder / name, manifest.files.get(name)
        with _readable(path):
            actual = atomic.sha256_of(path)
        if actual != wanted:
            raise TrainingDataError(
                f"{path} is not as it was written: sha256 {actual[:12]} found, the manifest has "
                f"{wanted[:12] if wanted else 'none'}",
                _AGAIN,
            )
    splits: dict[Split, list[TrainingDocument]] = {split: [] for split in Split}
    for split, documents in splits.items():
        for read in read_lines(folder / file_of(split)):
            document = from_read(read)
            if document is None:
                raise TrainingDataError(
                    f"{folder / file_of(split)}: {read.document.doc_key!r} does not state which layers "
                    "are complete",
                    _AGAIN,
                )
            documents.append(document)
    train, dev, gate = (tuple(splits[split]) for split in Split)
    return Snapshot(train, dev, gate, manifest)


def read_undecided(folder: Path) -> Iterator[Document]:
    """The project's abstracts that nobody has decided anything about, one by one.

    Raises:
        TrainingDataError: The file is missing or damaged.
    """
    return (read.document for read in read_lines(folder / UNDECIDED_FILE))


def read_lines(path: Path) -> Iterator[AnnotatedDocument]:
    """The documents of a file, tokens as they were written.

    Raises:
        TrainingDataError: The file is missing or damaged.
    """
    with _readable(path):
        size_bytes = path.stat().st_size
    if not size_bytes:
        return
    for item in read_jsonl(Source(str(path))):
        if isinstance(item, BadRecord):
            raise TrainingDataError(item.error.message, _AGAIN) from item.error
        yield item
