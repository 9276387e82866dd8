"""A softmax head with one hidden layer, trained by Adam in NumPy, whose weights are drawn to given first values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

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
    def joined(cls, parts: Sequence[Examples]) -> Examples:
        """The rows of at least one part, in order."""
        columns = ((each.wide, each.narrow, each.targets, each.weights) for each in parts)
        return cls(*map(np.concatenate, zip(*columns, strict=True)))


@dataclass(frozen=True, slots=True)
class Training:
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

    hidden: int = 64
    epochs: int = 12
    least_steps: int = 160
    most_steps: int = 300
    batch: int = 256
    rate: float = 6e-3
    decay_wide: float = 0.3
    decay_narrow: float = 0.02
    dropout: float = 0.2
    seed: int = 0




def _error(logits: Floats, targets: Floats) -> Floats:
    """The gradient of ``-log sum of the right classes' probabilities`` by the logits."""
    probabilities = np.exp(logits - logits.max(axis=1, keepdims=True))
    probabilities /= probabilities.sum(axis=1, keepdims=True)
    right = probabilities * targets + np.float32(1e-12) * targets
    return np.asarray(probabilities - right / right.sum(axis=1, keepdims=True), dtype=np.float32)


def _adam(
    weights: Floats, gradient: Floats, moment: tuple[Floats, Floats], rate: np.float32, step: int
) -> None:
    mean, square = moment
    mean += np.float32(1 - _BETA1) * (gradient - mean)
    square += np.float32(1 - _BETA2) * (gradient * gradient - square)
    corrected = np.sqrt(square / np.float32(1 - _BETA2**step)) + np.float32(_EPSILON)
    weights -= rate / np.float32(1 - _BETA1**step) * mean / corrected
