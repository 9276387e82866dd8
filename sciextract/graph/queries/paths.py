"""The shortest way from one node to another."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable
from itertools import pairwise

from sciextract.graph.queries.edges import Edge, between
from sciextract.graph.queries.nodes import Node

_AROUND = """SELECT tail FROM edge WHERE head IN (SELECT value FROM json_each(?1))
UNION SELECT head FROM edge WHERE tail IN (SELECT value FROM json_each(?1))"""
_BEST = """SELECT other FROM (
    SELECT tail AS other, documents FROM edge WHERE head = ?1 UNION ALL SELECT head, documents FROM edge WHERE tail = ?1
) WHERE other IN (SELECT value FROM json_each(?2)) ORDER BY documents DESC, other LIMIT 1"""


def shortest_path(
    connection: sqlite3.Connection,
    start: Node,
    end: Node,
    avoid: Iterable[int] = (),
    sentences: int = 1,
) -> list[list[Edge]] | None:
    """The edges of each step from one node to another, ``None`` where no way leads there.

    Among the ways of the shortest length it takes at each step the edge that most abstracts support.

    Args:
        connection: The graph.
        start: Where it begins.
        end: Where it leads.
        avoid: Numbers of nodes not to go through.
        sentences: How many sentences to bring for each edge.
    """

    def around(nodes: Iterable[int]) -> set[int]:
        return {row[0] for row in connection.execute(_AROUND, (json.dumps(list(nodes)),))}

    # Breadth first from both ends, the smaller side first, so that hubs are reached last; level by level.
    levels = [{start.id}], [{end.id}]
    seen = {start.id} | set(avoid) - {end.id}, {end.id} | set(avoid) - {start.id}
    while not levels[0][-1] & levels[1][-1]:
        side = 0 if len(levels[0][-1]) <= len(levels[1][-1]) else 1
        reached = around(levels[side][-1]) - seen[side]
        if not reached:
            return None
        levels[side].append(reached)
        seen[side].update(reached)
    # Nodes on the ways, by their distance from the start: where both sides meet, and from there to both ends.
    ways = [levels[0][-1] & levels[1][-1]]
    for level in levels[0][-2::-1]:
        ways.insert(0, level & around(ways[0]))
    for level in levels[1][-2::-1]:
        ways.append(level & around(ways[-1]))
    numbers = [start.id]
    for level in ways[1:]:
        (best,) = connection.execute(_BEST, (numbers[-1], json.dumps(list(level)))).fetchone()
        numbers.append(best)
    return [between(connection, *pair, sentences) for pair in pairwise(numbers)]
