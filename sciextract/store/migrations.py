"""Files of earlier versions: each is converted, step by step, when it is opened.

A step changes tables and may write what follows from the log, as changes under an event of its own; nothing that was
logged before is ever rewritten. docs/project-file.md says which versions are read.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

from sciextract.documents.annotations import Layer
from sciextract.documents.schema import LabelSchema
from sciextract.errors import ProjectVersionError
from sciextract.store import events, label_changes, state_tables
from sciextract.store.maintenance.backup import Backup, make_backup
from sciextract.store.rows import Completeness, ProgressRow, covered_name, types_in
from sciextract.store.sqlite import (
    OLDEST_VERSION,
    VERSION,
    Connection,
    connect,
    first_value,
    mode_for,
    settle,
    transaction,
)


def convert(path: Path, author: str, version: int) -> Backup:
    """Convert a file of an earlier version in one transaction, after a backup.

    Args:
        path: The project.
        author: Who opens it.
        version: What the file said when it was looked at.

    Returns:
        The backup.

    Raises:
        ProjectVersionError: It can only be read.
        ProjectError: There is no room, or another process writes; the file is as it was.
    """
    if mode_for(path) != "write":
        raise ProjectVersionError(
            f"{path} has project version {version}, which is converted to {VERSION} when it is opened; here it can only be read",
            "copy it to a writable folder and open the copy",
        )
    with closing(connect(path, "write")) as connection:
        backup = make_backup(connection, path, f"version {version}")
        try:
            with transaction(connection, path):
                # Another process may have converted it meanwhile.
                since = first_value(connection, "PRAGMA user_version") - OLDEST_VERSION
                for step in _STEPS[since:]:
                    step(connection, author)
                connection.execute(f"PRAGMA user_version = {VERSION}")
        finally:
            settle(connection)
    return backup


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
            names = now.entity_names if layer is Layer.ENTITIES else now.relation_names
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


_STEPS: tuple[Callable[[Connection, str], None], ...] = (_add_coverage,)
"""The step from each version to the next, from :data:`~sciextract.store.sqlite.OLDEST_VERSION` on."""
