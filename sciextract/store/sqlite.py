"""What the store needs to know of SQLite: its errors in the words of a user, times that sort as text, strings that are not valid text."""

from __future__ import annotations

import sqlite3
import struct
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sciextract.errors import (
    NotAProjectError,
    ProjectBusyError,
    ProjectDamagedError,
    ProjectError,
    ProjectFullError,
    ProjectReadOnlyError,
    ProjectReplacedError,
    SchemaError,
    as_command,
)

_CODE = 0xFF  # the lower byte of an extended result code is the primary one


#: What reading values that no sciextract wrote can end in.
WRONG_VALUES = (
    *(ValueError, LookupError, TypeError, AttributeError, OverflowError, RecursionError),
    *(struct.error, zlib.error, SchemaError),
)

#: What reading damaged bytes can end in, besides rows.
UNREADABLE = (sqlite3.Error, ProjectDamagedError, *WRONG_VALUES)


def first_value(connection: sqlite3.Connection, query: str, *params: object) -> Any:
    """The first column of a query's first row, ``None`` where it has no row."""
    row = connection.execute(query, params).fetchone()
    return None if row is None else row[0]


def storable(text: str) -> str:
    """A text for an index: U+FFFD for lone surrogates, which are not UTF-8."""
    return text.encode("utf-8", "surrogatepass").decode("utf-8", "replace")


@contextmanager
def decoded(connection: sqlite3.Connection, place: str) -> Iterator[None]:
    """Turns what wrong values end in into an error that names the place.

    Args:
        connection: Of the project.
        place: The table and row that is read.

    Raises:
        ProjectDamagedError: The block could not make sense of a value.
    """
    try:
        yield
    except WRONG_VALUES as error:
        files = {name: file for _, name, file in connection.execute("PRAGMA database_list")}
        problem = f"{place} cannot be understood ({type(error).__name__}: {error})"
        raise damaged(Path(files["main"]), problem) from error


@contextmanager
def translated(path: Path) -> Iterator[None]:
    """Turns SQLite's errors into errors that name the project and the next step.

    Raises:
        ProjectError: The block raised an ``sqlite3.DatabaseError``; the subclass tells what happened.
    """
    try:
        yield
    except sqlite3.IntegrityError:
        raise  # a rule of the tables: the caller knows what it means
    except sqlite3.DatabaseError as error:
        raise explained(error, path) from error


def primary_code(error: sqlite3.Error) -> int:
    """SQLite's primary result code, 0 where Python itself raised the error."""
    return (getattr(error, "sqlite_errorcode", 0) or 0) & _CODE


def explained(error: sqlite3.DatabaseError, path: Path) -> ProjectError:
    """SQLite's error as one that names the project and the next step."""
    match primary_code(error):
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
            problem = f"{path}: another process has been writing to the project for too long"
            return ProjectBusyError(problem, "close the other sciextract, or try again in a moment")
        case sqlite3.SQLITE_FULL:
            problem = (
                f"{path}: the disk is full; the last action was not saved, all earlier ones were"
            )
            return ProjectFullError(problem, "free some disk space, then repeat the action")
        case sqlite3.SQLITE_IOERR:
            problem = f"{path}: reading or writing the disk failed ({error}); the last action was not saved"
            return ProjectFullError(problem, "check the disk and its free space, then do it again")
        case sqlite3.SQLITE_READONLY:
            # Without a write-ahead log SQLite itself notices that the file lost its name.
            moved = error.sqlite_errorcode == sqlite3.SQLITE_READONLY_DBMOVED
            return replaced(path) if moved else read_only(path)
        case sqlite3.SQLITE_CANTOPEN:
            return ProjectReadOnlyError(
                f"{path} cannot be opened: the file, or its write-ahead log {path.name}-wal, cannot be used because of its permissions",
                f"copy {path.name} and {path.name}-wal together to a writable folder",
            )
        case sqlite3.SQLITE_NOTADB:
            problem = f"{path} is not an SQLite file, so it is not a project"
            return NotAProjectError(problem, no_project_hint(path))
        case sqlite3.SQLITE_CORRUPT:
            return damaged(path, str(error))
        case _:
            return ProjectError(
                f"{path}: {error}", as_command("sciextract", "doctor", "--project", path)
            )


def no_project_hint(path: Path) -> str:
    """The next step after a file turned out to be no project."""
    return f"to create a project from abstracts: sciextract init NEW.sciextract, then {as_command('import', path)}"


def read_only(path: Path) -> ProjectReadOnlyError:
    """The project cannot be written."""
    return ProjectReadOnlyError(
        f"{path} can only be read: the file, its folder or the medium is read-only",
        "copy the project to a writable folder",
    )


def replaced(path: Path, saved: Path | None = None) -> ProjectReplacedError:
    """The file under the project's name is another one by now, or none.

    Args:
        path: The project.
        saved: Where its content was saved, if it was.
    """
    what = "it was replaced by another file" if path.exists() else "it was moved or removed"
    problem = f"{path}: {what} since it was opened (as a sync client, git or a copy does)"
    # Nothing is lost yet: what was done until then is in the file that is still open.
    if saved is None:
        hint = "open the project again: the new file is then used"
        return ProjectReplacedError(f"{problem}; the last action was not saved", hint)
    return ProjectReplacedError(
        f"{problem}; what was done until then is saved as {saved}",
        as_command("sciextract", "merge", saved, "--project", path),
    )


def damaged(path: Path, problem: str) -> ProjectDamagedError:
    """SQLite found the file damaged."""
    return ProjectDamagedError(
        f"{path} is damaged: {problem}",
        f"{as_command('sciextract', 'doctor', '--project', path)} shows what is damaged and lists the backups",
    )


def to_sql(text: str) -> str | bytes:
    """The string itself, or its bytes when UTF-8 has no place for it."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")
    return text


def from_sql(value: str | bytes) -> str:
    """The string that :func:`to_sql` was given."""
    return value if isinstance(value, str) else value.decode("utf-8", "surrogatepass")


def now() -> str:
    """The time by the machine's clock. Order in the log comes from event numbers, never from it."""
    return datetime.now(UTC).isoformat(timespec="microseconds")
