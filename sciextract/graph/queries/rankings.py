"""The first nodes by a measure."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from dataclasses import replace
from typing import Literal

from sciextract.errors import UsageError
from sciextract.graph.database import ANY_TYPE
from sciextract.graph.queries.nodes import NODE, Node, label_number, node_of

By = Literal["count", "degree"]
_COLUMN = {"count": "documents", "degree": "degree"}


def top(
    connection: sqlite3.Connection,
    *,
    label: str | None = None,
    by: By = "count",
    since: int | None = None,
    avoid: Iterable[Node] = (),
    generic: bool = False,
    limit: int = 20,
) -> list[Node]:
    """The nodes that most abstracts name, or that are related to most others.

    Args:
        connection: The graph.
        label: Only nodes that are mostly of this type.
        by: ``count`` of abstracts, or ``degree``.
        since: Count only abstracts of this year or later; ``documents`` of the nodes is that count.
        avoid: Nodes to leave out.
        generic: Generic nodes, too.
        limit: At most so many.

    Raises:
        UsageError: No such type, or ``since`` with ``degree``.
    """
    unwanted = {node.id for node in avoid}
    number, most = label_number(connection, label, "entity"), limit + len(unwanted)
    if since is None:
        where = "" if number is None else "AND n.label = :label "
        rows = connection.execute(
            f"{NODE} WHERE n.generic <= :generic {where} ORDER BY n.{_COLUMN[by]} DESC, n.name LIMIT :limit",
            {"label": number, "limit": most, "generic": generic},
        )
        return [Node(*row) for row in rows if row[0] not in unwanted][:limit]
    if by != "count":
        raise UsageError(f"--since counts abstracts, not {by}", "leave out --since or --by")
    found = _top_since(connection, number, since, most, generic=generic)
    return [node for node in found if node.id not in unwanted][:limit]


def _top_since(
    connection: sqlite3.Connection, label: int | None, since: int, limit: int, *, generic: bool
) -> list[Node]:
    values = {"since": since, "label": label, "any": ANY_TYPE, "limit": limit, "generic": generic}
    found = [] if generic else connection.execute(_RANKED, values).fetchall()
    if len(found) < limit:  # the ranking is no longer, or too few nodes are named twice
        found = connection.execute(_COUNTED, values).fetchall()
    return [replace(node_of(connection, node), documents=recent) for node, recent in found]


# Nothing is ranked in a year without a row of its own, so the next one that has rows tells the same.
_RANKED = """
SELECT node, documents FROM recent
WHERE since = (SELECT min(since) FROM recent WHERE since >= :since) AND label = coalesce(:label, :any)
ORDER BY documents DESC, node LIMIT :limit
"""
_COUNTED = """
SELECT y.node, sum(y.documents) AS recent FROM node_year y JOIN node n ON n.id = y.node
WHERE y.year >= :since AND n.label = coalesce(:label, n.label) AND n.generic <= :generic
GROUP BY y.node ORDER BY recent DESC, y.node LIMIT :limit
"""
