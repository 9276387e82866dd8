"""Soft targets: what a teacher says about unlabelled documents, stored without pickle."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from zipfile import BadZipFile

import numpy as np

from sciextract.documents.document import Document
from sciextract.errors import ModelDamagedError
from sciextract.inference.layout import RelationLayout
from sciextract.inference.pieces import PieceEncoder
from sciextract.inference.pipeline import Labels, RawPrediction
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


def save_targets(path: Path, keys: Sequence[str], targets: Sequence[Targets]) -> None:
    """Writes the targets of one shard as compressed arrays, halves for probabilities."""
    arrays: dict[str, np.ndarray] = {"keys": np.array(keys, dtype=np.str_)}
    for name in ARRAYS:
        parts = [getattr(item, name) for item in targets]
        joined = np.concatenate(parts)
        kind = np.float16 if joined.dtype == np.float32 else np.int32
        arrays[name] = joined.astype(kind)
        arrays[f"{name}_count"] = np.array([len(part) for part in parts], dtype=np.int32)
    temporary = path.with_suffix(".part.npz")
    np.savez_compressed(temporary, **arrays)  # type: ignore[arg-type]
    temporary.replace(path)


def load_targets(path: Path) -> dict[str, Targets]:
    """Targets by document key.

    Raises:
        ModelDamagedError: The shard is not whole.
    """
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        columns = {name: _split(arrays[name], arrays[f"{name}_count"]) for name in ARRAYS}
    except (OSError, ValueError, KeyError, EOFError, BadZipFile) as error:
        raise ModelDamagedError(
            f"{path}: the soft targets cannot be read: {error}", "remove the file and label again"
        ) from error
    return {str(key): _targets(columns, row) for row, key in enumerate(arrays["keys"])}


def _targets(columns: dict[str, list[np.ndarray]], row: int) -> Targets:
    spans, types, pairs, relations, links, weights = (columns[name][row] for name in ARRAYS)
    return Targets(spans, types, pairs, relations, links, weights, soft=True)


def _split(array: np.ndarray, counts: np.ndarray) -> list[np.ndarray]:
    wide = array.astype(np.float32 if array.dtype == np.float16 else np.int64)
    return np.split(wide, np.cumsum(counts)[:-1])


def soft_examples(
    documents: Sequence[SoftDocument], labels: Labels, pieces: PieceEncoder, limit: int
) -> Iterator[Example]:
    """One example per window of each document."""
    for item in documents:
        yield from windows_of(item.document, item.targets, labels, pieces, limit)
