"""Training of a head by AdamW in NumPy: a few abstracts take a second, and need no PyTorch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sciextract.inference.adapter.head import HIDDEN, SEED, Head
from sciextract.inference.network import Floats

_BETA1, _BETA2, _EPSILON = 0.9, 0.999, 1e-8


@dataclass(frozen=True, slots=True)
class Examples:
    """What a head is trained on; rows belong together.

    Attributes:
        wide: float32 (rows, wide), encoder states.
        narrow: float32 (rows, narrow), features with a meaning of their own.
        targets: float32 (rows, classes), 1 for each class that is right; several where any of them is.
        weights: float32 (rows,).
    """

    wide: Floats
    narrow: Floats
    targets: Floats
    weights: Floats

    def __len__(self) -> int:
        return len(self.weights)

    @classmethod
    def join(cls, parts: Sequence[Examples]) -> Examples:
        """The rows of at least one part, in order."""
        columns = ((part.wide, part.narrow, part.targets, part.weights) for part in parts)
        return cls(*map(np.concatenate, zip(*columns, strict=True)))


@dataclass(frozen=True, slots=True)
class HeadTraining:
    """How a head is trained.

    Attributes:
        hidden: Units of the hidden layer.
        epochs: Passes over the examples.
        least_steps: At least so many steps, however few examples there are.
        most_steps: At most so many, so that 100 abstracts take seconds.
        batch: Rows of a step.
        rate: Step size at the start; it falls to 0 in a line.
        decay_wide: Pull of the weights of states towards 0.
        decay_narrow: Pull of the weights of other features towards their first values.
        dropout: Share of hidden units and states that a step leaves out.
        seed: Of first weights and order.
    """

    hidden: int = HIDDEN
    epochs: int = 12
    least_steps: int = 160
    most_steps: int = 300
    batch: int = 256
    rate: float = 6e-3
    decay_wide: float = 0.3
    decay_narrow: float = 0.02
    dropout: float = 0.2
    seed: int = SEED

    def untrained(self, wide: int, narrow_weights: Floats) -> Head:
        """A head before training: its logits are ``narrow @ narrow_weights``."""
        return Head.untrained(wide, narrow_weights, self.hidden, self.seed)

    def fit(self, head: Head, examples: Examples) -> None:
        """Fit a head to examples: cross-entropy, AdamW (Loshchilov and Hutter 2019) with decay towards the first weights."""
        rows = len(examples)
        if not rows:
            return
        random = np.random.default_rng(self.seed + 1)
        per_epoch = -(-rows // self.batch)
        steps = max(self.least_steps, self.epochs * per_epoch)
        steps = min(steps, self.most_steps)
        first = tuple(weights.copy() for weights in head.weights)
        moments = [(np.zeros_like(weights), np.zeros_like(weights)) for weights in first]
        # The pull is that of a prior: the more is known, the less it counts.
        share = np.float32(min(1.0, 1_000 / float(examples.weights.sum())))
        decays = (self.decay_narrow, *(self.decay_wide,) * 4)
        order = np.empty(0, np.int64)
        for step in range(steps):
            if len(order) < min(self.batch, rows):
                order = np.concatenate([order, random.permutation(rows)])
            chosen, order = order[: self.batch], order[self.batch :]
            gradients = _gradients(head, examples, chosen, self.dropout, random)
            rate = np.float32(self.rate * (1 - step / steps))
            for weights, start, moment, gradient, decay in zip(
                head.weights, first, moments, gradients, decays, strict=True
            ):
                _adam(weights, gradient, moment, rate, step + 1)
                weights -= rate * np.float32(decay) * share * (weights - start)


def _gradients(
    head: Head,
    examples: Examples,
    rows: NDArray[np.int64],
    dropout: float,
    random: np.random.Generator,
) -> tuple[Floats, ...]:
    wide, narrow = examples.wide[rows], examples.narrow[rows]
    keep, classes = np.float32(1 - dropout), head.linear.shape[1]
    seen = (random.random((wide.shape[1], 1), np.float32) < keep) / keep
    of_wide = np.concatenate([head.linear, head.inner], axis=1) * seen
    products = np.asarray(wide @ of_wide, dtype=np.float32)
    linear, inner = products[:, :classes], products[:, classes:] + head.inner_bias
    kept = (random.random(inner.shape, np.float32) < keep) / keep
    hidden = np.maximum(inner, 0) * kept
    logits = narrow @ head.narrow + linear + hidden @ head.outer
    # The gradient of ``-log sum of the right classes' probabilities`` by the logits: several classes may be right.
    probabilities = np.exp(logits - logits.max(axis=1, keepdims=True))
    probabilities /= probabilities.sum(axis=1, keepdims=True)
    targets = examples.targets[rows]
    right = probabilities * targets + np.float32(1e-12) * targets
    error = np.asarray(probabilities - right / right.sum(axis=1, keepdims=True), dtype=np.float32)
    error *= examples.weights[rows, None]
    error /= np.float32(max(1e-6, float(examples.weights[rows].sum())))
    back = (error @ head.outer.T) * kept * (inner > 0)
    by_wide = (wide.T @ np.concatenate([error, back], axis=1)) * seen
    by_state = by_wide[:, :classes], by_wide[:, classes:]
    gradients = (narrow.T @ error, *by_state, back.sum(axis=0), hidden.T @ error)
    return tuple(np.asarray(gradient, np.float32) for gradient in gradients)


def _adam(
    weights: Floats, gradient: Floats, moment: tuple[Floats, Floats], rate: np.float32, step: int
) -> None:
    mean, square = moment
    mean += np.float32(1 - _BETA1) * (gradient - mean)
    square += np.float32(1 - _BETA2) * (gradient * gradient - square)
    corrected = np.sqrt(square / np.float32(1 - _BETA2**step)) + np.float32(_EPSILON)
    weights -= rate / np.float32(1 - _BETA1**step) * mean / corrected
