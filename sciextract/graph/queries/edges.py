"""Edges, and the sentences that support them."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, Literal

from sciextract.graph.extraction import unpacked
from sciextract.graph.queries.nodes import Node, label_number, node_of

Direction = Literal["out", "in", "both"]


@dataclass(frozen=True, slots=True)
class EdgeRequest:
    """Which edges at a node are wanted.

    Attributes:
        relation: Only edges of this type.
        direction: ``out`` of the node, ``in``, or both; relations without direction are always there.
        limit: At most so many.
        sentences: How many sentences to bring for each.
        generic: Whether edges to generic nodes are wanted, too.
        narrower: Nodes whose edges are wanted like those of the node.
    """

    relation: str | None = None
    direction: Direction = "both"
    limit: int = 20
    sentences: int = 0
    generic: bool = True
    narrower: Sequence[Node] = ()


class Way(StrEnum):
    """Where an edge leads, seen from one of its ends."""

    OUT = "out"
    IN = "in"
    NONE = "none"

    def arrow(self, label: str) -> str:
        """The relation type as an arrow, or as a line where it has no direction."""
        return {Way.OUT: f"--{label}-->", Way.IN: f"<--{label}--", Way.NONE: f"--{label}--"}[self]


@dataclass(frozen=True, slots=True)
class Sentence:
    """A place that supports an edge.

    Attributes:
        doc_key: The abstract.
        year: Its year.
        char_start: Where the sentence (or the first of several) begins in its text.
        char_end: Where it (or the last) ends.
        head: From where to where the head of the edge is mentioned, in characters of the abstract.
        tail: The same of its tail.
        text: The characters of the sentence.
        score: The probability of the relation.
    """

    doc_key: str
    year: int | None
    char_start: int
    char_end: int
    head: tuple[int, int]
    tail: tuple[int, int]
    text: str
    score: float | None

    @property
    def head_text(self) -> str:
        """The head as it is written here."""
        return self.text[self.head[0] - self.char_start : self.head[1] - self.char_start]

    @property
    def tail_text(self) -> str:
        """The tail as it is written here."""
        return self.text[self.tail[0] - self.char_start : self.tail[1] - self.char_start]


@dataclass(frozen=True, slots=True)
class Edge:
    """A relation between two nodes.

    Attributes:
        id: Its number in this graph.
        head: Where it comes from.
        tail: Where it leads to.
        label: Its type.
        symmetric: Whether it has no direction: where it is seen from a node, that is its head; else head and tail
            stand in the order of their names.
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
    symmetric: bool
    documents: int
    mentions: int
    score_mean: float | None
    score_max: float | None
    sentences: tuple[Sentence, ...] = ()

    def way_from(self, node: int) -> Way:
        """Where it leads, seen from the node of that number."""
        if self.symmetric:
            return Way.NONE
        return Way.OUT if node == self.head.id else Way.IN

    def read_from(self, node: int) -> Edge:
        """The same, with the node of that number as head where there is no direction."""
        if not self.symmetric or self.head.id == node:
            return self
        sentences = [replace(each, head=each.tail, tail=each.head) for each in self.sentences]
        return replace(self, head=self.tail, tail=self.head, sentences=tuple(sentences))


_SYMMETRIC = "e.label IN (SELECT label FROM symmetric)"
_EDGE = f"""SELECT e.id, e.head, e.tail, l.name, {_SYMMETRIC},
    e.documents, e.mentions, e.score_mean, e.score_max
FROM edge e JOIN label l ON l.id = e.label """
_NODES = "(SELECT value FROM json_each(:nodes))"
_GENERIC_END = f"SELECT 1 FROM node g WHERE g.id IN (e.head, e.tail) AND g.id NOT IN {_NODES} AND g.generic"  # fmt: skip
_HEAD, _TAIL = f"e.head IN {_NODES}", f"e.tail IN {_NODES}"
_ENDS = {
    "out": (_HEAD, f"{_TAIL} AND {_SYMMETRIC}"),
    "in": (_TAIL, f"{_HEAD} AND {_SYMMETRIC}"),
    "both": (_HEAD, _TAIL),
}


