"""Making a project file, and opening one."""

from __future__ import annotations

import getpass
import os
import sqlite3
from pathlib import Path

from sciextract import atomic
from sciextract.documents.annotations import new_id
from sciextract.documents.schema import LabelSchema
from sciextract.errors import ProjectError
from sciextract.store import connection as header
from sciextract.store import events, project_settings
from sciextract.store.connection import (
    check_header,
    connect,
    mode_for,
    newer,
    problems,
    transaction,
)
from sciextract.store.maintenance import backup
from sciextract.store.migrations import altered, migrate
from sciextract.store.project import Project
from sciextract.store.sqlite import damaged, now, read_only, translated

SUFFIX = ".sciextract"
USER_VARIABLE = "SCIEXTRACT_USER"


def create_project(path: str | Path, schema: LabelSchema, author: str | None = None) -> Project:
    """Make a project file and open it. The file appears whole or not at all.

    Args:
        path: Where; nothing may be there yet.
        schema: Its label schema.
        author: The person who works on it: see :func:`person`.

    Raises:
        ProjectError: Something is there already, or nothing can be written there.
    """
    target = Path(path)
    if target.exists():
        raise ProjectError(f"{target} exists already", "choose another name, or open it as it is")
    if not target.parent.is_dir():
        problem = f"{target}: no such folder: {target.parent}"
        raise ProjectError(problem, f"mkdir -p {target.parent}")
    try:
        with atomic.creating(target, durable=True) as fresh:
            _build(fresh, schema, person(author))
    except FileExistsError:
        raise ProjectError(f"{target} exists already", "open it as it is") from None
    except OSError as error:
        raise ProjectError(f"{target}: cannot be created: {error.strerror}") from error
    return open_project(target, author)


def open_project(path: str | Path, author: str | None = None, *, read: bool = False) -> Project:
    """Open a project; one of an earlier version is backed up and migrated first.

    Args:
        path: The file.
        author: The person who works on it: see :func:`person`.
        read: Whether reading is enough, so that nothing is ever written.

    Raises:
        ProjectMissingError: There is no such file.
        NotAProjectError: It is not a project.
        ProjectVersionError: A newer sciextract wrote it.
        ProjectDamagedError: It is damaged.
        ProjectReadOnlyError: It is of an earlier version and cannot be written.
        ProjectBusyError: Another process keeps it.
    """
    file = Path(path)
    version = check_header(file)
    mode = mode_for(file)
    if version < header.VERSION:
        if mode == "write":
            _upgrade(file)
        elif version < header.READABLE:
            raise read_only(file)
    mode = "read" if read and mode == "write" else mode
    connection = connect(file, mode)
    try:
        _check_version(connection, file)
        if (
            mode == "write"
        ):  # some versions of SQLite let only trusted triggers fill a full-text index
            connection.execute("PRAGMA trusted_schema = ON")
        return Project(file, connection, person(author), mode)
    except BaseException:
        connection.close()
        raise


def person(name: str | None = None) -> str:
    """The source that a person is: the given name, ``$SCIEXTRACT_USER``, or the login name."""
    author = name or os.environ.get(USER_VARIABLE) or _login()
    cleaned = " ".join(author.split())
    return f"person:{cleaned or 'me'}"


def _login() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "me"


def _check_version(connection: sqlite3.Connection, path: Path) -> None:
    """The version once more: after a migration without a clean close it stands in the log only.

    Then the tables: a trigger would change what is written, and a view in a table's place may never end.
    """
    with translated(path):
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        if version > header.VERSION:
            raise newer(path, version)
        if alterations := altered(connection):
            raise damaged(path, alterations[0])


def _build(path: Path, schema: LabelSchema, author: str) -> None:
    path.touch(exist_ok=False)
    connection = connect(path, "write")
    try:
        with translated(path):
            migrate(connection)
        with transaction(connection, path):
            about = {"project": new_id(), "made": now()}
            connection.executemany("INSERT INTO meta VALUES (?, ?)", about.items())
            version = project_settings.save(connection, schema)
            cursor = connection.execute(
                "INSERT INTO source(name, kind) VALUES (?, 'person')", (author,)
            )
            params = {"name": schema.name, "version": version}
            events.append(connection, int(cursor.lastrowid or 0), "schema", params)
        connection.execute("PRAGMA journal_mode = DELETE")
    finally:
        connection.close()


def _upgrade(path: Path) -> None:
    connection = connect(path, "write")
    try:
        with translated(path):
            wrong = problems(connection)
        if wrong := wrong or altered(connection):
            raise damaged(path, wrong[0])
        backup.make_backup(connection, path, "before migration")
        with transaction(
            connection, path
        ):  # one process migrates, the other waits and finds it done
            migrate(connection)
    finally:
        connection.close()
