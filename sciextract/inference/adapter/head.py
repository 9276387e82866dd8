"""A softmax head with one hidden layer, whose weights are drawn to given first values when it is trained."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from sciextract.inference.network import Floats

HIDDEN, SEED = 64, 0
"""Units of the hidden layer of a head, and what its first weights are drawn with. A saved adapter depends on both."""


@cache
def _controller() -> Any:
    # Finding the libraries of the process takes 2 ms, as long as an abstract's heads.
    from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped]

    return ThreadpoolController()


@contextmanager
def one_core() -> Iterator[None]:
    """Matrix products run on one core here: learning runs alongside a person's work, and results do not depend on cores."""
    with _controller().limit(limits=1, user_api="blas"):
        yield


@dataclass(slots=True)
class Head:
    """``logits = narrow @ narrow_weights + wide @ linear + relu(wide @ inner + inner_bias) @ outer``.

    Attributes:
        narrow: float32 (narrow, classes).
        linear: float32 (wide, classes).
        inner: float32 (wide, hidden).
        inner_bias: float32 (hidden,).
        outer: float32 (hidden, classes); zero at first, so that an untrained head says what ``narrow`` says.
    """

    narrow: Floats
    linear: Floats
    inner: Floats
    inner_bias: Floats
    outer: Floats

    @classmethod
    def untrained(
        cls, wide: int, narrow_weights: Floats, hidden: int = HIDDEN, seed: int = SEED
    ) -> Head:
        """A head before training: its logits are ``narrow @ narrow_weights``."""
        classes = narrow_weights.shape[1]
        random = np.random.default_rng(seed)
        inner = random.standard_normal((wide, hidden), dtype=np.float32)
        inner /= np.float32(np.sqrt(max(1, wide)))
        bias, outer = np.zeros(hidden, np.float32), np.zeros((hidden, classes), np.float32)
        linear = np.zeros((wide, classes), np.float32)
        return cls(narrow_weights.astype(np.float32), linear, inner, bias, outer)

    @property
    def weights(self) -> tuple[Floats, ...]:
        """All weights, in the order of the attributes."""
        return self.narrow, self.linear, self.inner, self.inner_bias, self.outer

    def logits(self, wide: Floats, narrow: Floats) -> Floats:
        """Scores of the classes. Shape: (rows, classes)."""
        hidden = np.maximum(wide @ self.inner + self.inner_bias, 0)
        linear = narrow @ self.narrow + wide @ self.linear
        return np.asarray(linear + hidden @ self.outer, dtype=np.float32)
