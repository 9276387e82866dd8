"""Documents of a project: texts by hash, their tokens, and every record that came with them."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from sciextract.documents.bibliography import bibliography_of
from sciextract.documents.document import AnnotatedDocument, Document
from sciextract.store.content.tokens_blob import decode_tokens, encode_tokens
from sciextract.store.file.failures import decoded
from sciextract.store.file.sql_text import from_sql, to_sql
from sciextract.store.state.draft import Stored

_TITLE_LENGTH = 300


@dataclass(frozen=True, slots=True)
class Record:
    """One bibliographic record of a document.

    Attributes:
        doc_key: Its key in the file that it came from.
        source: ``import:FILE``.
        fields: Its fields, as read.
        warnings: Remarks of the reader.
    """

    doc_key: str
    source: str
    fields: Mapping[str, Any]
    warnings: tuple[str, ...]


def find(connection: sqlite3.Connection, document: Document) -> Stored | None:
    """The document of the same text, with the tokens that the project has for it."""
    row = connection.execute(
        "SELECT id FROM document WHERE sha256 = ?", (document.text_sha256,)
    ).fetchone()
    return None if row is None else load(connection, row[0])


def insert(connection: sqlite3.Connection, document: Document) -> Stored:
    """Add a text that the project does not have, inside the caller's transaction."""
    known = bibliography_of(document.fields)
    title = known.title or document.text[: _TITLE_LENGTH + 1].strip().split("\n")[0]
    found = connection.execute(
        """INSERT INTO document(sha256, doc_key, title, text, doi, pmid, year, venue)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?)""",
        (
            document.text_sha256,
            *(to_sql(each) for each in (document.doc_key, title[:_TITLE_LENGTH], document.text)),
            *(_column(known.doi), known.pmid, known.year, _column(known.venue)),
        ),
    )
    number = int(found.lastrowid or 0)
    connection.execute(
        "INSERT INTO token_table VALUES (?, ?)", (number, encode_tokens(document.tokens))
    )
    return Stored(number, document)


def _column(text: str | None) -> str | None:
    """Bibliographic text for searching; the record's fields keep it exactly."""
    return text and text.encode("utf-8", "replace").decode("utf-8")


def add_record(
    connection: sqlite3.Connection,
    stored: Stored,
    item: AnnotatedDocument,
    source_id: int,
    event_id: int,
) -> None:
    """Keep the record that a text came with; the same one from the same source is kept once."""
    document = item.document
    connection.execute(
        "INSERT OR IGNORE INTO record VALUES (NULL, ?, ?, ?, ?, ?, ?)",
        (
            *(stored.number, source_id, event_id, to_sql(document.doc_key)),
            *(json.dumps(dict(document.fields)), json.dumps(list(item.warnings))),
        ),
    )


def load(connection: sqlite3.Connection, number: int) -> Stored:
    """A document by its number, with the fields of its first record.

    Raises:
        KeyError: There is none.
        ProjectDamagedError: It cannot be understood.
    """
    row = connection.execute(
        """SELECT d.doc_key, d.text, t.body FROM document d JOIN token_table t ON t.document_id = d.id
        WHERE d.id = ?""",
        (number,),
    ).fetchone()
    if row is None:
        raise KeyError(number)
    with decoded(connection, f"abstract {number}"):
        fields: dict[str, Any] = {}
        for record in records(connection, number):
            fields = dict(record.fields) | fields
        return Stored(
            number, Document(from_sql(row[0]), from_sql(row[1]), decode_tokens(row[2]), fields)
        )


def records(connection: sqlite3.Connection, number: int) -> Iterator[Record]:
    """All records of a document, the first one first."""
    rows = connection.execute(
        """SELECT r.doc_key, s.name, r.fields, r.warnings FROM record r JOIN source s ON s.id = r.source_id
        WHERE r.document_id = ? ORDER BY r.id""",
        (number,),
    )
    for doc_key, source, fields, warnings in rows:
        yield Record(from_sql(doc_key), source, json.loads(fields), tuple(json.loads(warnings)))


def numbers(connection: sqlite3.Connection, after: int = 0, limit: int = -1) -> list[int]:
    """Numbers of the documents in the project, in the order in which they came."""
    rows = connection.execute(
        "SELECT document_id FROM progress WHERE document_id > ? ORDER BY document_id LIMIT ?",
        (after, limit),
    )
    return [row[0] for row in rows]
