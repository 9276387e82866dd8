"""Reading a damaged file: every query may fail, and what one way does not give another may."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from sciextract.documents.document import Document
from sciextract.documents.tokens import TokenTable
from sciextract.errors import ProjectDamagedError
from sciextract.store.content import documents
from sciextract.store.content.tokens_blob import decode_tokens
from sciextract.store.file.failures import WRONG_VALUES
from sciextract.store.file.sql_text import from_sql
from sciextract.store.log import rebuild
from sciextract.store.state.rows import (
    ClusterRow,
    EntityRow,
    LinkRow,
    ProgressRow,
    RelationRow,
    Row,
    from_values,
)
from sciextract.store.state.state_tables import TABLES, load_table
from sciextract.text.analyse import analyse

#: What reading damaged bytes can end in, besides rows.
UNREADABLE = (sqlite3.Error, ProjectDamagedError, *WRONG_VALUES)

_NUMBERS = (
    *("SELECT id FROM document ORDER BY id", "SELECT id FROM document ORDER BY id DESC"),
    "SELECT id FROM document INDEXED BY document_key ORDER BY doc_key",
    "SELECT id FROM document INDEXED BY document_key ORDER BY doc_key DESC",
    "SELECT document_id FROM progress ORDER BY document_id",
    "SELECT document_id FROM progress ORDER BY document_id DESC",
    "SELECT document_id FROM summary ORDER BY document_id",
    "SELECT document_id FROM summary ORDER BY document_id DESC",
)
_ALTERED = "the text differs from its hash: it was altered in a damaged file"


@dataclass(frozen=True, slots=True)
class Found:
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
        found: list[tuple[Any, ...]] = []
        with suppress(sqlite3.Error):
            found.extend(self.connection.execute(query, params))
        return found

    def numbers(self) -> list[int]:
        """Numbers of all documents that any table or index still knows, and those between them."""
        known = {row[0] for query in _NUMBERS for row in self.rows(query)}
        numbers = {each for each in known if isinstance(each, int) and each > 0}
        return list(range(1, max(numbers) + 1)) if numbers else []

    def labels(self, table: str) -> list[str]:
        """The labels that occur in a state table, as far as it can be read."""
        return sorted({row[0] for row in self.rows(f"SELECT label FROM {table}") if row[0]})

    def document(self, number: int) -> Found | None:
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
        return Found(document, source, rows, self._names(), altered)

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
        found: list[Row] = []
        failed = False
        for table in TABLES:
            try:
                for values in load_table(self.connection, table, number):
                    found.append(from_values(table, values))
            except UNREADABLE:
                failed = True
        return found, failed

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
    entities = {each.id for each in rows if isinstance(each, EntityRow) and _in(each, text_length)}
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


def _in(entity: EntityRow, text_length: int) -> bool:
    return all(0 <= s.char_start < s.char_end <= text_length for s in entity.fragments)
