"""Making a project file, and opening one; a file of the version before is converted when it is opened to be written.

What was logged before is never rewritten by that. docs/project-file.md says which versions are read.
"""

from __future__ import annotations

import errno
import getpass
import logging
import os
import sqlite3
from contextlib import closing, suppress
from pathlib import Path

from sciextract import atomic
from sciextract.documents.annotations import new_id
from sciextract.documents.schema import LabelSchema
from sciextract.errors import ProjectError, ProjectVersionError, UsageError, as_command
from sciextract.store import events
from sciextract.store.events import now
from sciextract.store.maintenance.backup import Backup, is_sound, list_backups, make_backup
from sciextract.store.project import Project
from sciextract.store.sqlite import (
    VERSION,
    Connection,
    Mode,
    check_project,
    connect,
    first_value,
    mode_for,
    settle,
    snapshot,
    transaction,
)
from sciextract.store.sqlite_errors import damaged, primary_code, translated
from sciextract.store.state_tables import save_label_schema
from sciextract.store.tables import ATTRIBUTES, DECISIONS, create_tables, find_alterations
from sciextract.text.characters import visible

USER_VARIABLE = "SCIEXTRACT_USER"


def create_project(path: str | Path, schema: LabelSchema, author: str | None = None) -> Project:
    """Make a project file and open it. The file appears whole or not at all.

    Args:
        path: Where; nothing may be there yet.
        schema: Its label schema.
        author: The person who works on it: see :func:`person`.

    Raises:
        ProjectError: Something is there already, or nothing can be written there.
        UsageError: The name is too long.
    """
    target = Path(path)
    if not target.parent.is_dir():
        problem = f"{target}: no such folder: {target.parent}"
        raise ProjectError(problem, as_command("mkdir", "-p", target.parent))
    try:
        with atomic.creating(target, durable=True) as fresh:
            _build(fresh, schema, person(author))
    except FileExistsError:
        raise ProjectError(f"{target} exists already", "choose another name, or open it") from None
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:
            raise UsageError(f"{target}: the name is too long", "choose a shorter one") from error
        raise ProjectError(f"{target}: cannot be created: {error.strerror}") from error
    return open_project(target, author)


def open_project(
    path: str | Path,
    author: str | None = None,
    *,
    read: bool = False,
    busy_seconds: float | None = None,
) -> Project:
    """Open a project; a file of an earlier version is converted first, after a backup, or read as if it had been.

    Args:
        path: The file.
        author: The person who works on it: see :func:`person`.
        read: Whether reading is enough, so that nothing is ever written.
        busy_seconds: How long to wait for another process that writes; half a minute by default.

    Raises:
        ProjectMissingError: There is no such file.
        NotAProjectError: It is not a project.
        ProjectVersionError: A newer sciextract wrote it, or one from between two releases.
        ProjectDamagedError: It is damaged.
        ProjectReadOnlyError: It cannot be read.
        ProjectBusyError: Another process keeps it.
    """
    file = Path(path)
    version, mode, notice = check_project(file), mode_for(file), ""
    mode = "read" if read and mode == "write" else mode
    if version < VERSION and mode == "write":
        notice = _convert(file)
    if version < VERSION and mode != "write":
        connection = _open_converted(file, mode)
    else:
        connection = connect(file, mode, busy_seconds)
    try:
        with translated(file):
            # A trigger would change what is written, and a view in a table's place may never end.
            if alterations := find_alterations(connection):
                raise damaged(file, alterations[0])
        if mode == "write":
            # Some versions of SQLite let only trusted triggers fill a full-text index.
            connection.execute("PRAGMA trusted_schema = ON")
        project = Project(file, connection, person(author), mode)
    except BaseException:
        connection.close()
        raise
    if notice:
        logging.getLogger("sciextract").warning(visible(notice))  # to standard error by default
        project.notice = notice
    return project


def person(name: str | None = None) -> str:
    """The source that a person is: the given name, ``$SCIEXTRACT_USER``, or the login name."""
    author = name or os.environ.get(USER_VARIABLE)
    if not author:
        try:
            author = getpass.getuser()
        except (KeyError, OSError):  # containers run under numbers that no user has
            author = "me"
    cleaned = " ".join(author.split())
    return f"person:{cleaned or 'me'}"


