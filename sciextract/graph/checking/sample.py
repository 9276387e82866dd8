"""Edges drawn at random, each with one sentence that supports it."""

from __future__ import annotations

import random
import sqlite3
from dataclasses import dataclass

from sciextract.graph.queries.edges import Edge, Sentence, edge_numbered, sentence_at
from sciextract.graph.queries.labels import label_number


@dataclass(frozen=True, slots=True)
class Drawn:
    """An edge to judge.

    Attributes:
        edge: It.
        sentence: One of the places that support it, drawn at random too: the best one would flatter the graph.
    """

    edge: Edge
    sentence: Sentence


def draw_edges(
    connection: sqlite3.Connection,
    count: int,
    *,
    seed: int = 1,
    relation: str | None = None,
    least: int = 1,
) -> list[Drawn]:
    """Edges of a graph, each as likely as every other: the same ones for the same graph and seed.

    Args:
        connection: The graph.
        count: How many; all where there are fewer.
        seed: Of the drawing.
        relation: Only edges of this type.
        least: Only edges that so many abstracts state.

    Raises:
        UsageError: The graph has no such relation type.
    """
    number = label_number(connection, relation, "relation")
    found = connection.execute(
        "SELECT id FROM edge WHERE documents >= ? AND label = coalesce(?, label) ORDER BY id",
        (least, number),
    )
    edges = [row[0] for row in found]
    chance = random.Random(seed)
    drawn = chance.sample(edges, min(count, len(edges)))
    return [_drawn(connection, edge, chance) for edge in drawn]


def _drawn(connection: sqlite3.Connection, edge: int, chance: random.Random) -> Drawn:
    places = connection.execute(
        "SELECT document, number FROM support WHERE edge = ? ORDER BY document, number", (edge,)
    ).fetchall()
    place = chance.choice(places)
    return Drawn(edge_numbered(connection, edge), sentence_at(connection, edge, *place))
