"""What a damaged project still gives: documents and their current annotations, in a new project next to it."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing, suppress
from dataclasses import asdict, dataclass, field, replace
from itertools import islice, pairwise
from pathlib import Path
from typing import Any

from sciextract.documents.document import AnnotatedDocument, Document, TokenTable
from sciextract.documents.schema import LabelSchema
from sciextract.errors import SchemaError
from sciextract.store import documents, events, project_settings
from sciextract.store.context import Context
from sciextract.store.document_state import DocumentState
from sciextract.store.documents import decode_tokens
from sciextract.store.ingest import BATCH
from sciextract.store.maintenance import rebuild
from sciextract.store.opening import create_project
from sciextract.store.project import Project
from sciextract.store.queries import copy_queue, parse_queue
from sciextract.store.rows import (
    ClusterRow,
    EntityRow,
    LinkRow,
    ProgressRow,
    RelationRow,
    Row,
    from_values,
)
from sciextract.store.sqlite import UNREADABLE, from_sql
from sciextract.store.state_tables import TABLES, load_table
from sciextract.text.analyse import analyse

_NUMBERS = (
    *("SELECT id FROM document ORDER BY id", "SELECT id FROM document ORDER BY id DESC"),
    "SELECT id FROM document INDEXED BY document_key ORDER BY doc_key",
    "SELECT id FROM document INDEXED BY document_key ORDER BY doc_key DESC",
    "SELECT document_id FROM progress ORDER BY document_id",
    "SELECT document_id FROM progress ORDER BY document_id DESC",
    "SELECT document_id FROM summary ORDER BY document_id",
    "SELECT document_id FROM summary ORDER BY document_id DESC",
)
_GAP = 10_000
"""Numbers that are tried before a known one: a damaged page may hold one of any size, up to 2 ** 63."""
_ALTERED = "the text differs from its hash: it was altered in a damaged file"


@dataclass(frozen=True, slots=True)
class ReadableDocument:
    """A document that could be read.

    Attributes:
        document: Text and tokens; where the tokens are lost they are derived from the text.
        source: Name of the source of its first record.
        rows: Its state rows that could be read and that fit together.
        sources: Names of all sources by number.
        altered: Whether its text differs from its hash.
    """

    document: Document
    source: str
    rows: tuple[Row, ...]
    sources: Mapping[int, str]
    altered: bool


def open_damaged(file: Path) -> sqlite3.Connection:
    """A connection that reads as much of a damaged file as SQLite can.

    Raises:
        sqlite3.Error: It cannot be opened at all.
    """
    connection = sqlite3.connect(f"{file.resolve().as_uri()}?mode=rw", uri=True)
    # First of all: else SQLite reads nothing of a file that is shorter than its header says.
    connection.execute("PRAGMA writable_schema = ON")
    connection.execute("PRAGMA query_only = ON")
    return connection


@dataclass(slots=True)
class DamagedFile:
    """A damaged project, read row by row around what cannot be read.

    Attributes:
        connection: A connection that reads.
        lost_documents: Documents that are known to have been there.
        lost_items: Items that could not be read, or that miss what they speak of.
    """

    connection: sqlite3.Connection
    lost_documents: int = 0
    lost_items: int = 0
    _sources: dict[int, str] = field(default_factory=dict)

    def rows(self, query: str, *params: Any) -> list[tuple[Any, ...]]:
        """The rows of a query up to the first that cannot be read."""
        rows: list[tuple[Any, ...]] = []
        with suppress(sqlite3.Error):
            rows.extend(self.connection.execute(query, params))
        return rows

    def numbers(self) -> list[int]:
        """Numbers of all documents that any table or index still knows, and up to ``_GAP`` before each of them."""
        known = {row[0] for query in _NUMBERS for row in self.rows(query)}
        ordered = sorted(each for each in known if isinstance(each, int) and each > 0)
        return [
            number
            for before, last in pairwise([0, *ordered])
            for number in range(max(before, last - _GAP) + 1, last + 1)
        ]

    def labels(self, table: str) -> list[str]:
        """The labels that occur in a state table, as far as it can be read."""
        return sorted({row[0] for row in self.rows(f"SELECT label FROM {table}") if row[0]})

    def document(self, number: int) -> ReadableDocument | None:
        """A document, ``None`` when it is lost or was not in the project."""
        try:
            row = self.connection.execute(
                "SELECT doc_key, text, sha256 FROM document WHERE id = ?", (number,)
            ).fetchone()
            key, text = from_sql(row[0]), from_sql(row[1])  # no document is ever deleted
        except UNREADABLE:
            self.lost_documents += 1
            return None
        state = self._state(number, text)
        if state is None:
            return None
        source, fields = self._record(number)
        document = Document(key, text, self._tokens(number, text), fields)
        altered = document.text_sha256 != row[2]
        rows = tuple(_marked(state) if altered else state)
        return ReadableDocument(document, source, rows, self._names(), altered)

    def _tokens(self, number: int, text: str) -> TokenTable:
        with suppress(*UNREADABLE):
            row = self.connection.execute(
                "SELECT body FROM token_table WHERE document_id = ?", (number,)
            ).fetchone()
            table = decode_tokens(row[0])
            if not table.problems(len(text)):
                return table
        return analyse(text)

    def _record(self, number: int) -> tuple[str, dict[str, Any]]:
        """Source and fields of the first record that can be read."""
        with suppress(*UNREADABLE):
            record = next(documents.records(self.connection, number), None)
            if record is not None:
                return record.source, dict(record.fields)
        return "", {}

    def _state(self, number: int, text: str) -> list[Row] | None:
        """State rows that fit together, ``None`` for a document that is not in the project.

        Where a table cannot be read, the log is asked.
        """
        rows, failed = self._tables(number)
        if failed:
            rows = self._logged(number) or rows
        in_project = any(isinstance(row, ProgressRow) for row in rows)
        if not in_project and not failed:
            return None
        fitting = list(_fitting(rows, len(text)))
        self.lost_items += len(rows) - len(fitting)
        return fitting if in_project else [ProgressRow(flagged=True), *fitting]

    def _tables(self, number: int) -> tuple[list[Row], bool]:
        """What the state tables give, and whether one of them could not be read to its end."""
        tables: list[Row] = []
        failed = False
        for table in TABLES:
            try:
                for values in load_table(self.connection, table, number):
                    tables.append(from_values(table, values))
            except UNREADABLE:
                failed = True
        return tables, failed

    def _logged(self, number: int) -> list[Row]:
        with suppress(*UNREADABLE):
            logged = rebuild.logged_state(self.connection, number)
            return [from_values(table, values) for (table, _), values in logged.items()]
        return []

    def _names(self) -> dict[int, str]:
        if not self._sources:
            self._sources.update(self.rows("SELECT id, name FROM source"))
        return self._sources


def _marked(rows: list[Row]) -> Iterator[Row]:
    """The same rows, with a flag and a note for the person."""
    for row in rows:
        yield replace(row, flagged=True, note=_ALTERED) if isinstance(row, ProgressRow) else row


def _fitting(rows: list[Row], text_length: int) -> Iterator[Row]:
    """Rows whose span lies in the text, and whose entities and clusters are there as well."""
    entities = {
        each.id
        for each in rows
        if isinstance(each, EntityRow)
        and all(0 <= s.char_start < s.char_end <= text_length for s in each.fragments)
    }
    clusters = {each.id for each in rows if isinstance(each, ClusterRow)}
    for row in rows:
        match row:
            case EntityRow():
                fits = row.id in entities
            case RelationRow():
                fits = row.head in entities and row.tail in entities
            case LinkRow():
                fits = row.entity_id in entities and row.cluster_id in clusters
            case _:
                fits = True
        if fits:
            yield row


_KEYS = (
    "SELECT key, value FROM meta ORDER BY key",
    "SELECT key, value FROM meta ORDER BY key DESC",
)
_ORIGIN = "salvaged"


def copy_queues_and_choices(
    project: Project, damaged: DamagedFile, moved: Mapping[int, int]
) -> tuple[int, int]:
    """Bring what can be read of them into a new project.

    Args:
        project: The new project, open for writing.
        damaged: The damaged one.
        moved: New number of each document that could be saved, by its old one.

    Returns:
        How many queues and how many choices (and rollbacks) of a model are in the new project.

    Raises:
        ProjectError: The new project cannot be written.
    """
    rows = {key: value for query in _KEYS for key, value in damaged.rows(query)}
    queues = [each for key, value in rows.items() if (each := parse_queue(str(key), value))]
    kept = 0
    for queue in queues:
        numbers = tuple(moved[each] for each in queue.numbers if each in moved)
        kept += bool(copy_queue(project, replace(queue, numbers=numbers), _ORIGIN))
    choices = _choices(rows.get(project_settings.KEY))
    for entry in choices:
        project_settings.append(project, entry)
    return kept, len(choices)


def _choices(value: object) -> list[dict[str, Any]]:
    """All of them or none: half of them would say that another model was chosen."""
    try:
        entries = json.loads(value) if isinstance(value, str) else []
    except ValueError:
        return []
    known = isinstance(entries, list) and all(map(project_settings.is_entry, entries))
    return entries if known else []


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
        return asdict(self) | {"path": None if self.path is None else str(self.path)}


def salvage(file: Path, author: str | None = None) -> Salvaged:
    """Read what can be read of a damaged project, row by row, into a new project next to it.

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
    readable = (
        (number, each) for number in numbers if (each := damaged.document(number)) is not None
    )
    moved: dict[int, int] = {}
    with project.writing() as connection:
        params = {"documents": len(numbers)}
        event_id = events.append(connection, project.author_id, "salvage", params)
        context = project.context(event_id, project.source_id(_SOURCE))
    while batch := list(islice(readable, BATCH)):
        with project.writing():
            for number, each in batch:
                stored = _add(project, context, each, result)
                moved |= {} if stored is None else {number: stored}
    result.queues, result.choices = copy_queues_and_choices(project, damaged, moved)
    result.lost_documents = damaged.lost_documents
    result.lost_items = damaged.lost_items


def _add(
    project: Project, context: Context, readable: ReadableDocument, result: Salvaged
) -> int | None:
    """Adds a document; gives the number that it has now."""
    try:
        stored = documents.insert(project.connection, readable.document)
    except sqlite3.IntegrityError:  # two damaged texts that are the same now
        result.lost_documents += 1
        return None
    source_id = context.source_of(readable.source or _SOURCE)
    item = AnnotatedDocument(readable.document)
    documents.add_record(project.connection, stored, item, source_id, context.event_id)
    doc = DocumentState(stored, [])
    for row in readable.rows:
        doc.put(_moved(row, context, readable.sources))
        result.items += isinstance(row, EntityRow | RelationRow | LinkRow)
    project.save(doc, context)
    result.documents += 1
    result.altered += readable.altered
    return stored.number


def _schema(damaged: DamagedFile) -> LabelSchema:
    """The project's schema, or where it cannot be read one of the labels that occur."""
    with suppress(SchemaError, *UNREADABLE):
        return project_settings.current(damaged.connection)
    empty = LabelSchema("salvaged", "Salvaged", "1", coreference=True, entities=())
    entities = damaged.labels("entity") or ["Term"]
    return project_settings.with_labels(empty, entities, damaged.labels("relation"))


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
