"""The state from the log, document by document: to prove that both agree, and to repair."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING

from sciextract.store.content import documents
from sciextract.store.log import events
from sciextract.store.log.changes import Change, replay
from sciextract.store.state import summary
from sciextract.store.state.draft import Draft
from sciextract.store.state.rows import ROW_TYPES, Key, Values
from sciextract.store.state.state_tables import TABLES, apply, load_rows, load_values

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
            summary.refresh(connection, Draft(stored, load_rows(connection, number)))
