"""Which model a project's people chose, and chose before: it travels in the file.

The choices stand in ``meta``, oldest first; an event in the log tells of each. Undo does not touch them: a
rollback is a choice of its own.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from sciextract.errors import ProjectDamagedError
from sciextract.store.file.failures import translated
from sciextract.store.log import events
from sciextract.store.log.clock import now

if TYPE_CHECKING:
    import sqlite3

    from sciextract.store.project import Project

KEY = "models"


def read(project: Project) -> list[dict[str, Any]]:
    """All choices and rollbacks, oldest first.

    Raises:
        ProjectDamagedError: They cannot be understood.
    """
    with translated(project.path):
        found = _load(project.connection)
    if found is None:
        raise not_understood(project)
    return found


def not_understood(project: Project) -> ProjectDamagedError:
    """The error for choices that make no sense."""
    return ProjectDamagedError(
        f"{project.path}: the project's choice of models cannot be understood",
        "sciextract doctor checks the project; --model NAME names one for once",
    )


def append(project: Project, entry: dict[str, Any]) -> None:
    """Add a choice (``name``, ``hash``, ``bundled``) or a ``rollback``, and tell it in the log.

    One that comes from another file keeps its time ``at``.

    Raises:
        ProjectError: The project cannot be written.
    """
    with project.writing() as connection:
        entries = [*(_load(connection) or []), {"at": now(), **entry}]
        connection.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (KEY, json.dumps(entries)))
        events.append(connection, project.author_id, events.MODEL, entry)


def is_entry(value: object) -> bool:
    """Whether that is a choice or a rollback."""
    if not isinstance(value, dict):
        return False
    named = isinstance(value.get("name"), str) and isinstance(value.get("hash"), str)
    return value.get("rollback") is True or named


def _load(connection: sqlite3.Connection) -> list[dict[str, Any]] | None:
    row = connection.execute("SELECT value FROM meta WHERE key = ?", (KEY,)).fetchone()
    if row is None:
        return []
    try:
        entries = json.loads(row[0])
    except (ValueError, TypeError):
        return None
    known = isinstance(entries, list) and all(isinstance(each, dict) for each in entries)
    return entries if known else None
