"""Types by name."""

from __future__ import annotations

import sqlite3
from typing import Literal

from sciextract.errors import UsageError

_KNOWN = {
    "entity": "SELECT DISTINCT l.name, l.id FROM label l JOIN node n ON n.label = l.id",
    "relation": "SELECT DISTINCT l.name, l.id FROM label l JOIN edge e ON e.label = l.id",
}


def entity_labels(connection: sqlite3.Connection) -> tuple[str, ...]:
    """The types that nodes have, in alphabetical order."""
    return tuple(sorted([name for name, _ in connection.execute(_KNOWN["entity"])]))


def relation_types(connection: sqlite3.Connection) -> list[str]:
    """The types of the graph's relations, sorted."""
    return sorted(dict(connection.execute(_KNOWN["relation"]).fetchall()))


def label_number(
    connection: sqlite3.Connection, name: str | None, kind: Literal["entity", "relation"]
) -> int | None:
    """The number of a type, written in any case; ``None`` for ``None``.

    Raises:
        UsageError: The graph has no such type; the hint lists those it has.
    """
    if name is None:
        return None
    exact = connection.execute("SELECT id FROM label WHERE name = ?", (name,)).fetchone()
    if exact:
        return int(exact[0])
    known = dict(connection.execute(_KNOWN[kind]).fetchall())
    for each, number in known.items():
        if each.casefold() == name.casefold():
            return int(number)
    raise UsageError(
        f"the graph has no {kind} type {name!r}", f"it has {', '.join(sorted(known)) or 'none'}"
    )
