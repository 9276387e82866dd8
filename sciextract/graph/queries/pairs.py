"""Which nodes of two types are related: what is done with what, what is compared with what."""

from __future__ import annotations

import sqlite3
from dataclasses import asdict, dataclass
from typing import Any

from sciextract.graph.queries.labels import label_number
from sciextract.graph.queries.nodes import Node, node_of

_ALL = 0
_PAIRS = """SELECT one, other, documents FROM pair WHERE label = :relation {of_types}
ORDER BY documents DESC, one, other LIMIT :limit"""


@dataclass(frozen=True, slots=True)
class Pair:
    """Two nodes that abstracts relate.

    Attributes:
        first: One.
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
        limit: At most so many.

    Raises:
        UsageError: The graph has no such type.
    """
    numbers = [label_number(connection, each, "entity") for each in (first, second)]
    kind = label_number(connection, relation, "relation")
    values = {"relation": kind or _ALL, "limit": limit}
    found: dict[tuple[int, int], int] = {}
    for one, other, turned in ((*numbers, False), (*reversed(numbers), True)):
        rows = connection.execute(
            _PAIRS.format(of_types=_of_types(one, other)), {**values, "one": one, "other": other}
        )
        for left, right, documents in rows:
            if (left, right) not in found:  # a pair of one type comes in both rounds
                found[(right, left) if turned else (left, right)] = documents
    best = sorted(found.items(), key=lambda item: (-item[1], item[0]))[:limit]
    return [_pair(connection, *nodes, documents, kind) for nodes, documents in best]


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
