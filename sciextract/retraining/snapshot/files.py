"""A snapshot as a folder: built from an open project, whole or not at all, and read back exactly."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path

from sciextract.documents.document import AnnotatedDocument, Document
from sciextract.errors import TrainingDataError
from sciextract.formats.base import BadRecord, Source
from sciextract.formats.jsonl import encode, read_jsonl
from sciextract.retraining.snapshot.documents import (
    Origin,
    Snapshot,
    Split,
    TrainingDocument,
    from_read,
    to_line,
    with_fields,
)
from sciextract.retraining.snapshot.gathering import (
    Gathering,
    GoldFile,
    check_project_labels,
    survey,
)
from sciextract.retraining.snapshot.manifest import (
    FileEntry,
    LineFile,
    Manifest,
    SplitCounts,
    nothing_to_train,
    read_manifest,
    remarks,
    sha256_of,
    write_manifest,
)
from sciextract.store import Project
from sciextract.workflows.output import reported_as, whole_output

UNDECIDED_FILE = "undecided.jsonl"

Files = dict[str, FileEntry]


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
    with reported_as(str(folder)):
        folder.parent.mkdir(parents=True, exist_ok=True)
    with whole_output(folder) as partial:
        with reported_as(str(folder)):
            partial.mkdir()
        splits, files = _write_splits(gathering, partial)
        if not splits[Split.TRAIN].documents:
            raise nothing_to_train(splits, gathering.left_out, project.path)
        files[UNDECIDED_FILE] = _write_undecided(gathering, partial)
        manifest = _manifest(project, gathering, splits, files, list(read.values()))
        with reported_as(str(folder)):
            write_manifest(manifest, partial)
    return manifest


def file_of(split: Split) -> str:
    """The name of a split's file."""
    return f"{split.value}.jsonl"


def _write_splits(gathering: Gathering, folder: Path) -> tuple[dict[Split, SplitCounts], Files]:
    counts = {split: SplitCounts() for split in Split}
    with ExitStack() as stack:
        written = {
            split: stack.enter_context(closing(LineFile(folder / file_of(split))))
            for split in Split
        }
        for split, document in gathering.documents():
            written[split].write(to_line(document))
            counts[split].add(document)
    return counts, {file_of(split): file.entry for split, file in written.items()}


def _write_undecided(gathering: Gathering, folder: Path) -> FileEntry:
    with closing(LineFile(folder / UNDECIDED_FILE)) as written:
        for number in gathering.undecided():
            written.write(encode(with_fields(gathering.text(number), {})))
    return written.entry


def _manifest(
    project: Project,
    gathering: Gathering,
    splits: dict[Split, SplitCounts],
    files: Files,
    read: list[GoldFile],
) -> Manifest:
    train, schema = splits[Split.TRAIN], project.schema
    return Manifest(
        project=project.path.stem,
        schema=schema.name,
        schema_hash=schema.content_hash,
        splits=splits,
        undecided=files[UNDECIDED_FILE].documents,
        share_of_base=train.origins.get(Origin.BASE.value, 0) / train.documents,
        left_out=dict(sorted(gathering.left_out.items())),
        warnings=remarks(splits, gathering.left_out, schema, read),
        files=files,
    )


_AGAIN = "make the snapshot again: sciextract retrain --project DB"


def read_snapshot(folder: Path) -> Snapshot:
    """All splits of a snapshot, after its files were held against their hashes.

    Raises:
        TrainingDataError: It is not a snapshot, or a file is missing or not as it was written.
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
    return (each.document for each in read_lines(folder / UNDECIDED_FILE))


def verify(folder: Path, manifest: Manifest) -> None:
    """Hold every file of a snapshot against its hash.

    Raises:
        TrainingDataError: One is missing or not as it was written.
    """
    for name in (*map(file_of, Split), UNDECIDED_FILE):
        path, entry = folder / name, manifest.files.get(name)
        try:
            actual = sha256_of(path)
        except OSError as error:
            raise TrainingDataError(f"{path} cannot be read: {error.strerror}", _AGAIN) from error
        if entry is None:
            raise TrainingDataError(f"{path} is not in the manifest", _AGAIN)
        if actual != entry.sha256:
            problem = (
                f"{path} is not as it was written: sha256 {actual[:12]} found, the manifest has"
            )
            raise TrainingDataError(f"{problem} {entry.sha256[:12]}", _AGAIN)


def _documents(path: Path) -> Iterator[TrainingDocument]:
    for read in read_lines(path):
        document = from_read(read)
        if document is None:
            key = read.document.doc_key
            raise TrainingDataError(
                f"{path}: {key!r} does not state which layers are complete", _AGAIN
            )
        yield document


def read_lines(path: Path) -> Iterator[AnnotatedDocument]:
    """The documents of a file, tokens as they were written.

    Raises:
        TrainingDataError: The file is missing or damaged.
    """
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
