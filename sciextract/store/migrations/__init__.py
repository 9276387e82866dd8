"""Numbered migrations of the project file, through sqlite-utils; each is one transaction.

A migration is never changed once it was released; a new one gets the next number and raises
:data:`sciextract.store.connection.VERSION`.
"""

from __future__ import annotations

import sqlite3
import sys
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from sciextract.store.connection import APPLICATION_ID

if TYPE_CHECKING:
    from sqlite_utils import Database, Migrations


def migrate(connection: sqlite3.Connection, stop_before: str | None = None) -> None:
    """Bring a project file (or an empty one) to the newest version.

    Args:
        stop_before: Name of the first migration that is not wanted, to make a file of an earlier version.
    """
    with _alone():
        from sqlite_utils import Database

    _all_migrations().apply(Database(connection), stop_before=stop_before)


@dataclass(frozen=True, slots=True)
class Structure:
    """What a project file of a version consists of.

    Attributes:
        statements: How each table, index, view and trigger is made, by its type, its name, and the table
            that it is upon.
        columns: Of each table: a column's name, its type, and whether it may be NULL.
    """

    statements: Mapping[tuple[str, str, str], str]
    columns: Mapping[str, tuple[tuple[str, str, bool], ...]]


@cache
def structure(version: int) -> Structure:
    """What the migrations up to a version make."""
    with closing(sqlite3.connect(":memory:")) as made:
        for _, statements in _steps()[:version]:
            for statement in statements:
                if statement.startswith(("CREATE", "ALTER", "DROP")):
                    made.execute(statement)
        definitions = _statements(made)
        tables = [name for kind, name, _ in definitions if kind == "table" and not _is_shadow(name)]
        columns = {name: _columns(made, name) for name in tables}
    return Structure(definitions, columns)


def altered(connection: sqlite3.Connection) -> list[str]:
    """What is in a file's structure against sciextract's own: changed, missing, or put upon its tables.

    Tables and views of other programs that touch nothing of sciextract's are none of its business.
    """
    own = structure(connection.execute("PRAGMA user_version").fetchone()[0]).statements
    there = _statements(connection)
    wrong = [f"the {kind} {name} is missing" for kind, name, _ in own.keys() - there.keys()]
    for (kind, name, table), sql in there.items():
        if (kind, name, table) in own:
            if own[kind, name, table] != sql and not _is_shadow(name):
                wrong.append(f"the {kind} {name} differs from the schema of sciextract")
        elif (
            kind == "trigger"
            or ("table", table, table) in own
            or ("references" in sql.casefold() and kind == "table")
        ):
            wrong.append(f"the {kind} {name} is not part of the schema of sciextract")
    return wrong


def _statements(connection: sqlite3.Connection) -> dict[tuple[str, str, str], str]:
    """How everything in a file is made, by its type, its name, and the table that it is upon."""
    rows = connection.execute(
        "SELECT type, name, tbl_name, sql FROM sqlite_master WHERE sql IS NOT NULL"
    )
    return {
        (kind, name, table): " ".join(str(sql).split())
        for kind, name, table, sql in rows
        if not (kind == "table" and name.startswith(("sqlite_", "_sqlite_migrations")))
    }


def _columns(connection: sqlite3.Connection, table: str) -> tuple[tuple[str, str, bool], ...]:
    rows = connection.execute(f"PRAGMA table_info({table})")
    return tuple((name, kind, not (required or key)) for _, name, kind, required, _, key in rows)


def _is_shadow(name: str) -> bool:
    """Whether a table belongs to a full-text index, as SQLite's own version makes it."""
    return name.startswith(("document_words", "surface_words"))


@contextmanager
def _alone() -> Iterator[None]:
    """Import sqlite-utils without pandas and numpy, which it takes along wherever they are installed.

    Making a project would take a second longer, for types that no migration has.
    """
    hidden = [name for name in ("pandas", "numpy") if name not in sys.modules]
    try:
        sys.modules.update(dict.fromkeys(hidden))  # type: ignore[arg-type]
        yield
    finally:
        for name in hidden:
            del sys.modules[name]


def names() -> list[str]:
    """The names of all migrations, oldest first."""
    return [name for name, _ in _steps()]


def _all_migrations() -> Migrations:
    from sqlite_utils import Migrations

    migrations = Migrations("sciextract")
    for number, (name, statements) in enumerate(_steps(), start=1):
        migrations(name=name)(_step(number, statements))
    return migrations


class _step:
    """Runs statements one by one, then records the version in the file's header."""

    def __init__(self, number: int, statements: tuple[str, ...]) -> None:
        self.__name__ = f"version_{number}"
        self._number = number
        self._statements = statements

    def __call__(self, database: Database, /) -> None:
        for statement in self._statements:
            database.execute(statement)
        database.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        database.execute(f"PRAGMA user_version = {self._number}")


def _steps() -> tuple[tuple[str, tuple[str, ...]], ...]:
    from sciextract.store.migrations import m0001_project, m0002_hashes

    return (
        ("0001_project", m0001_project.STATEMENTS),
        ("0002_hashes", m0002_hashes.STATEMENTS),
    )
