"""Soft targets: what a teacher says about unlabelled documents, stored without pickle."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from zipfile import BadZipFile

import numpy as np

from sciextract.documents.document import Document
from sciextract.errors import ModelDamagedError
from sciextract.inference.label_layout import RelationLayout
from sciextract.inference.pipeline import Labels, RawPrediction
from sciextract.inference.tokenization import SubwordTokenizer
from sciextract_trainer.data.examples import Example, Targets, windows_of
from sciextract_trainer.files import replacing

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
        kind = np.float16 if joined.dtype == np.float32 else np.int32
        arrays[name] = joined.astype(kind)
        arrays[f"{name}_count"] = np.array([len(part) for part in parts], dtype=np.int32)
    with replacing(path) as temporary, temporary.open("wb") as stream:
        np.savez_compressed(stream, **arrays)  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True)
class Shard:
    """Targets as they were stored.

    Attributes:
        keys: Keys of the documents.
        texts: SHA-256 of each text; empty in shards that older versions wrote.
        targets: What the teacher says of each.
    """

    keys: tuple[str, ...]
    texts: tuple[str, ...]
    targets: tuple[Targets, ...]


def load_targets(path: Path) -> Shard:
    """One shard.

    Raises:
        ModelDamagedError: It is not whole; names the file.
    """
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        columns = {name: _split(arrays[name], arrays[f"{name}_count"]) for name in ARRAYS}
        keys, texts = (tuple(map(str, arrays.get(name, ()))) for name in ("keys", "texts"))
        return Shard(keys, texts, tuple(_targets(columns, row) for row in range(len(keys))))
    except (OSError, ValueError, LookupError, EOFError, BadZipFile, zlib.error) as error:
        raise ModelDamagedError(
            f"{path}: the soft targets cannot be read: {error}",
            "remove this file and give the same command again: it alone is labelled anew",
        ) from error


def _targets(columns: dict[str, list[np.ndarray]], row: int) -> Targets:
    spans, types, pairs, relations, links, weights = (columns[name][row] for name in ARRAYS)
    return Targets(spans, types, pairs, relations, links, weights, soft=True)


def _split(array: np.ndarray, counts: np.ndarray) -> list[np.ndarray]:
    wide = array.astype(np.float32 if array.dtype == np.float16 else np.int64)
    return np.split(wide, np.cumsum(counts)[:-1])


def soft_examples(
    documents: Sequence[SoftDocument], labels: Labels, subwords: SubwordTokenizer, limit: int
) -> Iterator[Example]:
    """One example per window of each document."""
    for item in documents:
        yield from windows_of(item.document, item.targets, labels, subwords, limit)
