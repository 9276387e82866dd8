"""The shortest way from one node to another."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from sciextract.graph.queries.edges import Edge, between
from sciextract.graph.queries.nodes import Node

_Ints: TypeAlias = npt.NDArray[np.int64]
_UNSEEN, _CLOSED = -1, -2


@dataclass(frozen=True, slots=True)
class Adjacency:
    """Who is related to whom, whatever the direction.

    Attributes:
        nodes: int (nodes,): the number of each node that has an edge, ascending.
        offsets: int (nodes + 1,): where the neighbours of each begin.
        targets: int (pairs,): neighbours, as places in ``nodes``; of each node those first that most abstracts support.
    """

    nodes: _Ints
    offsets: _Ints
    targets: _Ints

    @classmethod
    def load(cls, connection: sqlite3.Connection) -> Adjacency:
        """The whole graph's."""
        rows = connection.execute("SELECT name, content FROM adjacency")
        return cls(**{name: np.frombuffer(content, "<i4") for name, content in rows})

    def place(self, node: int) -> int | None:
        """Where a node stands, ``None`` where it has no edge."""
        place = int(np.searchsorted(self.nodes, node))
        return place if place < len(self.nodes) and self.nodes[place] == node else None

    def around(self, places: _Ints) -> _Ints:
        """The neighbours of some nodes, some of them several times."""
        starts, ends = self.offsets[places], self.offsets[places + 1]
        lengths = ends - starts
        shifts = np.repeat(starts - np.concatenate([[0], np.cumsum(lengths)[:-1]]), lengths)
        return np.asarray(self.targets[shifts + np.arange(lengths.sum())])


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
    if start.id == end.id:
        return []
    adjacency = Adjacency.load(connection)
    first, last = adjacency.place(start.id), adjacency.place(end.id)
    if first is None or last is None:
        return None
    closed = [place for node in avoid if (place := adjacency.place(node)) is not None]
    # Steps to the end, breadth first from there until the start is reached.
    distances = np.full(len(adjacency.nodes), _UNSEEN)
    distances[closed] = _CLOSED
    distances[[first, last]] = _UNSEEN, 0
    frontier, step = np.array([last]), 0
    while len(frontier) and distances[first] == _UNSEEN:
        step += 1
        reached = np.zeros(len(distances), dtype=bool)
        reached[adjacency.around(frontier)] = True
        frontier = np.flatnonzero(reached & (distances == _UNSEEN))
        distances[frontier] = step
    if distances[first] == _UNSEEN:
        return None
    steps = [first]
    while distances[steps[-1]]:
        begin, stop = adjacency.offsets[steps[-1]], adjacency.offsets[steps[-1] + 1]
        around = adjacency.targets[begin:stop]
        nearer = distances[around] == distances[steps[-1]] - 1
        # argmax gives the first of them: the one that most abstracts support.
        steps.append(int(around[np.argmax(nearer)]))
    numbers = [int(adjacency.nodes[place]) for place in steps]
    return [between(connection, *pair, sentences) for pair in pairwise(numbers)]
