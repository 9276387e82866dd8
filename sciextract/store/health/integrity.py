"""Whether SQLite finds a file sound."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from sciextract.errors import ProjectError
from sciextract.store.file.connection import connect
from sciextract.store.file.header import check_header

_REPORTED = 20


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
    found = [line for (text,) in rows for line in str(text).splitlines()]
    return [line for line in found if line != "ok" and not line.startswith("***")]


def is_sound(path: Path, *, quick: bool = False) -> bool:
    """Whether a file that nobody writes is a project without damage.

    Args:
        path: The file.
        quick: Leave out whether indexes agree with their tables, which takes most of the time.
    """
    try:
        check_header(path)
        with closing(connect(path, "immutable")) as connection:
            return not problems(connection, quick=quick)
    except (ProjectError, sqlite3.Error):
        return False
