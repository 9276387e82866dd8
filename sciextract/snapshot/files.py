"""A snapshot as a folder: built from an open project, whole or not at all, and read back exactly."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

from sciextract import atomic
from sciextract.codec import encode
from sciextract.documents.document import AnnotatedDocument, Document
from sciextract.errors import TrainingDataError, explain_write_errors
from sciextract.formats.base import BadRecord, Source
from sciextract.formats.jsonl import encode as encode_document
from sciextract.formats.jsonl import read_jsonl
from sciextract.snapshot.documents import (
    Origin,
    Snapshot,
    Split,
    TrainingDocument,
    from_read,
    to_line,
    with_fields,
)
from sciextract.snapshot.gathering import Gathering, GoldFile, check_project_labels, survey
from sciextract.snapshot.manifest import (
    MANIFEST_FILE,
    Manifest,
    SplitCounts,
    nothing_to_train,
    read_manifest,
    remarks,
)
from sciextract.store import Project

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
        undecided = gathering.undecided()
        for number in undecided:
            line = encode_document(with_fields(gathering.text(number), {}))
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
    """The name of a split's file."""
    return f"{split.value}.jsonl"


FILES = (*map(file_of, Split), UNDECIDED_FILE)


_AGAIN = "make the snapshot again: sciextract retrain --project DB"


def read_snapshot(folder: Path) -> Snapshot:
    """All splits of a snapshot, after its files were held against their hashes.

    Raises:
        TrainingDataError: It is not a snapshot, or a file is missing or not as it was written.
    """
    manifest = read_manifest(folder)
    for name in FILES:
        path, wanted = folder / name, manifest.files.get(name)
        try:
            actual = atomic.sha256_of(path)
        except OSError as error:
            raise TrainingDataError(f"{path} cannot be read: {error.strerror}", _AGAIN) from error
        if actual != wanted:
            raise TrainingDataError(
                f"{path} is not as it was written: sha256 {actual[:12]} found, the manifest has "
                f"{wanted[:12] if wanted else 'none'}",
                _AGAIN,
            )
    splits: dict[Split, list[TrainingDocument]] = {split: [] for split in Split}
    for split, documents in splits.items():
        for each in read_lines(folder / file_of(split)):
            document = from_read(each)
            if document is None:
                raise TrainingDataError(
                    f"{folder / file_of(split)}: {each.document.doc_key!r} does not state which layers "
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
    return (each.document for each in read_lines(folder / UNDECIDED_FILE))


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
