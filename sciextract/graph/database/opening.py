"""Making and opening graph files."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sciextract.graph.database.tables import FACTS
from sciextract.graph.errors import GraphError, GraphMissingError
from sciextract.graph.naming.normal_form import NAMING_VERSION

APPLICATION_ID = int.from_bytes(b"SciG", "big")
VERSION = 3
"""Of the tables: counts up with every change of them, and older graphs are built anew."""
_CACHE_KIB = 192 * 1024
_BUSY_SECONDS = 10.0


@contextmanager
def open_graph(path: Path | str, *, write: bool = False) -> Iterator[sqlite3.Connection]:
    """The connection to a graph, in autocommit mode.

    Args:
        path: The file.
        write: Whether to make it where there is none, and to open what a killed build left unfinished.

    Raises:
        GraphMissingError: There is no such file.
        GraphError: It is no graph, of a newer version, unfinished, damaged, locked or on a full disk.
    """
    file = Path(path)
    _check_place(file, write=write)
    with translated(file):
        connection = sqlite3.connect(
            f"{file.absolute().as_uri()}?mode={'rwc' if write else 'ro'}", uri=True,
            isolation_level=None, timeout=_BUSY_SECONDS,
        )  # fmt: skip
        try:
            connection.execute(f"PRAGMA cache_size=-{_CACHE_KIB}")
            if write and not _has_tables(connection):
                _make(connection)
            _check(connection, file, write=write)
            yield connection
        finally:
            connection.close()


@contextmanager
def translated(path: Path) -> Iterator[None]:
    """Errors of SQLite as errors that name the file and the next step.

    Raises:
        GraphError: The block raised an ``sqlite3.Error``.
    """
    try:
        yield
    except sqlite3.Error as error:
        code = (getattr(error, "sqlite_errorcode", None) or 0) & 0xFF
        raise GraphError(*_told(path, code, str(error))) from error


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """All of the block or nothing."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


def property_of(connection: sqlite3.Connection, name: str) -> str:
    """A property of the graph, "" where it has none of that name."""
    row = connection.execute("SELECT value FROM property WHERE name = ?", (name,)).fetchone()
    return row[0] if row else ""


def set_property(connection: sqlite3.Connection, name: str, value: str) -> None:
    """Keep a property of the graph."""
    connection.execute("INSERT OR REPLACE INTO property VALUES (?, ?)", (name, value))


def _check_place(file: Path, *, write: bool) -> None:
    if file.is_dir():
        raise GraphError(f"{file} is a folder", "name a graph file with --graph")
    if not write and not file.exists():
        hint = "sciextract graph build PREDICTIONS --graph FILE makes one"
        raise GraphMissingError(f"{file}: no such graph", hint)
    if not file.parent.is_dir():
        raise GraphMissingError(f"{file}: no such folder: {file.parent}", f"mkdir -p {file.parent}")


def _has_tables(connection: sqlite3.Connection) -> bool:
    found = connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
    return bool(found[0])


def _make(connection: sqlite3.Connection) -> None:
    """All tables or none: ``executescript`` would commit in between."""
    connection.execute("PRAGMA page_size=8192")
    with transaction(connection):
        connection.execute(f"PRAGMA application_id={APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version={VERSION}")
        for statement in FACTS.split(";\n"):
            connection.execute(statement)
        set_property(connection, "naming", str(NAMING_VERSION))
        set_property(connection, "state", "unfinished")


def _check(connection: sqlite3.Connection, file: Path, *, write: bool) -> None:
    if connection.execute("PRAGMA application_id").fetchone()[0] != APPLICATION_ID:
        problem = f"{file} is an SQLite file of another program"
        raise GraphError(problem, "name a graph, or a new file, with --graph")
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    if version > VERSION:
        problem = f"{file}: version {version} found, the newest known version is {VERSION}"
        raise GraphError(problem, "a newer sciextract made it: pip install --upgrade sciextract")
    if version < VERSION:
        problem = f"{file}: version {version} found, this sciextract needs {VERSION}"
        raise GraphError(problem, "build the graph anew, into another file")
    naming = property_of(connection, "naming")
    if naming != str(NAMING_VERSION):
        problem = f"{file}: made with naming rules {naming}, this sciextract has {NAMING_VERSION}"
        raise GraphError(problem, "build the graph anew, into another file")
    if not write and property_of(connection, "state") != "finished":
        problem = f"{file}: its last build did not come to its end"
        raise GraphError(problem, "the same sciextract graph build goes on where it stopped")


def _told(path: Path, code: int, words: str) -> tuple[str, str]:
    known = {
        sqlite3.SQLITE_FULL: (
            "the disk is full; what was added before is kept",
            "make room, then the same command goes on",
        ),
        sqlite3.SQLITE_BUSY: ("another process writes to the graph", "wait until it has ended"),
        sqlite3.SQLITE_READONLY: ("cannot be written: read-only", "name another file with --graph"),
        sqlite3.SQLITE_CANTOPEN: ("cannot be opened", "check its permissions and its folder"),
        sqlite3.SQLITE_NOTADB: ("is no graph", "name a graph, or a new file, with --graph"),
        sqlite3.SQLITE_CORRUPT: ("is damaged", "build the graph anew, into another file"),
    }
    problem, hint = known.get(code, (f"cannot be used: {words}", ""))
    return f"{path}: {problem}", hint
