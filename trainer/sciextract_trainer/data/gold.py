"""Gold documents of files and folders, as training from files reads them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from pathlib import Path

from sciextract import atomic, formats
from sciextract.documents.document import AnnotatedDocument
from sciextract.documents.schema import LabelSchema
from sciextract.errors import FormatError, TrainingDataError, UsageError
from sciextract.formats.base import BadRecord
from sciextract.formats.inputs import Part, paths_of


def read_gold(path: Path, schema: LabelSchema, part: Part = Part.TRAIN) -> list[AnnotatedDocument]:
    """All documents of a labelled file, or of the split of a folder.

    Raises:
        FormatError: A record is bad: a training set is not used in part.
        UsageError: Labels the schema does not know, or a folder without such a split.
        TrainingDataError: Nothing is annotated.
        InputMissingError: No such path.
    """
    documents = []
    for item in formats.read(paths_of(path, part)):
        if isinstance(item, BadRecord):
            raise item.error
        documents.append(item.renamed(*schema.names))
    if not documents:
        raise FormatError("no documents", path=path)
    known = {*schema.entity_labels, *schema.relation_labels}
    if unknown := sorted(_used_labels(documents) - known):
        raise UsageError(
            f"{path}: labels that the schema {schema.name!r} does not know: {', '.join(unknown)}",
            f"known: {', '.join(sorted(known))}; give a schema with --schema",
        )
    if not any(item.annotations.entities for item in documents):
        raise TrainingDataError(
            f"{path}: nothing is annotated in its {len(documents)} documents",
            "give a file with gold entities: "
            "sciextract annotate predicts, sciextract tui is for annotating",
        )
    return documents


def unseen_labels(documents: Sequence[AnnotatedDocument], schema: LabelSchema) -> list[str]:
    """Labels of the schema without an example, sorted: a model cannot learn them."""
    return sorted({*schema.entity_labels, *schema.relation_labels} - _used_labels(documents))


def has_untyped(documents: Iterable[AnnotatedDocument]) -> bool:
    """Whether a cluster of some document has a mention without a type."""
    for item in documents:
        untyped = {entity.id for entity in item.annotations.entities if not entity.label}
        if any(not untyped.isdisjoint(cluster.mentions) for cluster in item.annotations.clusters):
            return True
    return False


def sha256(path: Path, part: Part = Part.TRAIN) -> str:
    """Hex SHA-256 of a file; of a folder's split, that of its files' names and contents."""
    if path.is_file():
        return atomic.sha256_of(path)
    whole = hashlib.sha256()
    for root in paths_of(path, part):
        for file in sorted(entry for entry in (root, *root.rglob("*")) if entry.is_file()):
            whole.update(f"{file.relative_to(path)} {atomic.sha256_of(file)}\n".encode())
    return whole.hexdigest()


def _used_labels(documents: Sequence[AnnotatedDocument]) -> set[str]:
    used = {entity.label for item in documents for entity in item.annotations.entities} - {""}
    return used | {relation.label for item in documents for relation in item.annotations.relations}
