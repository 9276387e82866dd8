"""Numbered migrations of the project file, through sqlite-utils; each is one transaction.

A migration is never changed once it was released; a new one gets the next number and raises
:data:`sciextract.store.file.header.VERSION`.
"""

from __future__ import annotations

import sqlite3
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from sciextract.store.file.header import APPLICATION_ID

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
    from sciextract.store.migrations import m0001_project

    return (("0001_project", m0001_project.STATEMENTS),)
