"""Files of earlier versions: each is converted, step by step, when it is opened to be written.

A step changes tables and may write what follows from the log, as changes under an event of its own; nothing that was
logged before is ever rewritten. docs/project-file.md says which versions are read.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path

from sciextract.documents.annotations import Layer
from sciextract.documents.schema import LabelSchema
from sciextract.errors import ProjectError, ProjectVersionError
from sciextract.store import events, label_changes, state_tables
from sciextract.store.maintenance.backup import Backup, list_backups, make_backup
from sciextract.store.rows import Completeness, ProgressRow, covered_name, types_in
from sciextract.store.sqlite import (
    OLDEST_VERSION,
    VERSION,
    Connection,
    Mode,
    connect,
    damaged,
    first_value,
    is_sound,
    primary_code,
    settle,
    snapshot,
    transaction,
    translated,
)
from sciextract.store.tables import ATTRIBUTES, DECISIONS, find_alterations


def convert(path: Path, author: str) -> str:
    """Convert a file of an earlier version in one transaction, after a backup.

    Args:
        path: The project; it can be written.
        author: Who opens it.

    Returns:
        What was done, for the person who opens it; empty where another process did it meanwhile.

    Raises:
        ProjectVersionError: Its tables are not those of its version; the file is as it was.
        ProjectError: There is no room, or another process writes; the file is as it was.
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
                _take_steps(connection, path, author)
        finally:
            settle(connection)
    return f"{path.name} was converted from project version {version} to {VERSION}; as it was, it is kept as {backup.path}"


def open_converted(path: Path, mode: Mode, author: str) -> Connection:
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
            _take_steps(connection, path, author)
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


def _take_steps(connection: Connection, path: Path, author: str) -> None:
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
        for step in _STEPS[version - OLDEST_VERSION :]:
            step(connection, author)
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


def _add_coverage(connection: Connection, author: str) -> None:
    """To version 2: finished abstracts know for which types somebody has looked."""
    connection.execute("ALTER TABLE progress ADD COLUMN covered TEXT NOT NULL DEFAULT '[]'")
    schemas = dict(_schemas_by_event(connection))
    now = state_tables.label_schema(connection)
    done = " OR ".join(f"{layer.value} = '{Completeness.DONE}'" for layer in Layer)
    numbers = connection.execute(f"SELECT document_id FROM progress WHERE {done}").fetchall()
    if not numbers:
        return
    connection.execute("INSERT OR IGNORE INTO source(name, kind) VALUES (?, 'person')", (author,))
    author_id = first_value(connection, "SELECT id FROM source WHERE name = ?", author)
    event_id = events.append(connection, author_id, events.CONVERT, {"version": 2})
    for (number,) in numbers:
        covered: set[str] = set()
        for layer, finished in _finished_layers(connection, number).items():
            version = max((event for event in schemas if event <= finished), default=None)
            schema = now if version is None else schemas[version]
            names = now.names[layer is not Layer.ENTITIES]
            then = {names.get(label, label) for _, label in types_in(schema, {layer})}
            covered |= {
                covered_name(layer, label) for _, label in types_in(now, {layer}) if label in then
            }
        change = events.Change(
            *(ProgressRow.TABLE, (), {"covered": "[]"}),
            {"covered": json.dumps(sorted(covered), separators=(",", ":"))},
        )
        state_tables.apply(connection, number, "", [change])
        events.append_changes(connection, event_id, number, [change])


def _schemas_by_event(connection: Connection) -> Iterator[tuple[int, LabelSchema]]:
    """The label schemas by the events from which on they held; renamed types keep their former names."""
    bodies = dict(connection.execute("SELECT id, body FROM label_schema").fetchall())
    edits: dict[int, tuple[int, int]] = {}
    query = "SELECT id, kind, params, target FROM event WHERE kind IN (?, ?, ?, ?) ORDER BY id"
    kinds = ("schema", label_changes.EDIT, events.UNDO, events.REDO)
    for event_id, kind, params, target in connection.execute(query, kinds):
        about = json.loads(params)
        if kind == label_changes.EDIT:
            edits[event_id] = about["before"], about["after"]
            version = about["after"]
        elif kind == "schema":
            version = about["version"]
        elif target in edits:
            version = edits[target][kind == events.REDO]
        else:
            continue
        yield event_id, state_tables.parse_label_schema(version, bodies[version])


def _finished_layers(connection: Connection, number: int) -> dict[Layer, int]:
    """The layers of an abstract that are done, with the events that made them so."""
    found: dict[Layer, int] = {}
    query = "SELECT event_id, body FROM change WHERE document_id = ? ORDER BY seq"
    for event_id, body in connection.execute(query, (number,)):
        for change in events.decode(body):
            if change.table != ProgressRow.TABLE:
                continue
            for layer in Layer:
                state = (change.after or {}).get(layer.value)
                if state == Completeness.DONE:
                    found[layer] = event_id
                elif state is not None:
                    found.pop(layer, None)
    return found


def _add_attributes(connection: Connection, _author: str) -> None:
    """To version 3: attributes of items and abstracts."""
    connection.execute(ATTRIBUTES)
    connection.execute("DROP VIEW decision")
    connection.execute(DECISIONS)


_STEPS: tuple[Callable[[Connection, str], None], ...] = (_add_coverage, _add_attributes)
"""The step from each version to the next, from :data:`~sciextract.store.sqlite.OLDEST_VERSION` on."""
