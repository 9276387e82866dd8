"""Soft labels of many texts, in shards on disk that an interrupted run does not make again.

Targets are entity distributions of all spans, relation distributions of pairs and antecedent
probabilities (hard and soft labels on a transfer set: Hinton et al. 2015, arXiv 1503.02531, section 2).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from itertools import count, islice
from pathlib import Path
from typing import Any, Protocol

from sciextract.documents.document import Document
from sciextract.errors import ModelDamagedError, UsageError
from sciextract.inference.ordered import in_order
from sciextract.inference.pipeline import Labels, RawPrediction
from sciextract.inference.settings import DecodeSettings, PerTask
from sciextract.workflows.events import Report
from sciextract_trainer.data.examples import Targets
from sciextract_trainer.data.soft import (
    Shard,
    SoftDocument,
    load_targets,
    save_targets,
    targets_from,
)
from sciextract_trainer.full_disk import replacing
from sciextract_trainer.slices import require_time

SHARD_DOCUMENTS = 500
"""Documents of a shard: about half a minute of work for two small teachers on two cores."""

DESCRIPTION = "labels.json"

TEACHER_SETTINGS = DecodeSettings(
    thresholds=PerTask(0.3, 0.5, 0.5), nesting=True, candidates=True, candidate_score=0.05
)
"""Low enough that the student also learns what the teacher doubts."""


class Teacher(Protocol):
    """What labels texts: one model's pipeline, or a committee of several."""

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
    report: Report,
    *,
    until: float = float("inf"),
    workers: int = 1,
) -> list[SoftDocument]:
    """Soft targets for all documents, in shards that an interrupted run does not repeat.

    Args:
        teacher: Labels the documents.
        documents: The texts; more of them in another call go on behind those of an earlier one.
        folder: Where the shards are.
        report: Told after each shard.
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
        report({"event": "labelled", "documents": len(found), "of": len(documents)})
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
