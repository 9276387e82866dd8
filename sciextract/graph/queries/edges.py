"""Edges, and the sentences that support them."""

from __future__ import annotations

import sqlite3
import zlib
from dataclasses import asdict, dataclass
from typing import Any, Literal

from sciextract.graph.queries.labels import label_number
from sciextract.graph.queries.nodes import Node, node_of

Direction = Literal["out", "in", "both"]


@dataclass(frozen=True, slots=True)
class Sentence:
    """A place that supports an edge.

    Attributes:
        doc_key: The abstract.
        year: Its year.
        char_start: Where the sentence (or the first of several) begins in its text.
        char_end: Where it (or the last) ends.
        text: These characters.
        score: The probability of the relation.
    """

    doc_key: str
    year: int | None
    char_start: int
    char_end: int
    text: str
    score: float | None


@dataclass(frozen=True, slots=True)
class Edge:
    """A relation between two nodes.

    Attributes:
        id: Its number in this graph.
        head: Where it comes from.
        tail: Where it leads to.
        label: Its type.
        documents: Abstracts that state it.
        mentions: How often they do.
        score_mean: The mean probability of these statements.
        score_max: The highest.
        sentences: Some of what supports it, the most probable first.
    """

    id: int
    head: Node
    tail: Node
    label: str
    documents: int
    mentions: int
    score_mean: float | None
    score_max: float | None
    sentences: tuple[Sentence, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """For ``--json``."""
        return asdict(self)


_EDGE = """SELECT e.id, e.head, e.tail, l.name, e.documents, e.mentions, e.score_mean, e.score_max
FROM edge e JOIN label l ON l.id = e.label """
_ENDS = {
    "out": ("e.head = :node",),
    "in": ("e.tail = :node",),
    "both": ("e.head = :node", "e.tail = :node"),
}


def neighbours(
    connection: sqlite3.Connection,
    node: Node,
    *,
    relation: str | None = None,
    direction: Direction = "both",
    limit: int = 20,
    sentences: int = 0,
) -> list[Edge]:
    """Edges at a node, those that most abstracts state first.

    Args:
        connection: The graph.
        node: The node.
        relation: Only edges of this type.
        direction: ``out`` of the node, ``in``, or both.
        limit: At most so many.
        sentences: How many sentences to bring for each.

    Raises:
        UsageError: The graph has no such relation type.
    """
    number = label_number(connection, relation, "relation")
    # The plus keeps SQLite from going through all edges of the type instead of those at the node.
    kind = "" if number is None else "AND +e.label = :label"
    rows: list[tuple[Any, ...]] = []
    for end in _ENDS[direction]:
        rows += connection.execute(
            f"{_EDGE} WHERE {end} {kind} ORDER BY e.documents DESC, e.id LIMIT :limit",
            {"node": node.id, "label": number, "limit": limit},
        )
    rows.sort(key=lambda row: (-row[4], row[0]))
    return [edge_of(connection, row, sentences) for row in rows[:limit]]


def between(
    connection: sqlite3.Connection, first: int, second: int, sentences: int = 0
) -> list[Edge]:
    """Edges between two nodes in either direction, the best supported first."""
    rows = connection.execute(
        f"{_EDGE} WHERE (e.head = :first AND e.tail = :second) OR (e.head = :second AND e.tail = :first) "
        "ORDER BY e.documents DESC, e.mentions DESC, e.id",
        {"first": first, "second": second},
    )
    return [edge_of(connection, row, sentences) for row in rows.fetchall()]


def edge_of(connection: sqlite3.Connection, row: tuple[Any, ...], sentences: int = 0) -> Edge:
    """The edge of a row of numbers, with its nodes and so many sentences."""
    found = sentences_of(connection, row[0], sentences) if sentences else ()
    number, head, tail, *counts = row
    ends = node_of(connection, head), node_of(connection, tail)
    return Edge(*(number, *ends, *counts, found))


def sentences_of(connection: sqlite3.Connection, edge: int, limit: int) -> tuple[Sentence, ...]:
    """What supports an edge, the most probable first."""
    rows = connection.execute(
        """SELECT d.doc_key, d.year, v.char_start, v.char_end, t.content, v.score
        FROM support s JOIN evidence v ON v.document = s.document AND v.number = s.number
        JOIN document d ON d.id = s.document JOIN text t ON t.document = s.document
        WHERE s.edge = ? ORDER BY v.score DESC NULLS LAST, s.document, s.number LIMIT ?""",
        (edge, limit),
    )
    return tuple([_sentence(*row) for row in rows])


def _sentence(
    doc_key: str, year: int | None, start: int, end: int, content: bytes, score: float | None
) -> Sentence:
    text = zlib.decompress(content).decode("utf-8", "surrogatepass")
    return Sentence(doc_key, year, start, end, text[start:end], score)
