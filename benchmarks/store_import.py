"""Importing abstracts: sciextract's own way against bare ``sqlite3`` inserts of the same rows into the same tables."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from benchmarks.store_corpus import annotated, batches, records
from sciextract.documents.document import AnnotatedDocument
from sciextract.documents.schema_file import load_schema
from sciextract.formats import read
from sciextract.store import Project, create_project
from sciextract.store.ingest import BATCH, Import
from sciextract.store.sqlite import Connection, connect, transaction

Rows = dict[str, list[tuple[Any, ...]]]
SCHEMA = "scierc"
#: Tables that an import fills, parents first, and the column that tells the document.
TABLES = {
    **dict.fromkeys(("source", "event"), ""),
    "document": "id",
    "surface": "",
    **dict.fromkeys(
        (
            *("token_table", "record", "change", "annotation_set", "progress", "entity"),
            *("relation", "cluster", "link", "summary", "tally"),
        ),
        "document_id",
    ),
}


@dataclass
class FileImport:
    """What a user does: reads and tokenises JSONL files and imports what they hold."""

    folder: Path
    files: Sequence[Path]
    name: str = "ours"
    made: int = 0
    project: Project | None = None
    run: Import | None = None

    def __call__(self, chunk: int) -> None:
        if chunk == 0 or self.run is None:
            self.project, self.run = self._fresh()
        self.run.add([(document, ()) for document in self._documents(chunk)])

    def path(self) -> Path:
        """The newest project."""
        return self.folder / f"{self.name}-{self.made}.sciextract"

    def close(self) -> None:
        """Close the newest project."""
        if self.project is not None:
            self.project.close()

    def _documents(self, chunk: int) -> list[AnnotatedDocument]:
        items = read([self.files[chunk]])
        return [record for record in items if isinstance(record, AnnotatedDocument)]

    def _fresh(self) -> tuple[Project, Import]:
        self.close()
        self.made += 1
        project = create_project(self.path(), load_schema(SCHEMA), "bench")
        return project, Import(project, "import:bench.jsonl", {"path": "bench.jsonl"})


@dataclass
class ReadyImport(FileImport):
    """The store's part alone: the documents are read and tokenised before."""

    ready: Sequence[Sequence[AnnotatedDocument]] = ()

    def _documents(self, chunk: int) -> list[AnnotatedDocument]:
        return list(self.ready[chunk])


@dataclass
class BareImport:
    """``executemany`` of the same rows, table by table, a transaction for as many abstracts."""

    folder: Path
    chunks: Sequence[Rows]
    name: str = "bare"
    made: int = 0
    path: Path = field(default_factory=Path)
    connection: Connection | None = None

    def __call__(self, chunk: int) -> None:
        if chunk == 0 or self.connection is None:
            self.connection = self._fresh()
        with transaction(self.connection, self.path):
            for table, rows in self.chunks[chunk].items():
                if rows:
                    marks = ", ".join("?" * len(rows[0]))
                    self.connection.executemany(f"INSERT INTO {table} VALUES ({marks})", rows)

    def close(self) -> None:
        """Close the newest file."""
        if self.connection is not None:
            self.connection.close()

    def _fresh(self) -> Connection:
        self.close()
        self.made += 1
        self.path = self.folder / f"{self.name}-{self.made}.sciextract"
        create_project(self.path, load_schema(SCHEMA), "bench").close()
        connection = connect(self.path, "write")
        with transaction(connection, self.path):
            for table in ("event", "source"):
                connection.execute(f"DELETE FROM {table}")
        return connection


def write_chunks(data: Sequence[str], count: int, folder: Path) -> list[Path]:
    """JSONL files of as many abstracts as a transaction holds."""
    files = []
    for place, batch in enumerate(batches(records(data, count), BATCH)):
        path = folder / f"chunk-{place:05}.jsonl"
        text = "".join(json.dumps(record) + "\n" for record in batch)
        path.write_text(text, encoding="utf-8")
        files.append(path)
    return files


def ready_chunks(data: Sequence[str], count: int, items: int) -> list[list[AnnotatedDocument]]:
    """Documents with so many items each, in lists for one transaction."""
    schema = load_schema(SCHEMA)
    found = (annotated(record, items, schema) for record in records(data, count))
    return list(batches(islice(found, count), BATCH))


def rows_of(importer: FileImport, chunks: int) -> list[Rows]:
    """The rows that each chunk of an import adds to the tables."""
    found = []
    seen: dict[str, int] = {}
    for chunk in range(chunks):
        importer(chunk)
        with closing(sqlite3.connect(importer.path())) as connection:
            found.append(_new_rows(connection, seen))
    return found


def _new_rows(connection: sqlite3.Connection, seen: dict[str, int]) -> Rows:
    """Rows of documents, and of tables without one, that were not there before."""
    found: Rows = {}
    last = connection.execute("SELECT max(id) FROM document").fetchone()[0]
    for table, column in TABLES.items():
        key = column or "id"
        first = seen.get("document" if column else table, 0)
        query = f"SELECT * FROM {table} WHERE {key} > ?"
        found[table] = connection.execute(query, (first,)).fetchall()
        if not column:
            seen[table] = max([first, *(row[0] for row in found[table])])
    seen["document"] = last
    return found


def remove(paths: Sequence[Path]) -> None:
    """Remove files that may be there."""
    for path in paths:
        with suppress(FileNotFoundError):
            path.unlink()
