"""The one-to-one assignment with the greatest total weight."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]


def best_assignment(weights: Floats) -> tuple[Indices, Indices]:
    """Pair rows with columns, each at most once, so that the sum of their weights is greatest.

    Shortest augmenting paths after Jonker and Volgenant 1987, in the form of Crouse 2016 ("On
    implementing 2D rectangular assignment algorithms"): O(rows^2 * columns), rows <= columns.

    Args:
        weights: Finite numbers, *Shape:* (rows, columns).

    Returns:
        Row indices, ascending, and their columns; ``min(rows, columns)`` of each.
    """
    rows, columns = weights.shape
    if rows > columns:
        column_of, row_of = best_assignment(weights.T)
        order = np.argsort(row_of)
        return row_of[order], column_of[order]
    search = _Search(weights.max(initial=0.0) - weights)
    for row in range(rows):
        search.assign(row)
    return np.arange(rows), search.column_of


class _Search:
    """Dual variables and the assignment so far, for costs with rows <= columns."""

    def __init__(self, costs: Floats) -> None:
        """Start with no row assigned and all prices zero. *Shape:* (rows, columns)."""
        rows, columns = costs.shape
        self._costs = costs
        self._row_price = np.zeros(rows)
        self._column_price = np.zeros(columns)
        self._row_of = np.full(columns, -1)
        self.column_of: Indices = np.full(rows, -1)

    def assign(self, start: int) -> None:
        """Give the row ``start`` a column, moving earlier rows where that is cheaper."""
        shortest = np.full(len(self._row_of), np.inf)
        parent = np.full(len(self._row_of), -1)
        done = np.zeros(len(self._row_of), dtype=bool)
        row, distance = start, 0.0
        while row != -1:
            through = distance + self._costs[row] - self._row_price[row] - self._column_price
            better = ~done & (through < shortest)
            shortest[better], parent[better] = through[better], row
            sink = int(np.where(done, np.inf, shortest).argmin())
            distance = float(shortest[sink])
            done[sink] = True
            row = int(self._row_of[sink])
        self._update_prices(start, done, shortest, distance)
        self._augment(start, sink, parent)

    def _update_prices(
        self, start: int, done: NDArray[np.bool_], shortest: Floats, distance: float
    ) -> None:
        """Keep all reduced costs non-negative, and zero along the path."""
        passed = done & (self._row_of != -1)
        self._row_price[start] += distance
        self._row_price[self._row_of[passed]] += distance - shortest[passed]
        self._column_price[done] -= distance - shortest[done]

    def _augment(self, start: int, sink: int, parent: Indices) -> None:
        """Shift every row on the path to its new column."""
        column, row = sink, -1
        while row != start:
            row = int(parent[column])
            self._row_of[column] = row
            column, self.column_of[row] = int(self.column_of[row]), column
