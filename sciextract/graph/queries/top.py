"""The first nodes by a measure."""

from __future__ import annotations

import sqlite3
from dataclasses import replace
from typing import Any, Literal

from sciextract.errors import UsageError
from sciextract.graph.queries.labels import label_number
from sciextract.graph.queries.nodes import NODE, Node, node_of

By = Literal["count", "degree"]
_FIRST_LOOK, _FURTHER = 1000, 4
"""Nodes to look at first for the nodes of the last years, and how many times more when these do not decide."""
_COLUMN = {"count": "documents", "degree": "degree"}


def top(
    connection: sqlite3.Connection,
    *,
    label: str | None = None,
    by: By = "count",
    since: int | None = None,
    limit: int = 20,
) -> list[Node]:
    """The nodes that most abstracts name, or that are related to most others.

    Args:
        connection: The graph.
        label: Only nodes that are mostly of this type.
        by: ``count`` of abstracts, or ``degree``.
        since: Count only abstracts of this year or later; ``documents`` of the nodes is that count.
        limit: At most so many.

    Raises:
        UsageError: No such type, or ``since`` with ``degree``.
    """
    number = label_number(connection, label, "entity")
    if since is None:
        where = "" if number is None else "WHERE n.label = :label "
        rows = connection.execute(
            f"{NODE} {where} ORDER BY n.{_COLUMN[by]} DESC, n.name LIMIT :limit",
            {"label": number, "limit": limit},
        )
        return [Node(*row) for row in rows]
    if by != "count":
        raise UsageError(f"--since counts abstracts, not {by}", "leave out --since or --by")
    return _top_since(connection, number, since, limit)


def _top_since(
    connection: sqlite3.Connection, label: int | None, since: int, limit: int
) -> list[Node]:
    """Goes down the ranking over all years until no further node can have as many abstracts since then."""
    if not connection.execute("SELECT 1 FROM year_total WHERE year >= ?", (since,)).fetchone():
        return []
    frequent = _FREQUENT.format(of_type="" if label is None else "WHERE label = :label")
    values: dict[str, Any] = {
        "label": label,
        "since": since,
        "limit": limit,
        "asked": max(_FIRST_LOOK, limit),
    }
    while True:
        found = connection.execute(_SINCE.format(frequent=frequent), values).fetchall()
        rest = connection.execute(f"{frequent} OFFSET :asked", values).fetchone()
        if rest is None or (len(found) == limit and found[-1][1] >= rest[1]):
            return [replace(node_of(connection, node), documents=recent) for node, recent in found]
        values["asked"] *= _FURTHER


_FREQUENT = "SELECT id, documents FROM node {of_type} ORDER BY documents DESC LIMIT :asked"
_SINCE = """
SELECT f.id, sum(y.documents) AS recent FROM ({frequent}) f JOIN node_year y ON y.node = f.id
WHERE y.year >= :since GROUP BY f.id ORDER BY recent DESC, f.id LIMIT :limit
"""
