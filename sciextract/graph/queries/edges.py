"""Edges, and the sentences that support them."""

from __future__ import annotations

import sqlite3
from dataclasses import asdict, dataclass
from typing import Any, Literal

from sciextract.graph.contribution import unpacked
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


def relation_counts(connection: sqlite3.Connection, node: Node) -> dict[tuple[str, bool], int]:
    """Edges at a node by relation type, and whether they lead out of it; the most frequent first."""
    counted = [
        ((label, outwards), edges)
        for end, outwards in (("head", True), ("tail", False))
        for label, edges in connection.execute(
            f"""SELECT l.name, count(*) FROM edge e JOIN label l ON l.id = e.label
            WHERE e.{end} = ? GROUP BY e.label""",
            (node.id,),
        )
    ]
    return dict(sorted(counted, key=lambda item: (-item[1], item[0])))


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


def edge_numbered(connection: sqlite3.Connection, number: int) -> Edge:
    """The edge of that number, without sentences."""
    return edge_of(connection, connection.execute(f"{_EDGE} WHERE e.id = ?", (number,)).fetchone())


def sentences_of(connection: sqlite3.Connection, edge: int, limit: int) -> tuple[Sentence, ...]:
    """What supports an edge, the most probable first."""
    rows = connection.execute(
        f"""{_SENTENCE} JOIN support s ON v.document = s.document AND v.number = s.number
        WHERE s.edge = ? ORDER BY v.score DESC NULLS LAST, s.document, s.number LIMIT ?""",
        (edge, limit),
    )
    return tuple([_sentence(*row) for row in rows])


def sentence_at(connection: sqlite3.Connection, document: int, number: int) -> Sentence:
    """What one relation of an abstract is read from."""
    values = document, number
    row = connection.execute(
        f"{_SENTENCE} WHERE v.document = ? AND v.number = ?", values
    ).fetchone()
    return _sentence(*row)


_SENTENCE = """SELECT d.doc_key, d.year, v.char_start, v.char_end, v.head_start, v.head_end, v.tail_start, v.tail_end,
    t.content, v.score
FROM evidence v JOIN document d ON d.id = v.document JOIN text t ON t.document = v.document """


def _sentence(doc_key: str, year: int | None, start: int, end: int, *rest: Any) -> Sentence:
    head_start, head_end, tail_start, tail_end, content, score = rest
    text = unpacked(content)[start:end]
    head, tail = (head_start, head_end), (tail_start, tail_end)
    return Sentence(doc_key, year, start, end, head, tail, text, score)
