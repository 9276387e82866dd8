"""Edges, and the sentences that support them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from sqlite3 import Connection
from typing import Literal

from sciextract.graph.database import unpacked
from sciextract.graph.queries.nodes import Node, label_number, node_of

Direction = Literal["out", "in", "both"]


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

    def arrow_from(self, node: int) -> str:
        """Its type as an arrow, seen from the node of that number; as a line where it has no direction."""
        if self.symmetric:
            return f"--{self.label}--"
        return f"--{self.label}-->" if node == self.head.id else f"<--{self.label}--"


_SYMMETRIC = "e.label IN (SELECT label FROM symmetric)"
_EDGE = f"""SELECT e.id, e.head, e.tail, l.name, {_SYMMETRIC},
    e.documents, e.mentions, e.score_mean, e.score_max
FROM edge e JOIN label l ON l.id = e.label """
_NODES = "(SELECT value FROM json_each(:nodes))"
_GENERIC_END = (
    f"SELECT 1 FROM node g WHERE g.id IN (e.head, e.tail) AND g.id NOT IN {_NODES} AND g.generic"
)
_HEAD, _TAIL = f"e.head IN {_NODES}", f"e.tail IN {_NODES}"
_ENDS = {
    "out": (_HEAD, f"{_TAIL} AND {_SYMMETRIC}"),
    "in": (_TAIL, f"{_HEAD} AND {_SYMMETRIC}"),
    "both": (_HEAD, _TAIL),
}


def neighbours(
    connection: Connection,
    node: Node,
    *,
    relation: str | None = None,
    direction: Direction = "both",
    limit: int = 20,
    sentences: int = 0,
    generic: bool = True,
    narrower: Sequence[Node] = (),
) -> list[Edge]:
    """Edges at a node, those that most abstracts state first.

    Args:
        connection: The graph.
        node: The node.
        relation: Only edges of this type.
        direction: ``out`` of the node, ``in``, or both; relations without direction are always there.
        limit: At most so many.
        sentences: How many sentences to bring for each.
        generic: Whether edges to generic nodes are wanted, too.
        narrower: Nodes whose edges are wanted like those of the node.

    Raises:
        UsageError: The graph has no such relation type.
    """
    # The plus keeps SQLite from going through all edges of the type instead of those at the node.
    kind = "" if relation is None else "AND +e.label = :label"
    if not generic:
        kind += f" AND NOT EXISTS ({_GENERIC_END})"
    ours = [node.id, *[hyponym.id for hyponym in narrower]]
    number = label_number(connection, relation, "relation")
    # Either end by its index; an edge between two of them is found from both.
    order, values = "LIMIT :limit", {"nodes": json.dumps(ours), "label": number, "limit": limit}
    kind += f" ORDER BY e.documents DESC, e.id {order}"
    ends = [f"SELECT * FROM ({_EDGE} WHERE {end} {kind})" for end in _ENDS[direction]]
    query = f"{' UNION '.join(ends)} ORDER BY documents DESC, id {order}"
    edges = []
    for row in connection.execute(query, values).fetchall():
        edge, head, tail, label, symmetric, *counts = row
        pair = node_of(connection, head), node_of(connection, tail)
        support = support_of(connection, [edge], sentences) if sentences else ()
        some = [sentence for *_, sentence in support]
        if symmetric and head not in ours:  # without direction: read from the node
            pair = pair[::-1]
            some = [replace(sentence, head=sentence.tail, tail=sentence.head) for sentence in some]
        edges.append(Edge(*(edge, *pair, label, bool(symmetric), *counts, tuple(some))))
    return edges


def support_of(
    connection: Connection, edges: Iterable[int], most: int
) -> Iterator[tuple[int, int, Sentence]]:
    """The most probable sentences of each edge: its number, that of the document, and the sentence."""
    query = """SELECT s.edge, s.document, s.turned, t.content, s.head_start, s.head_end, s.tail_start, s.tail_end,
            d.doc_key, d.year, s.char_start, s.char_end, s.score
        FROM (
            SELECT *, row_number() OVER (PARTITION BY edge ORDER BY score DESC NULLS LAST, document, number) AS place
            FROM support JOIN evidence USING (document, number) WHERE edge IN (SELECT value FROM json_each(?))
        ) s JOIN document d ON d.id = s.document JOIN text t ON t.document = s.document
        WHERE s.place <= ? ORDER BY s.edge, s.place"""
    rows = connection.execute(query, (json.dumps(list(edges)), most))
    for edge, document, turned, content, *spans, doc_key, year, start, end, score in rows:
        one, other = (spans[0], spans[1]), (spans[2], spans[3])
        ends = (other, one) if turned else (one, other)
        text = unpacked(content)[start:end]
        yield edge, document, Sentence(doc_key, year, start, end, *ends, text, score)
