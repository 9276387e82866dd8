"""The count-drop alarm: how much was in the project at the last close, and whether less is there now."""

from __future__ import annotations

import json
import sqlite3
from dataclasses import asdict, dataclass

from sciextract.store.file.failures import decoded

_KEY = "counts"


@dataclass(frozen=True, slots=True)
class Counts:
    """How much a project holds.

    Attributes:
        documents: Abstracts.
        items: Entities, relations and mentions of clusters, rejected ones too.
        decided: Those that a person decided.
        event: The newest event's number.
    """

    documents: int
    items: int
    decided: int
    event: int


def count(connection: sqlite3.Connection) -> Counts:
    """What is in the project now; from the derived rows, so that it is cheap."""
    documents, items, decided = connection.execute(
        "SELECT count(*), coalesce(sum(items), 0), coalesce(sum(decided), 0) FROM summary"
    ).fetchone()
    event = connection.execute("SELECT coalesce(max(id), 0) FROM event").fetchone()[0]
    return Counts(documents, items, decided, event)


def remember(connection: sqlite3.Connection) -> None:
    """Note the counts, inside the caller's transaction."""
    counts = json.dumps(asdict(count(connection)))
    connection.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (_KEY, counts))


def drops(connection: sqlite3.Connection) -> list[str]:
    """What is fewer than at the last close although no event has happened since; empty when all is well."""
    row = connection.execute("SELECT value FROM meta WHERE key = ?", (_KEY,)).fetchone()
    if row is None:
        return []
    with decoded(connection, "the counts of the last close"):
        then, now = Counts(**json.loads(row[0])), count(connection)
    if now.event > then.event:
        return []
    pairs = ((name, getattr(then, name), getattr(now, name)) for name in asdict(then))
    return [
        f"{name}: {before} at the last close, {after} now"
        for name, before, after in pairs
        if after < before
    ]
