"""Values that sciextract never writes: what a doctor finds, and why reading a project failed."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Iterator
from functools import partial

from sciextract.errors import ProjectDamagedError
from sciextract.store import documents, events, project_settings
from sciextract.store.documents import decode_annotations, digest_of
from sciextract.store.maintenance import findings, rebuild
from sciextract.store.migrations import structure
from sciextract.store.rows import EntityRow, LinkRow, RelationRow, original_of
from sciextract.store.sqlite import WRONG_VALUES, decoded
from sciextract.store.state_tables import load_rows

_STORED = {
    "TEXT": "'text'",
    "INTEGER": "'integer'",
    "REAL": "'real', 'integer'",
    "BLOB": "'blob'",
    "": "'text', 'blob'",
}
"""Per type of a column how SQLite may hold its values."""
_ALSO_BYTES = {
    *(("document", name) for name in ("doc_key", "title", "text")),
    ("record", "doc_key"),
}
"""Columns whose strings are bytes where they have a lone surrogate."""


def wrong_types(connection: sqlite3.Connection) -> Iterator[str]:
    """Columns with values that they are not made for, rows that speak of missing ones, and events."""
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    for table, columns in structure(version).columns.items():
        for name, kind, nullable in columns:
            kinds = _STORED[kind] + ", 'blob'" * ((table, name) in _ALSO_BYTES)
            wrong = f"typeof({name}) NOT IN ({kinds}{', ' + repr('null') if nullable else ''})"
            query = f"SELECT {name} FROM {table} WHERE {wrong} LIMIT 1"
            if row := connection.execute(query).fetchone():
                yield f"{table}.{name} is {row[0]!r:.60}"
    if row := connection.execute("PRAGMA foreign_key_check").fetchone():
        yield f"a row of {row[0]} speaks of a {row[2]} that is not there"
    yield from _unread([partial(events.read_events, connection)])


def wrong_values(connection: sqlite3.Connection) -> Iterator[str]:
    """Everything in a project that cannot be understood; each is named where it is found first."""
    yield from wrong_types(connection)
    whole = (project_settings.current, findings.drops)
    yield from _unread(partial(read, connection) for read in whole)
    each = (documents.load, read_items, rebuild.logged_state, sources_hold)
    for number in rebuild.all_numbers(connection):
        yield from _unread(partial(read, connection, number) for read in each)


def read_items(connection: sqlite3.Connection, number: int) -> None:
    """Read all state rows of a document, and what its items were before they were edited.

    Raises:
        ProjectDamagedError: One of them cannot be understood.
    """
    rows = load_rows(connection, number)
    with decoded(connection, f"the original of an edited item of abstract {number}"):
        for row in rows:
            if isinstance(row, EntityRow | RelationRow | LinkRow):
                original_of(row)


def sources_hold(connection: sqlite3.Connection, number: int) -> bool:
    """Whether what each source said about a document is as it was kept.

    Raises:
        ProjectDamagedError: It cannot be understood.
    """
    query = "SELECT hash, body FROM annotation_set WHERE document_id = ?"
    kept = connection.execute(query, (number,)).fetchall()
    with decoded(connection, f"what a source said about abstract {number}"):
        for _, body in kept:
            decode_annotations(body)
        return all(digest == digest_of(body) for digest, body in kept)


def _unread(readers: Iterable[Callable[[], object]]) -> Iterator[str]:
    for read in readers:
        try:
            read()
        except (ProjectDamagedError, *WRONG_VALUES) as error:
            yield str(error)
