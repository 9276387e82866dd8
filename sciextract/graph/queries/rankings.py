"""The first nodes by a measure."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

from sciextract.errors import UsageError
from sciextract.graph.database import ANY_TYPE
from sciextract.graph.queries.edges import between
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


_ALL = 0
_WANTED = "AND one NOT IN ({0}) AND other NOT IN ({0})"
_PAIRS = """SELECT one, other, documents FROM pair
WHERE label = :relation AND documents >= :least {of_types} {wanted}
ORDER BY documents DESC, one, other LIMIT :limit"""


@dataclass(frozen=True, slots=True)
class Pair:
    """Two nodes that abstracts relate.

    Attributes:
        first: One; where one relation type was asked for, the one that more abstracts have as its head.
        second: The other.
        documents: Abstracts that relate them, summed over relation types and directions: one that does so twice
            in different ways counts twice.
        relations: The same by relation type.
    """

    first: Node
    second: Node
    documents: int
    relations: dict[str, int]

    def to_json(self) -> dict[str, Any]:
        """For ``--json``."""
        return asdict(self)


def pairs(
    connection: sqlite3.Connection,
    *,
    first: str | None = None,
    second: str | None = None,
    relation: str | None = None,
    least: int = 1,
    avoid: Iterable[Node] = (),
    limit: int = 20,
) -> list[Pair]:
    """Nodes of two types that most abstracts relate, such as tasks and materials, or what is compared.

    In a graph of more than 50,000 edges those are left out that a single abstract states, where no other edge
    joins the same nodes.

    Args:
        connection: The graph.
        first: Type of one node; any when ``None``.
        second: Type of the other.
        relation: Only relations of this type.
        least: Only pairs that so many abstracts relate.
        avoid: Nodes to leave out.
        limit: At most so many.

    Raises:
        UsageError: The graph has no such type.
    """
    numbers = [label_number(connection, each, "entity") for each in (first, second)]
    kind = label_number(connection, relation, "relation")
    values = {"relation": kind or _ALL, "limit": limit, "least": least}
    numbers_avoided = ", ".join([str(node.id) for node in avoid])
    wanted = _WANTED.format(numbers_avoided) if numbers_avoided else ""
    found: dict[tuple[int, int], int] = {}
    for one, other, turned in ((*numbers, False), (*reversed(numbers), True)):
        query = _PAIRS.format(of_types=_of_types(one, other), wanted=wanted)
        rows = connection.execute(query, {**values, "one": one, "other": other})
        for left, right, documents in rows:
            if (left, right) not in found:  # a pair of one type comes in both rounds
                found[(right, left) if turned else (left, right)] = documents
    best = sorted(found.items(), key=lambda item: (-item[1], item[0]))[:limit]
    pairs = [_pair(connection, *nodes, documents, kind) for nodes, documents in best]
    directed = relation is not None and first is None and second is None
    return [_headed(connection, each) for each in pairs] if directed else pairs


def _headed(connection: sqlite3.Connection, pair: Pair) -> Pair:
    """The pair with the usual head of its relation first."""
    (relation,) = pair.relations
    edges = between(connection, pair.first.id, pair.second.id)
    best = next(edge for edge in edges if edge.label == relation)
    return replace(pair, first=best.head, second=best.tail)


def _of_types(one: int | None, other: int | None) -> str:
    wanted = (("one", one), ("other", other))
    return "".join([f"AND {end}_label = :{end} " for end, label in wanted if label is not None])


def _pair(
    connection: sqlite3.Connection, one: int, other: int, documents: int, kind: int | None
) -> Pair:
    relations = connection.execute(
        """SELECT l.name, p.documents FROM pair p JOIN label l ON l.id = p.label
        WHERE p.one = ? AND p.other = ? AND p.label = coalesce(?, p.label) ORDER BY 2 DESC, 1""",
        (min(one, other), max(one, other), kind),
    )
    nodes = node_of(connection, one), node_of(connection, other)
    return Pair(*nodes, documents, dict(relations.fetchall()))
