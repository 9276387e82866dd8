"""The report of what went into a snapshot: counts, hashes and warnings, in ``manifest.json``."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from sciextract.documents.annotations import State
from sciextract.errors import TrainingDataError
from sciextract.store.state.rows import Layer
from sciextract.workflows.snapshot.suggested import suggesting_models
from sciextract.workflows.snapshot.types import Split, TrainingDocument
from sciextract.workflows.snapshot.verdicts import Verdict, mention_states, verdicts_of

FORMAT_VERSION = 1
MANIFEST_FILE = "manifest.json"
UNTYPED = "(no type)"
"""Stands for the label of mentions that have none."""

Tally = dict[str, int]


@dataclass(frozen=True, slots=True)
class FileEntry:
    """A file of the snapshot.

    Attributes:
        sha256: Hex hash of its bytes.
        size_bytes: Its size.
        documents: Its lines.
    """

    sha256: str
    size_bytes: int
    documents: int


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
        states: By layer and state.
        suggested_by: By model the documents with positives that it had proposed: a score on these favours it.
    """

    documents: int = 0
    origins: Tally = field(default_factory=dict)
    complete: Tally = field(default_factory=dict)
    verdicts: dict[str, Tally] = field(default_factory=dict)
    labels: dict[str, dict[str, Tally]] = field(default_factory=dict)
    states: dict[str, Tally] = field(default_factory=dict)
    suggested_by: Tally = field(default_factory=dict)

    def add(self, document: TrainingDocument) -> None:
        """Count a document."""
        self.documents += 1
        _count(self.origins, document.origin.value)
        for layer in sorted(document.complete):
            _count(self.complete, layer.value)
        for each in _items(document):
            _count(self.verdicts.setdefault(each.layer, _verdicts()), each.verdict.value)
            _count(self.states.setdefault(each.layer, {}), each.state.value)
            if each.label is not None:
                of_layer = self.labels.setdefault(each.layer, {})
                _count(of_layer.setdefault(each.label, _verdicts()), each.verdict.value)
        for model in sorted(suggesting_models(document.annotated.annotations)):
            _count(self.suggested_by, model)

    def positives(self, layer: Layer, label: str | None = None) -> int:
        """Positive items of a layer, perhaps only those of one label."""
        found = self.verdicts if label is None else self.labels.get(layer.value, {})
        return found.get(layer.value if label is None else label, {}).get(Verdict.POSITIVE, 0)


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
        files: The files of the snapshot by name.
    """

    project: str
    schema: str
    schema_hash: str
    splits: Mapping[Split, SplitCounts]
    undecided: int
    share_of_base: float
    left_out: Mapping[str, int]
    warnings: tuple[str, ...]
    files: Mapping[str, FileEntry]

    def to_json(self) -> dict[str, Any]:
        """The content of ``manifest.json``."""
        values = {name: getattr(self, name) for name in ("project", "schema", "schema_hash")}
        return {
            "format_version": FORMAT_VERSION,
            **values,
            "splits": {each.value: asdict(counts) for each, counts in self.splits.items()},
            "undecided": self.undecided,
            "share_of_base": round(self.share_of_base, 4),
            "left_out": dict(self.left_out),
            "warnings": list(self.warnings),
            "files": {name: asdict(entry) for name, entry in self.files.items()},
        }


def write_manifest(manifest: Manifest, folder: Path) -> None:
    """Write ``manifest.json`` into a folder."""
    text = json.dumps(manifest.to_json(), indent=2, ensure_ascii=True, sort_keys=True)
    (folder / MANIFEST_FILE).write_text(text + "\n", encoding="utf-8")


def read_manifest(folder: Path) -> Manifest:
    """Read ``manifest.json`` of a folder.

    Raises:
        TrainingDataError: It is not there, is damaged, or a newer version wrote it.
    """
    path = folder / MANIFEST_FILE
    try:
        values = json.loads(path.read_text("utf-8"))
        if values["format_version"] != FORMAT_VERSION:
            raise _of_another_version(path, values["format_version"])
        return _from_json(values)
    except FileNotFoundError as error:
        raise TrainingDataError(f"{folder} is no snapshot: it has no {MANIFEST_FILE}") from error
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise TrainingDataError(f"{path} is damaged: {error!r}", _AGAIN) from error


_AGAIN = "sciextract retrain --project DB makes a new snapshot"


def _of_another_version(path: Path, found: object) -> TrainingDataError:
    problem = f"{path}: format_version {found!r} found, allowed is {FORMAT_VERSION}"
    return TrainingDataError(problem, _AGAIN)


def _from_json(values: Mapping[str, Any]) -> Manifest:
    names = ("project", "schema", "schema_hash", "undecided", "share_of_base", "left_out")
    return Manifest(
        **{name: values[name] for name in names},
        splits={each: SplitCounts(**values["splits"][each.value]) for each in Split},
        warnings=tuple(values["warnings"]),
        files={name: FileEntry(**entry) for name, entry in values["files"].items()},
    )


@dataclass(frozen=True, slots=True)
class _Item:
    layer: str
    label: str | None
    state: State
    verdict: Verdict


def _items(document: TrainingDocument) -> Iterator[_Item]:
    annotations, verdicts = document.annotated.annotations, verdicts_of(document)
    for entity in annotations.entities:
        label = entity.label or UNTYPED
        yield _Item(Layer.ENTITIES.value, label, entity.state, verdicts.entities[entity.id])
    for relation in annotations.relations:
        verdict = verdicts.relations[relation.id]
        yield _Item(Layer.RELATIONS.value, relation.label, relation.state, verdict)
    for cluster in annotations.clusters:
        for mention, state in zip(cluster.mentions, mention_states(cluster), strict=True):
            verdict = verdicts.mentions[cluster.id, mention]
            yield _Item(Layer.COREFERENCE.value, None, state, verdict)


def _verdicts() -> Tally:
    return {each.value: 0 for each in Verdict}


def _count(tally: Tally, key: str) -> None:
    tally[key] = tally.get(key, 0) + 1
