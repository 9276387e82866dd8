"""From a snapshot folder back to training documents; what was written comes back exactly."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from sciextract.documents.document import AnnotatedDocument, Document
from sciextract.errors import TrainingDataError
from sciextract.formats.base import BadRecord, Source
from sciextract.formats.jsonl import read_jsonl
from sciextract.workflows.snapshot.building import UNDECIDED_FILE, file_of
from sciextract.workflows.snapshot.line_file import sha256_of
from sciextract.workflows.snapshot.lines import from_read
from sciextract.workflows.snapshot.manifest import Manifest, read_manifest
from sciextract.workflows.snapshot.types import Snapshot, Split, TrainingDocument

_AGAIN = "make the snapshot again: sciextract retrain --project DB"


def read_snapshot(folder: Path) -> Snapshot:
    """All splits of a snapshot, after its files were held against their hashes.

    Raises:
        TrainingDataError: It is no snapshot, or a file is missing or not as it was written.
    """
    manifest = read_manifest(folder)
    verify(folder, manifest)
    train, dev, gate = (tuple(_documents(folder / file_of(split))) for split in Split)
    return Snapshot(train, dev, gate, manifest)


def read_undecided(folder: Path) -> Iterator[Document]:
    """The project's abstracts that nobody has decided anything about, one by one.

    Raises:
        TrainingDataError: The file is missing or damaged.
    """
    return (each.document for each in _lines(folder / UNDECIDED_FILE))


def verify(folder: Path, manifest: Manifest) -> None:
    """Hold every file of a snapshot against its hash.

    Raises:
        TrainingDataError: One is missing or not as it was written.
    """
    for name in (*map(file_of, Split), UNDECIDED_FILE):
        path, entry = folder / name, manifest.files.get(name)
        try:
            found = sha256_of(path)
        except OSError as error:
            raise TrainingDataError(f"{path} cannot be read: {error.strerror}", _AGAIN) from error
        if entry is None:
            raise TrainingDataError(f"{path} is not in the manifest", _AGAIN)
        if found != entry.sha256:
            problem = (
                f"{path} is not as it was written: sha256 {found[:12]} found, the manifest has"
            )
            raise TrainingDataError(f"{problem} {entry.sha256[:12]}", _AGAIN)


def _documents(path: Path) -> Iterator[TrainingDocument]:
    for read in _lines(path):
        document = from_read(read)
        if document is None:
            key = read.document.doc_key
            raise TrainingDataError(f"{path}: {key!r} does not tell what is complete", _AGAIN)
        yield document


def _lines(path: Path) -> Iterator[AnnotatedDocument]:
    try:
        size_bytes = path.stat().st_size
    except OSError as error:
        raise TrainingDataError(f"{path} cannot be read: {error.strerror}", _AGAIN) from error
    if not size_bytes:
        return
    for item in read_jsonl(Source(str(path))):
        if isinstance(item, BadRecord):
            raise TrainingDataError(item.error.message, _AGAIN) from item.error
        yield item
