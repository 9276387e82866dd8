"""Errors of SQLite, and of files that cannot be what they should be, in the words of a user."""

from __future__ import annotations

import os
import sqlite3
import struct
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from glob import escape
from pathlib import Path

from sciextract.errors import (
    NotAProjectError,
    ProjectBusyError,
    ProjectDamagedError,
    ProjectError,
    ProjectFullError,
    ProjectMissingError,
    ProjectReadOnlyError,
    ProjectReplacedError,
    SchemaError,
    as_command,
)

_CODE = 0xFF  # the lower byte of an extended result code is the primary one
KEPT_ASIDE = ".before-restore"
"""How the name of a file ends that a restored backup has replaced."""
_REPORTED = 20
_LONGEST_PATH = 500
"""SQLite's limit of 512 bytes, less the ends of the names beside a file (-wal, -journal, .partial)."""

#: What reading values that no sciextract wrote can end in.
WRONG_VALUES = (
    *(ValueError, LookupError, TypeError, AttributeError, OverflowError, RecursionError),
    *(struct.error, zlib.error, SchemaError),
)

#: What reading damaged bytes can end in, besides rows.
UNREADABLE = (sqlite3.Error, ProjectDamagedError, *WRONG_VALUES)


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
        raise explain_error(error, path) from error


def primary_code(error: sqlite3.Error) -> int:
    """SQLite's primary result code, 0 where Python itself raised the error."""
    return (getattr(error, "sqlite_errorcode", 0) or 0) & _CODE


def explain_error(error: sqlite3.DatabaseError, path: Path) -> ProjectError:
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
        case sqlite3.SQLITE_CANTOPEN if (size := len(os.fsencode(path.resolve()))) > _LONGEST_PATH:
            return ProjectReadOnlyError(
                f"{path} cannot be opened: its whole path has {size} bytes, SQLite opens up to {_LONGEST_PATH}",
                "move it to a folder with a shorter path",
            )
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
    problem = f"{path}: {what} since it was opened (as a sync client or git does)"
    # Nothing is lost yet: what was done until then is in the file that is still open.
    if saved is None:
        hint = "open the project again: the new file is then used"
        return ProjectReplacedError(f"{problem}; the last action was not saved", hint)
    return ProjectReplacedError(
        f"{problem}; what was done until then is saved as {saved}",
        as_command("sciextract", "merge", saved, "--project", path),
    )


def overwritten(path: Path, log: Path | None = None) -> ProjectReplacedError:
    """Another program wrote into the open file, which has kept its name and place.

    Args:
        path: The project.
        log: Where the log of the former content was set aside.
    """
    lost = f"what was not yet in it is in {log}" if log else "the last action was not saved"
    return ProjectReplacedError(
        f"{path} was overwritten in place since it was opened (as cp, rsync --inplace and some sync clients do); {lost}",
        f"what is there now is left as it is: open it again, or go back to a backup: {as_command('sciextract', 'backup', '--list', '--project', path)}",
    )


def damaged(path: Path, problem: str) -> ProjectDamagedError:
    """SQLite found the file damaged."""
    return ProjectDamagedError(
        f"{path} is damaged: {problem}",
        f"{as_command('sciextract', 'doctor', '--project', path)} shows what is damaged and lists the backups",
    )


def missing(path: Path) -> ProjectMissingError:
    """There is no file of that name, except perhaps one that a restored backup has replaced."""
    problem = f"{path}: there is no such project"
    kept = sorted(path.parent.glob(f"{escape(path.name)}*{KEPT_ASIDE}"), key=os.path.getmtime)
    if not kept:
        return ProjectMissingError(problem, as_command("sciextract", "init", path))
    return ProjectMissingError(
        f"{problem}, but {kept[-1]} holds its state before a backup was restored",
        as_command("sciextract", "backup", "--restore", kept[-1], "--project", path),
    )


def problems(connection: sqlite3.Connection, *, quick: bool = False) -> list[str]:
    """What ``PRAGMA integrity_check`` (or ``quick_check``) reports; empty when the file is sound.

    Raises:
        sqlite3.OperationalError: The check was interrupted, or the file is busy.
    """
    pragma = "quick_check" if quick else "integrity_check"
    try:
        rows = connection.execute(f"PRAGMA {pragma}({_REPORTED})").fetchall()
    except sqlite3.OperationalError:
        raise
    except sqlite3.DatabaseError as error:
        return [str(error)]
    # Lines of asterisks are headings of single databases; several messages may share one row.
    lines = [line for (text,) in rows for line in str(text).splitlines()]
    return [line for line in lines if line != "ok" and not line.startswith("***")]
