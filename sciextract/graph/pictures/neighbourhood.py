"""What a picture of a node shows: its best supported neighbours, and the edges among all of them."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass

from sciextract.graph.queries.edges import Edge, between, neighbours
from sciextract.graph.queries.nodes import Node

_EDGES_A_NODE = 6
"""Edges to look through for each neighbour wanted: several may lead to the same one."""


@dataclass(frozen=True, slots=True)
class Neighbourhood:
    """A part of a graph.

    Attributes:
        centre: The node in question.
        nodes: It and its neighbours, it first.
        edges: All edges among them.
    """

    centre: Node
    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]


def neighbourhood(
    connection: sqlite3.Connection,
    centre: Node,
    *,
    relation: str | None = None,
    most: int = 24,
    sentences: int = 0,
) -> Neighbourhood:
    """The part of a graph around a node.

    Args:
        connection: The graph.
        centre: The node.
        relation: Only edges of this type.
        most: How many neighbours.
        sentences: How many sentences to bring for each edge.

    Raises:
        UsageError: The graph has no such relation type.
    """
    at_centre = neighbours(connection, centre, relation=relation, limit=most * _EDGES_A_NODE)
    nodes = {centre.id: centre}
    for edge in at_centre:
        for end in (edge.head, edge.tail):
            if len(nodes) <= most:
                nodes.setdefault(end.id, end)
    numbers = sorted(nodes)
    edges = [
        edge
        for place, first in enumerate(numbers)
        for second in numbers[place + 1 :]
        for edge in between(connection, first, second, sentences)
        if relation is None or edge.label.casefold() == relation.casefold()
    ]
    return Neighbourhood(centre, tuple(nodes.values()), tuple(edges))
