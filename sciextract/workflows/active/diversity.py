"""Abstracts that differ from each other and from what is labelled already."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]


def k_centre_greedy(vectors: Floats, labelled: Floats) -> Iterator[int]:
    """Rows of the pool, each the one farthest from all that were taken before.

    The greedy 2-approximation of the k-centre problem: Sener and Savarese 2018 (arXiv 1708.00489),
    algorithm 1, with Euclidean distances. Without labelled abstracts the one nearest to the pool's mean
    begins. Each further row takes one pass over the pool.

    Args:
        vectors: float32 (abstracts, hidden), the pool.
        labelled: float32 (abstracts, hidden), what is labelled; may be empty.

    Yields:
        Every row once; of equally far ones the first.
    """
    if not len(vectors):
        return
    nearest = np.full(len(vectors), np.inf, dtype=np.float32)
    for each in labelled:
        np.minimum(nearest, _squared(vectors, each), out=nearest)
    row = int(np.argmax(nearest) if len(labelled) else _most_central(vectors))
    for _ in range(len(vectors)):
        yield row
        np.minimum(nearest, _squared(vectors, vectors[row]), out=nearest)
        nearest[row] = -np.inf
        row = int(np.argmax(nearest))


def _most_central(vectors: Floats) -> np.intp:
    return np.argmin(_squared(vectors, vectors.mean(axis=0)))


def _squared(vectors: Floats, centre: Floats) -> Floats:
    return np.asarray(np.square(vectors - centre).sum(axis=1), dtype=np.float32)
