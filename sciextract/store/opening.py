"""Making a project file, and opening one."""

from __future__ import annotations

import errno
import getpass
import logging
import os
from pathlib import Path

from sciextract import atomic
from sciextract.documents.annotations import new_id
from sciextract.documents.schema import LabelSchema
from sciextract.errors import ProjectError, UsageError, as_command
from sciextract.store import events
from sciextract.store.project import Project
from sciextract.store.sqlite import (
    VERSION,
    check_project,
    connect,
    damaged,
    mode_for,
    now,
    transaction,
    translated,
)
from sciextract.store.state_tables import save_label_schema
from sciextract.store.tables import create_tables, find_alterations
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
    if version < VERSION:
        from sciextract.store import migrations  # hardly ever needed

        if mode == "write":
            notice = migrations.convert(file, person(author))
    if version < VERSION and mode != "write":
        connection = migrations.open_converted(file, mode, person(author))
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
