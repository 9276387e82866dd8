"""Soft labels: what a teacher says about texts, in shards on disk that an interrupted run does not make again.

Targets are entity distributions of all spans, relation distributions of pairs and antecedent probabilities
(hard and soft labels on a transfer set: Hinton et al. 2015, arXiv 1503.02531, section 2). They are stored without
pickle. ``retrain`` remembers by them what the start model knew.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count, islice
from pathlib import Path
from typing import Protocol
from zipfile import BadZipFile

import numpy as np

from sciextract.documents.document import Document
from sciextract.errors import ModelDamagedError, UsageError
from sciextract.inference.batching import in_order
from sciextract.inference.decoding import RelationLayout
from sciextract.inference.pipeline import Labels, RawPrediction
from sciextract.inference.settings import DecodeSettings, PerTask
from sciextract.inference.tokenization import SubwordTokenizer
from sciextract.retraining.events import DocumentsLabelled, Listener
from sciextract_trainer.checkpoint import replacing, require_time
from sciextract_trainer.data.examples import Example, Targets, windows_of

ARRAYS = ("spans", "types", "pairs", "relations", "links", "link_weights")


@dataclass(frozen=True, slots=True)
class SoftDocument:
    """An unlabelled document with a teacher's targets."""

    document: Document
    targets: Targets


def targets_from(raw: RawPrediction, layout: RelationLayout) -> Targets:
    """A teacher's distributions over the spans, pairs and links it considered."""
    pairs, probabilities = raw.pairs.pairs, raw.pairs.probabilities
    if not len(pairs):
        probabilities = np.zeros((0, layout.class_count), dtype=np.float32)
    return Targets(
        spans=raw.mentions.spans,
        types=raw.mentions.types,
        pairs=np.concatenate([pairs, pairs[:, ::-1]]),
        relations=np.concatenate([probabilities, probabilities[:, layout.mirror()]]),
        links=raw.links.links,
        link_weights=raw.links.probabilities,
        soft=True,
    )


def save_targets(path: Path, documents: Sequence[SoftDocument]) -> None:
    """Writes the targets of one shard as compressed arrays, halves for probabilities.

    Raises:
        OutputError: The disk is full; a shard that was there before is kept.
    """
    targets = [item.targets for item in documents]
    arrays: dict[str, np.ndarray] = {
        "keys": np.array([item.document.doc_key for item in documents], dtype=np.str_),
        "texts": np.array([item.document.text_sha256 for item in documents], dtype=np.str_),
    }
    for name in ARRAYS:
        parts = [getattr(item, name) for item in targets]
        joined = np.concatenate(parts)
        # Half precision keeps a probability within 0.0005, far less than teachers differ by.
        kind = np.float16 if joined.dtype == np.float32 else np.int32
        arrays[name] = joined.astype(kind)
        arrays[f"{name}_count"] = np.array([len(part) for part in parts], dtype=np.int32)
    with replacing(path) as temporary, temporary.open("wb") as stream:
        np.savez_compressed(stream, **arrays)  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True)
class LabelShard:
    """Targets as they were stored.

    Attributes:
        keys: Keys of the documents.
        texts: SHA-256 of each text.
        targets: What the teacher says of each.
    """

    keys: tuple[str, ...]
    texts: tuple[str, ...]
    targets: tuple[Targets, ...]


def load_targets(path: Path) -> LabelShard:
    """One shard.

    Raises:
        ModelDamagedError: It is not whole; names the file.
    """
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        columns: dict[str, list[np.ndarray]] = {}
        for name in ARRAYS:
            array = arrays[name]
            wide = array.astype(np.float32 if array.dtype == np.float16 else np.int64)
            columns[name] = np.split(wide, np.cumsum(arrays[f"{name}_count"])[:-1])
        keys, texts = (tuple(map(str, arrays[name])) for name in ("keys", "texts"))
        targets = (
            Targets(**{name: column[row] for name, column in columns.items()}, soft=True)  # type: ignore[arg-type]
            for row in range(len(keys))
        )
        return LabelShard(keys, texts, tuple(targets))
    except (OSError, ValueError, LookupError, EOFError, BadZipFile, zlib.error) as error:
        raise ModelDamagedError(
            f"{path}: the soft targets cannot be read: {error}",
            "remove this file and give the same command again: it alone is labelled anew",
        ) from error


def soft_examples(
    documents: Sequence[SoftDocument], labels: Labels, subwords: SubwordTokenizer, limit: int
) -> Iterator[Example]:
    """One example per window of each document."""
    for item in documents:
        yield from windows_of(item.document, item.targets, labels, subwords, limit)


SHARD_DOCUMENTS = 500
"""Documents of a shard: about half a minute of work for two small teachers on two cores."""

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

    def label_one(document: Document) -> Targets:
        return targets_from(teacher.predict(document, TEACHER_SETTINGS), teacher.labels.relations)

    folder.mkdir(parents=True, exist_ok=True)
    found: list[SoftDocument] = []
    source = iter(documents)
    for number in count():
        chunk = list(islice(source, SHARD_DOCUMENTS))
        if not chunk:
            return found
        path = folder / f"soft-{number:04d}.npz"
        targets = _read_finished(path, chunk, teacher.labels)
        if targets is None:
            require_time(until)
            made: Iterable[Targets] = map(label_one, chunk)
            if workers > 1:
                made = in_order(label_one, chunk, workers)
            save_targets(path, [SoftDocument(*pair) for pair in zip(chunk, made, strict=True)])
            # As it was saved, in half precision: a resumed run learns from the same numbers.
            targets = load_targets(path).targets
        found += [SoftDocument(*pair) for pair in zip(chunk, targets, strict=True)]
        listener(DocumentsLabelled(documents=len(found), of=len(documents)))
    return found


def _read_finished(
    path: Path, chunk: Sequence[Document], labels: Labels
) -> Sequence[Targets] | None:
    """The targets of a shard that is there; ``None`` where it has to be made, or held the start of this one."""
    if not path.is_file():
        return None
    shard = load_targets(path)
    if len(shard.keys) > len(chunk):
        raise UsageError(
            f"{path} has labels of {len(shard.keys)} texts, wanted are {len(chunk)}",
            "give as many texts as before or more, or another run folder",
        )
    for document, key, text in zip(chunk, shard.keys, shard.texts, strict=False):
        if (key, text) != (document.doc_key, document.text_sha256):
            raise UsageError(
                f"{path} has labels of other texts: where it has {key}, now there is "
                f"{document.doc_key}" + (" with other words" if key == document.doc_key else ""),
                "give the same texts in the same order as before, or another run folder",
            )
    if len(shard.keys) < len(chunk):
        return None
    wanted = (1 + len(labels.entities), labels.relations.class_count)
    for target in shard.targets:
        found = target.types.shape[1], target.relations.shape[1]
        if found != wanted:
            raise ModelDamagedError(
                f"{path} has distributions over {found[0]} and {found[1]} classes of entities and "
                f"relations; the teacher has {wanted[0]} and {wanted[1]}",
                "remove the folder and label again, or give the teacher that made it",
            )
    return shard.targets
