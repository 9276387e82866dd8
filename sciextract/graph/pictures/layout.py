"""Places for the nodes of a small picture.

T. M. J. Fruchterman and E. M. Reingold: Graph drawing by force-directed placement, Software: Practice and Experience
21, 1991; begun on a circle instead of at random, so that the same graph always gives the same picture.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Points = npt.NDArray[np.float64]

_STEPS = 300
_ASPECT = 1.6
"""Names are wider than high: distances across count less."""


def places(nodes: int, edges: list[tuple[int, int]]) -> Points:
    """A place for each node, the first one in the middle.

    Args:
        nodes: How many.
        edges: Pairs of nodes that are to be near each other.

    Returns:
        float64 (nodes, 2): x and y between -1 and 1.
    """
    points = _circle(nodes)
    if nodes < 3:
        return points
    ideal = 2.0 / np.sqrt(nodes)
    ends = np.array(edges, dtype=np.int64).reshape(-1, 2)
    for step in range(_STEPS):
        moves = _apart(points, ideal) + _together(points, ends, ideal)
        lengths = np.maximum(np.linalg.norm(moves, axis=1, keepdims=True), 1e-9)
        points = points + moves / lengths * np.minimum(lengths, 0.2 * (1 - step / _STEPS))
        points -= points[0]
    return np.asarray(points / np.maximum(np.abs(points).max(axis=0), 1e-9))


def _circle(nodes: int) -> Points:
    angles = 2 * np.pi * np.arange(max(nodes - 1, 0)) / max(nodes - 1, 1)
    around = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    return np.concatenate([np.zeros((min(nodes, 1), 2)), around])


def _apart(points: Points, ideal: float) -> Points:
    """All nodes keep away from each other."""
    away = points[:, None] - points[None]
    away[..., 0] /= _ASPECT
    squares = np.maximum((away**2).sum(axis=2, keepdims=True), 1e-6)
    return np.asarray((away * ideal**2 / squares).sum(axis=1))


def _together(points: Points, ends: npt.NDArray[np.int64], ideal: float) -> Points:
    """Edges pull."""
    moves = np.zeros_like(points)
    across = points[ends[:, 1]] - points[ends[:, 0]]
    pull = across * np.linalg.norm(across, axis=1, keepdims=True) / ideal
    np.add.at(moves, ends[:, 0], pull)
    np.add.at(moves, ends[:, 1], -pull)
    return moves
