"""What a damaged project still gives: documents and their current annotations, in a new project beside it."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

from sciextract.documents.document import AnnotatedDocument
from sciextract.documents.schema import LabelSchema
from sciextract.errors import SchemaError
from sciextract.store.content import documents, label_schemas
from sciextract.store.health.damaged import UNREADABLE, DamagedFile, Found, open_damaged
from sciextract.store.health.salvaged_meta import bring_belongings
from sciextract.store.incoming.context import Context
from sciextract.store.incoming.ingest import BATCH
from sciextract.store.log import events
from sciextract.store.opening import create_project
from sciextract.store.project import Project
from sciextract.store.state.draft import Draft
from sciextract.store.state.rows import EntityRow, LinkRow, ProgressRow, RelationRow, Row

_SOURCE = "import:salvaged"


@dataclass(slots=True)
class Salvaged:
    """What was saved from a damaged project.

    Attributes:
        path: The new project, ``None`` when nothing could be read.
        documents: Documents that are in it.
        items: Entities, relations and mentions of clusters that are in it.
        lost_documents: Documents that the file is known to have had.
        lost_items: Items that could not be read, or that speak of something that could not.
        altered: Documents whose text differs from its hash; they carry a flag.
        queues: Saved queues that are in it, each with the documents that are.
        choices: Choices of a model that are in it.
    """

    path: Path | None = None
    documents: int = 0
    items: int = 0
    lost_documents: int = 0
    lost_items: int = 0
    altered: int = 0
    queues: int = 0
    choices: int = 0

    def to_json(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "path": None if self.path is None else str(self.path),
            "documents": self.documents,
            "items": self.items,
            "lost_documents": self.lost_documents,
            "lost_items": self.lost_items,
            "altered": self.altered,
            "queues": self.queues,
            "choices": self.choices,
        }


def salvage(file: Path, author: str | None = None) -> Salvaged:
    """Read what can be read of a damaged project, row by row, into a new project beside it.

    The log cannot be carried over: the new project's log begins with one event that holds everything.

    Raises:
        ProjectError: The new project cannot be written.
    """
    result = Salvaged()
    try:
        connection = open_damaged(file)
    except sqlite3.Error:
        return result
    with closing(connection):
        damaged = DamagedFile(connection)
        numbers = damaged.numbers()
        if numbers:
            target = _free(file)
            with create_project(target, _schema(damaged), author) as project:
                _fill(project, damaged, numbers, result)
            result.path = target
    return result


def _fill(project: Project, damaged: DamagedFile, numbers: list[int], result: Salvaged) -> None:
    found = ((number, each) for number in numbers if (each := damaged.document(number)) is not None)
    moved: dict[int, int] = {}
    with project.writing() as connection:
        told = {"documents": len(numbers)}
        event_id = events.append(connection, project.author_id, "salvage", told)
        context = project.context(event_id, project.source_id(_SOURCE))
    while batch := list(islice(found, BATCH)):
        with project.writing():
            for number, each in batch:
                stored = _add(project, context, each, result)
                moved |= {} if stored is None else {number: stored}
    result.queues, result.choices = bring_belongings(project, damaged, moved)
    result.lost_documents = damaged.lost_documents
    result.lost_items = damaged.lost_items


def _add(project: Project, context: Context, found: Found, result: Salvaged) -> int | None:
    """Adds a document; gives the number that it has now."""
    try:
        stored = documents.insert(project.connection, found.document)
    except sqlite3.IntegrityError:  # two damaged texts that are the same now
        result.lost_documents += 1
        return None
    source_id = context.source_of(found.source or _SOURCE)
    item = AnnotatedDocument(found.document)
    documents.add_record(project.connection, stored, item, source_id, context.event_id)
    draft = Draft(stored, [])
    for row in found.rows:
        draft.put(_moved(row, context, found.sources))
        result.items += isinstance(row, EntityRow | RelationRow | LinkRow)
    project.save(draft, context)
    result.documents += 1
    result.altered += found.altered
    return stored.number


def _schema(damaged: DamagedFile) -> LabelSchema:
    """The project's schema, or where it cannot be read one of the labels that occur."""
    with suppress(SchemaError, *UNREADABLE):
        return label_schemas.current(damaged.connection)
    empty = LabelSchema("salvaged", "Salvaged", "1", coreference=True, entities=())
    entities = damaged.labels("entity") or ["Term"]
    return label_schemas.with_labels(empty, entities, damaged.labels("relation"))


def _moved(row: Row, context: Context, sources: Mapping[int, str]) -> Row:
    """A row as the salvage's event makes it, with the source that it had."""
    if isinstance(row, ProgressRow):
        return row
    named = sources.get(row.source_id, _SOURCE)
    return replace(row, source_id=context.source_of(named), event_id=context.event_id)


def _free(file: Path) -> Path:
    free, count = file.with_name(f"{file.stem}.salvaged{file.suffix}"), 1
    while free.exists():
        count += 1
        free = file.with_name(f"{file.stem}.salvaged-{count}{file.suffix}")
    return free
