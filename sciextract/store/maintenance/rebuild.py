"""The state of a document as the log gives it: compared with the state tables, and put in their place."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING

from sciextract.store import documents, events, state_tables
from sciextract.store.document_state import DocumentState
from sciextract.store.events import Change, replay
from sciextract.store.rows import (
    ROW_TYPES,
    Key,
    Values,
)
from sciextract.store.state_tables import TABLES, apply, load_rows, load_values

if TYPE_CHECKING:
    from sciextract.store.project import Project


State = dict[tuple[str, Key], Values]


def current_state(connection: sqlite3.Connection, number: int) -> State:
    """The state rows of a document, as column values by table and key."""
    return {
        (table, tuple(values[name] for name in ROW_TYPES[table].KEY)): values
        for table, values in load_values(connection, number)
    }


def logged_state(connection: sqlite3.Connection, number: int) -> State:
    """The state rows that the log gives for a document.

    Raises:
        KeyError: The log contradicts itself.
    """
    return replay(events.changes_of_document(connection, number))


def all_numbers(connection: sqlite3.Connection) -> list[int]:
    """Numbers of all documents that the file has ever had."""
    return [row[0] for row in connection.execute("SELECT id FROM document ORDER BY id")]


def differing(connection: sqlite3.Connection) -> list[int]:
    """Numbers of the documents whose state is not what the log says."""
    return [number for number in all_numbers(connection) if not agrees(connection, number)]


def agrees(connection: sqlite3.Connection, number: int) -> bool:
    """Whether the state of a document is what the log says."""
    try:
        return logged_state(connection, number) == current_state(connection, number)
    except KeyError:
        return False


def rebuild(project: Project, numbers: list[int]) -> None:
    """Replace the state of documents by what the log says, in one transaction.

    Raises:
        KeyError: The log contradicts itself; nothing was changed.
    """
    with project.writing() as connection:
        for number in numbers:
            rows = logged_state(connection, number)
            stored = documents.load(connection, number)
            for table in reversed(TABLES):
                connection.execute(f"DELETE FROM {table} WHERE document_id = ?", (number,))
            made = [Change(table, key, None, values) for (table, key), values in rows.items()]
            made.sort(key=lambda change: TABLES.index(change.table))
            apply(connection, number, stored.text, made)
            state_tables.refresh(connection, DocumentState(stored, load_rows(connection, number)))
