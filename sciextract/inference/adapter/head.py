"""A softmax head with one hidden layer, trained by Adam in NumPy, whose weights are drawn to given first values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sciextract.inference.network import Floats









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
    def untrained(cls, wide: int, narrow_weights: Floats, training: Training) -> Head:
        """A head before training: its logits are ``narrow @ narrow_weights``."""
        classes = narrow_weights.shape[1]
        random = np.random.default_rng(training.seed)
        inner = random.standard_normal((wide, training.hidden), dtype=np.float32)
        return cls(
            narrow_weights.astype(np.float32),
            np.zeros((wide, classes), np.float32),
            inner / np.float32(np.sqrt(max(1, wide))),
            np.zeros(training.hidden, np.float32),
            np.zeros((training.hidden, classes), np.float32),
        )

    @property
    def _weights(self) -> tuple[Floats, ...]:
        return self.narrow, self.linear, self.inner, self.inner_bias, self.outer

    def logits(self, wide: Floats, narrow: Floats) -> Floats:
        """Scores of the classes. Shape: (rows, classes)."""
        return self.finished(wide @ self.linear, wide @ self.inner, narrow)

    def finished(self, linear: Floats, inner: Floats, narrow: Floats) -> Floats:
        """The logits from products that were made elsewhere: ``wide @ linear`` and ``wide @ inner``."""
        hidden = np.maximum(inner + self.inner_bias, 0)
        return np.asarray(narrow @ self.narrow + linear + hidden @ self.outer, dtype=np.float32)

    def train(self, examples: Examples, training: Training) -> None:
        """Fit to examples: cross-entropy, AdamW (Loshchilov and Hutter 2019) with decay towards the first weights."""
        rows = len(examples)
        if not rows:
            return
        random = np.random.default_rng(training.seed + 1)
        per_epoch = -(-rows // training.batch)
        steps = max(training.least_steps, training.epochs * per_epoch)
        steps = min(steps, training.most_steps)
        first = tuple(each.copy() for each in self._weights)
        moments = [(np.zeros_like(each), np.zeros_like(each)) for each in first]
        # The pull is that of a prior: the more is known, the less it counts.
        share = np.float32(min(1.0, 1_000 / float(examples.weights.sum())))
        decays = (training.decay_narrow, *(training.decay_wide,) * 4)
        order = np.empty(0, np.int64)
        for step in range(steps):
            if len(order) < min(training.batch, rows):
                order = np.concatenate([order, random.permutation(rows)])
            chosen, order = order[: training.batch], order[training.batch :]
            gradients = self._gradients(examples, chosen, training.dropout, random)
            rate = np.float32(training.rate * (1 - step / steps))
            for weights, start, moment, gradient, decay in zip(
                self._weights, first, moments, gradients, decays, strict=True
            ):
                _adam(weights, gradient, moment, rate, step + 1)
                weights -= rate * np.float32(decay) * share * (weights - start)

    def _gradients(
        self,
        examples: Examples,
        rows: NDArray[np.int64],
        dropout: float,
        random: np.random.Generator,
    ) -> tuple[Floats, ...]:
        wide, narrow = examples.wide[rows], examples.narrow[rows]
        keep, classes = np.float32(1 - dropout), self.linear.shape[1]
        seen = (random.random((wide.shape[1], 1), np.float32) < keep) / keep
        of_wide = np.concatenate([self.linear, self.inner], axis=1) * seen
        products = np.asarray(wide @ of_wide, dtype=np.float32)
        linear, inner = products[:, :classes], products[:, classes:] + self.inner_bias
        kept = (random.random(inner.shape, np.float32) < keep) / keep
        hidden = np.maximum(inner, 0) * kept
        logits = narrow @ self.narrow + linear + hidden @ self.outer
        error = _error(logits, examples.targets[rows]) * examples.weights[rows, None]
        error /= np.float32(max(1e-6, float(examples.weights[rows].sum())))
        back = (error @ self.outer.T) * kept * (inner > 0)
        by_wide = (wide.T @ np.concatenate([error, back], axis=1)) * seen
        by_state = by_wide[:, :classes], by_wide[:, classes:]
        gradients = (narrow.T @ error, *by_state, back.sum(axis=0), hidden.T @ error)
        return tuple(np.asarray(each, np.float32) for each in gradients)




