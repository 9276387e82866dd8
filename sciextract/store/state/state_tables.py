"""State rows in SQLite: loading a document's rows, applying changes to them."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from sciextract.store.file.failures import decoded
from sciextract.store.log.changes import Change
from sciextract.store.state.rows import COLUMNS, ROW_TYPES, Key, Row, Values, from_values

TABLES = tuple(ROW_TYPES)
_SELECT = {
    table: f"SELECT {', '.join(columns)} FROM {table} WHERE document_id = ?"
    for table, columns in COLUMNS.items()
}
_WHERE = {
    table: " AND ".join(["document_id = ?", *(f"{name} = ?" for name in kind.KEY)])
    for table, kind in ROW_TYPES.items()
}


def load_rows(connection: sqlite3.Connection, number: int) -> list[Row]:
    """All state rows of a document.

    Raises:
        ProjectDamagedError: One cannot be understood.
    """
    with decoded(connection, f"an item of abstract {number}"):
        return [from_values(table, values) for table, values in load_values(connection, number)]


def load_values(connection: sqlite3.Connection, number: int) -> Iterator[tuple[str, Values]]:
    """All state rows of a document as column values, with their tables."""
    for table in TABLES:
        for values in load_table(connection, table, number):
            yield table, values


def load_table(connection: sqlite3.Connection, table: str, number: int) -> Iterator[Values]:
    """The rows of one state table of a document as column values."""
    for row in connection.execute(_SELECT[table], (number,)):
        yield dict(zip(COLUMNS[table], row, strict=True))


def current_values(
    connection: sqlite3.Connection, number: int, table: str, key: Key
) -> Values | None:
    """One row's column values, ``None`` when it is not there."""
    columns = COLUMNS[table]
    query = f"SELECT {', '.join(columns)} FROM {table} WHERE {_WHERE[table]}"
    row = connection.execute(query, (number, *key)).fetchone()
    return None if row is None else dict(zip(columns, row, strict=True))


def apply(
    connection: sqlite3.Connection, number: int, text: str, changes: Iterable[Change]
) -> None:
    """Make changes of one document, inside the caller's transaction.

    Raises:
        sqlite3.IntegrityError: A row that goes is still needed by another.
    """
    for change in changes:
        if change.after is None:
            where = _WHERE[change.table]
            connection.execute(f"DELETE FROM {change.table} WHERE {where}", (number, *change.key))
        elif change.before is None:
            _insert(connection, number, text, change.table, change.after)
        else:
            _update(connection, number, text, change)


def surface_id(connection: sqlite3.Connection, surface: str) -> int:
    """The number of a mention's string, given now if it has none."""
    safe = surface.encode("utf-8", "surrogatepass").decode("utf-8", "replace")
    found = connection.execute("SELECT id FROM surface WHERE text = ?", (safe,)).fetchone()
    if found is not None:
        return int(found[0])
    inserted = connection.execute("INSERT INTO surface(text) VALUES (?)", (safe,))
    return int(inserted.lastrowid or 0)


def _insert(
    connection: sqlite3.Connection, number: int, text: str, table: str, values: Values
) -> None:
    extra = _derived(connection, text, table, values)
    columns = ["document_id", *values, *extra]
    marks = ", ".join("?" * len(columns))
    connection.execute(
        f"INSERT INTO {table}({', '.join(columns)}) VALUES ({marks})",
        (number, *values.values(), *extra.values()),
    )


def _update(connection: sqlite3.Connection, number: int, text: str, change: Change) -> None:
    values = dict(change.after or {})
    if change.table == "entity" and values.keys() & {"char_start", "char_end", "fragments"}:
        current = current_values(connection, number, change.table, change.key) or {}
        values |= _derived(connection, text, change.table, current | values)
    assignments = ", ".join(f"{name} = ?" for name in values)
    connection.execute(
        f"UPDATE {change.table} SET {assignments} WHERE {_WHERE[change.table]}",
        (*values.values(), number, *change.key),
    )


def _derived(
    connection: sqlite3.Connection, text: str, table: str, values: Mapping[str, Any]
) -> Values:
    """Columns that follow from the others: an entity's string."""
    if table != "entity":
        return {}
    pieces = values["fragments"] or f"{values['char_start']}-{values['char_end']}"
    ranges = (map(int, piece.split("-")) for piece in pieces.split(";"))
    return {"surface_id": surface_id(connection, " ".join(text[a:b] for a, b in ranges))}