def neighbours(
    connection: sqlite3.Connection, node: Node, request: EdgeRequest = EdgeRequest()
) -> list[Edge]:
    """Edges at a node, those that most abstracts state first.

    Args:
        connection: The graph.
        node: The node.
        request: Which of its edges.

    Raises:
        UsageError: The graph has no such relation type.
    """
    number = label_number(connection, request.relation, "relation")
    # The plus keeps SQLite from going through all edges of the type instead of those at the node.
    kind = "" if number is None else "AND +e.label = :label"
    if not request.generic:
        kind += f" AND NOT EXISTS ({_GENERIC_END})"
    ours = [node.id, *[each.id for each in request.narrower]]
    rows: dict[int, tuple[Any, ...]] = {}
    for end in _ENDS[request.direction]:
        for row in connection.execute(
            f"{_EDGE} WHERE {end} {kind} ORDER BY e.documents DESC, e.id LIMIT :limit",
            {"nodes": json.dumps(ours), "label": number, "limit": request.limit},
        ):
            rows[row[0]] = row  # an edge between two of them is found from both
    best = sorted(rows.values(), key=lambda row: (-row[5], row[0]))[: request.limit]
    edges = [edge_of(connection, row, request.sentences) for row in best]
    return [
        each.read_from(each.head.id if each.head.id in ours else each.tail.id) for each in edges
    ]


def relation_counts(connection: sqlite3.Connection, node: Node) -> dict[tuple[str, Way], int]:
    """Edges at a node by relation type and way, seen from the node; the most frequent first."""
    counts: Counter[tuple[str, Way]] = Counter()
    for end, way in (("head", Way.OUT), ("tail", Way.IN)):
        for label, symmetric, edges in connection.execute(
            f"""SELECT l.name, {_SYMMETRIC}, count(*) FROM edge e JOIN label l ON l.id = e.label
            WHERE e.{end} = ? GROUP BY e.label""",
            (node.id,),
        ):
            counts[label, Way.NONE if symmetric else way] += edges
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def between(
    connection: sqlite3.Connection, first: int, second: int, sentences: int = 0
) -> list[Edge]:
    """Edges between two nodes in either direction, the best supported first; without direction, from the first."""
    rows = connection.execute(
        f"{_EDGE} WHERE (e.head = :first AND e.tail = :second) OR (e.head = :second AND e.tail = :first) "
        "ORDER BY e.documents DESC, e.mentions DESC, e.id",
        {"first": first, "second": second},
    )
    return [edge_of(connection, row, sentences).read_from(first) for row in rows.fetchall()]


def edge_of(connection: sqlite3.Connection, row: tuple[Any, ...], sentences: int = 0) -> Edge:
    """The edge of a row of numbers, with its nodes and so many sentences."""
    found = sentences_of(connection, row[0], sentences) if sentences else ()
    number, head, tail, label, symmetric, *counts = row
    ends = node_of(connection, head), node_of(connection, tail)
    return Edge(*(number, *ends, label, bool(symmetric), *counts, found))


def edge_numbered(connection: sqlite3.Connection, number: int) -> Edge:
    """The edge of that number, without sentences."""
    return edge_of(connection, connection.execute(f"{_EDGE} WHERE e.id = ?", (number,)).fetchone())


def sentences_of(
    connection: sqlite3.Connection, edge: int, limit: int, place: tuple[int, int] | None = None
) -> tuple[Sentence, ...]:
    """What supports an edge, the most probable first.

    Args:
        connection: The graph.
        edge: The number of the edge.
        limit: At most so many.
        place: Only this one: the numbers of a document and of a relation in it.
    """
    only = "AND s.document = ? AND s.number = ?" if place else ""
    rows = connection.execute(
        f"""SELECT s.turned, t.content, v.head_start, v.head_end, v.tail_start, v.tail_end,
            d.doc_key, d.year, v.char_start, v.char_end, v.score
        FROM support s JOIN evidence v ON v.document = s.document AND v.number = s.number
        JOIN document d ON d.id = v.document JOIN text t ON t.document = v.document
        WHERE s.edge = ? {only} ORDER BY v.score DESC NULLS LAST, s.document, s.number LIMIT ?""",
        (edge, *(place or ()), limit),
    )
    found = []
    for turned, content, *spans, doc_key, year, start, end, score in rows:
        one, other = (spans[0], spans[1]), (spans[2], spans[3])
        head, tail = (other, one) if turned else (one, other)
        text = unpacked(content)[start:end]
        found.append(Sentence(doc_key, year, start, end, head, tail, text, score))
    return tuple(found)
