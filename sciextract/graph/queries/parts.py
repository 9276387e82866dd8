"""What a node is made of: its types, its years, and the ways to write it."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass

from sciextract.graph.naming.rules import MergeRule

_ALL = -1


@dataclass(frozen=True, slots=True)
class Alias:
    """A way to write a node's name.

    Attributes:
        surface: The mention as it is written.
        rules: Why it means the node, in words.
        documents: Abstracts that write it so.
        mentions: Mentions in them.
    """

    surface: str
    rules: tuple[str, ...]
    documents: int
    mentions: int


def labels_of(connection: sqlite3.Connection, node: int) -> dict[str, int]:
    """Mentions by type, the most frequent first."""
    rows = connection.execute(
        """SELECT l.name, n.mentions FROM node_label n JOIN label l ON l.id = n.label
        WHERE n.node = ? ORDER BY n.mentions DESC, l.name""",
        (node,),
    )
    return dict(rows.fetchall())


def years_of(connection: sqlite3.Connection, node: int) -> dict[int, int]:
    """Abstracts by year, ascending; years without one are left out."""
    rows = connection.execute(
        "SELECT year, documents FROM node_year WHERE node = ? ORDER BY year", (node,)
    )
    return dict(rows.fetchall())


def aliases_of(
    connection: sqlite3.Connection, node: int, most: int | None = None
) -> tuple[Alias, ...]:
    """Ways to write a node, the most frequent first; all of them without ``most``."""
    rows = connection.execute(
        """SELECT f.surface, a.rules, a.documents, a.mentions FROM alias a JOIN form f ON f.id = a.form
        WHERE a.node = ? ORDER BY a.mentions DESC, f.surface, a.rules LIMIT ?""",
        (node, _ALL if most is None else most),
    )
    return tuple([Alias(row[0], MergeRule(row[1]).words, *row[2:]) for row in rows])