def _build(path: Path, schema: LabelSchema, author: str) -> None:
    path.touch(exist_ok=False)
    connection = connect(path, "write")
    try:
        with transaction(connection, path):
            create_tables(connection)
            about = {"project": new_id(), "made": now()}
            connection.executemany("INSERT INTO meta VALUES (?, ?)", about.items())
            version = save_label_schema(connection, schema)
            cursor = connection.execute(
                "INSERT INTO source(name, kind) VALUES (?, 'person')", (author,)
            )
            params = {"name": schema.name, "version": version}
            events.append(connection, int(cursor.lastrowid or 0), "schema", params)
        # One whole file without a log beside it: it gets its name by a rename.
        connection.execute("PRAGMA journal_mode = DELETE")
    finally:
        connection.close()


def _convert(path: Path) -> str:
    """Convert a file that can be written in one transaction, after a backup; after an error it is as it was.

    Returns:
        What was done, for the person who opens it; empty where another process did it meanwhile.
    """
    with closing(connect(path, "write")) as connection:
        try:
            with transaction(connection, path):
                version = first_value(connection, "PRAGMA user_version")
                if version == VERSION:
                    return ""
                # Through another connection: SQLite copies no database that is being written by the same one.
                with closing(connect(path, "read")) as before:
                    backup = _back_up(before, path, f"version {version}")
                _upgrade(connection, path)
        finally:
            settle(connection)
    return f"{path.name} was converted from project version {version} to {VERSION}; as it was, it is kept as {backup.path}"


def _open_converted(path: Path, mode: Mode) -> Connection:
    """A temporary copy of a file of an earlier version as it would be after conversion: the file is only read."""
    connection = sqlite3.connect("", isolation_level=None, factory=Connection)
    try:
        with translated(path):
            with closing(connect(path, mode)) as source, snapshot(source):
                connection.file = source.file
                source.backup(connection)
            connection.execute("PRAGMA foreign_keys = ON")
            connection.execute("PRAGMA trusted_schema = OFF")
            connection.execute("BEGIN")
            _upgrade(connection, path)
            connection.execute("COMMIT")
            connection.execute("PRAGMA query_only = ON")
    except BaseException:
        connection.close()
        raise
    return connection


def _back_up(connection: Connection, path: Path, reason: str) -> Backup:
    """A backup, or the latest one where that has the same events: tries that fail push no other backup out."""
    last = "SELECT id, hash FROM event ORDER BY id DESC LIMIT 1"
    for latest in list_backups(path)[:1]:
        with suppress(ProjectError, sqlite3.Error), closing(connect(latest.path, "read")) as kept:
            same = kept.execute(last).fetchall() == connection.execute(last).fetchall()
            if same and latest.reason == reason.replace(" ", "-") and is_sound(latest.path):
                return latest
    return make_backup(connection, path, reason)


def _upgrade(connection: Connection, path: Path) -> None:
    """Convert within the caller's transaction.

    Raises:
        ProjectVersionError: The tables are not those of the version.
        ProjectDamagedError: A trigger, an index or a view was put upon them, which would change what is written.
    """
    version = first_value(connection, "PRAGMA user_version")
    if foreign := find_alterations(connection, earlier=True):
        raise damaged(path, foreign[0])
    problem = ""
    try:
        connection.execute(ATTRIBUTES)
        connection.execute("DROP VIEW decision")
        connection.execute(DECISIONS)
        problem = next(iter(find_alterations(connection)), "")
    except sqlite3.OperationalError as error:
        if primary_code(error) != sqlite3.SQLITE_ERROR:  # a full disk is one of the others
            raise
        problem = str(error)
    if problem:
        raise ProjectVersionError(
            f"{path} says that it has project version {version}, but its tables are not of that version ({problem})",
            "a sciextract from between two releases wrote it: export it there as jsonl, and import that into a new project",
        )
    connection.execute(f"PRAGMA user_version = {VERSION}")
