"""What is exported: nodes and edges one by one, in constant memory."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from sciextract.graph.queries.nodes import Alias, aliases_of, labels_of, years_of


@dataclass(frozen=True, slots=True)
class NodeRow:
    """A node with everything about it: see :class:`sciextract.graph.queries.nodes.Node`.

    Attributes:
        key: Its normal form, the same in every graph of the same naming rules.
    """

    id: int
    key: str
    name: str
    label: str
    documents: int
    mentions: int
    degree: int
    first_year: int | None
    last_year: int | None
    labels: dict[str, int]
    years: dict[int, int]
    aliases: tuple[Alias, ...]


@dataclass(frozen=True, slots=True)
class EvidenceRow:
    """Where an abstract supports an edge: characters of its text."""

    doc_key: str
    char_start: int
    char_end: int
    score: float | None


@dataclass(frozen=True, slots=True)
class EdgeRow:
    """An edge: see :class:`sciextract.graph.queries.edges.Edge`.

    Attributes:
        head: The number of a node.
        tail: The number of another.
        head_key: The normal form of the head.
        tail_key: The normal form of the tail.
        evidence: All that supports it.
    """

    id: int
    head: int
    tail: int
    head_key: str
    tail_key: str
    label: str
    documents: int
    mentions: int
    score_mean: float | None
    score_max: float | None
    evidence: tuple[EvidenceRow, ...]


def node_rows(connection: sqlite3.Connection, least: int = 1) -> Iterator[NodeRow]:
    """All nodes that so many abstracts name."""
    rows: Iterable[tuple[Any, ...]] = connection.execute(
        """SELECT n.id, m.key, n.name, l.name, n.documents, n.mentions, n.degree, n.first_year, n.last_year
        FROM node n JOIN name m ON m.id = n.id JOIN label l ON l.id = n.label
        WHERE n.documents >= ? ORDER BY n.id""",
        (least,),
    )
    for row in rows:
        node = row[0]
        labels, years = labels_of(connection, node), years_of(connection, node)
        yield NodeRow(*(*row, labels, years, aliases_of(connection, node)))


def edge_rows(connection: sqlite3.Connection, least: int = 1) -> Iterator[EdgeRow]:
    """All edges between nodes that so many abstracts name."""
    rows: Iterable[tuple[Any, ...]] = connection.execute(
        """SELECT e.id, e.head, e.tail, h.key, t.key, l.name, e.documents, e.mentions, e.score_mean, e.score_max
        FROM edge e JOIN label l ON l.id = e.label
        JOIN name h ON h.id = e.head JOIN name t ON t.id = e.tail
        JOIN node hn ON hn.id = e.head JOIN node tn ON tn.id = e.tail
        WHERE hn.documents >= ? AND tn.documents >= ? ORDER BY e.id""",
        (least, least),
    )
    for row in rows:
        yield EdgeRow(*(*row, _evidence(connection, row[0])))


def _evidence(connection: sqlite3.Connection, edge: int) -> tuple[EvidenceRow, ...]:
    rows = connection.execute(
        """SELECT d.doc_key, v.char_start, v.char_end, v.score FROM support s
        JOIN evidence v ON v.document = s.document AND v.number = s.number
        JOIN document d ON d.id = s.document WHERE s.edge = ? ORDER BY s.document, s.number""",
        (edge,),
    )
    return tuple([EvidenceRow(*row) for row in rows])
