"""The first nodes since each year, counted once for all questions."""

from __future__ import annotations

import sqlite3

import numpy as np
import numpy.typing as npt

from sciextract.graph.database.tables import ANY_TYPE, MOST_RECENT

_Ints = npt.NDArray[np.int64]

# Nine of ten nodes are named by one abstract only; without them this takes a tenth of the time.
_NODES = "SELECT id, label FROM node WHERE documents > 1 ORDER BY id"
_YEARS = """SELECT y.node, y.year, y.documents FROM node n JOIN node_year y ON y.node = n.id
WHERE n.documents > 1"""


def fill_recent(connection: sqlite3.Connection) -> None:
    """Ranks nodes by their abstracts since each year, from ``node`` and ``node_year``.

    Going from the last year back, each year's abstracts are added to sums over all later ones. Only nodes that two
    abstracts or more name since that year are ranked.
    """
    nodes, labels = _columns(connection, _NODES, 2)
    named, years, documents = _columns(connection, _YEARS, 3)
    places = np.searchsorted(nodes, named)
    of_label = {ANY_TYPE: np.arange(len(nodes))}
    of_label |= {label: np.flatnonzero(labels == label) for label in np.unique(labels).tolist()}
    sums = np.zeros(len(nodes), dtype=np.int64)
    for year in np.unique(years)[::-1].tolist():
        of_year = years == year
        sums[places[of_year]] += documents[of_year]
        rows = (
            (year, label, int(sums[place]), int(nodes[place]))
            for label, some in of_label.items()
            for place in _first(some, sums)
        )
        connection.executemany("INSERT INTO recent VALUES (?, ?, ?, ?)", rows)


def _first(some: _Ints, sums: _Ints) -> list[int]:
    """Which of some nodes have the highest sums, of equal ones the first; none whose sum is below two."""
    counted = some[sums[some] > 1]
    if len(counted) > MOST_RECENT:
        ranked = counted - sums[counted] * len(
            sums
        )  # one number for both, the lowest one is the first
        counted = counted[np.argpartition(ranked, MOST_RECENT)[:MOST_RECENT]]
    return [int(place) for place in counted]


def _columns(connection: sqlite3.Connection, query: str, count: int) -> _Ints:
    """The columns of a query: int (columns, rows); row by row, because rows as tuples would take gigabytes."""
    numbers = (number for row in connection.execute(query) for number in row)
    return np.fromiter(numbers, dtype=np.int64).reshape(-1, count).T.copy()
