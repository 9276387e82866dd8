"""Class layouts: of the relation head, and of label probabilities in one or several groups."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class RelationLayout:
    """Which class index means which label in which direction. Class 0 is "no relation".

    Attributes:
        labels: Relation labels; label ``k`` is class ``k + 1`` from head to tail.
        symmetric: The labels without direction.
    """

    labels: tuple[str, ...]
    symmetric: frozenset[str]

    @property
    def directed(self) -> tuple[str, ...]:
        """Labels that have an inverse class, in the order of their inverse classes."""
        return tuple(label for label in self.labels if label not in self.symmetric)

    @property
    def class_count(self) -> int:
        """Number of classes of the head: 1 + labels + directed labels."""
        return 1 + len(self.labels) + len(self.directed)

    def mirror(self) -> NDArray[np.int64]:
        """Permutation (classes,) that maps the class of (a, b) to the class of (b, a)."""
        mirrored = np.arange(self.class_count)
        for offset, label in enumerate(self.directed):
            forward = 1 + self.labels.index(label)
            inverse = 1 + len(self.labels) + offset
            mirrored[forward], mirrored[inverse] = inverse, forward
        return mirrored

    def forward_class(self, label: str) -> int:
        """Class index of a label read from head to tail.

        Raises:
            ValueError: The layout does not know the label.
        """
        return 1 + self.labels.index(label)


Floats = NDArray[np.float32]

Columns = tuple[tuple[int, ...], ...]
"""Per group the classes of its labels; class 0, "no entity", belongs to all. Empty: one softmax over everything."""


def softmax(logits: Floats) -> Floats:
    """Probabilities along the last axis."""
    shifted = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return np.asarray(shifted / shifted.sum(axis=-1, keepdims=True))


def columns_of(labels: tuple[str, ...], groups: tuple[tuple[str, ...], ...]) -> Columns:
    """The classes of groups of labels; label ``k`` is class ``k + 1``.

    Raises:
        ValueError: A group names an unknown label, or a label is not in exactly one group.
    """
    if not groups:
        return ()
    named = [label for group in groups for label in group]
    if sorted(named) != sorted(labels):
        raise ValueError(f"the groups {groups} do not hold each of {labels} once")
    return tuple(tuple(1 + labels.index(label) for label in group) for group in groups)


def without_classes(logits: Floats, classes: Sequence[int]) -> Floats:
    """The logits of a model without some of its labels: what those had goes to the others and to "no entity".

    >>> softmax(without_classes(np.zeros((1, 3), dtype=np.float32), [2])).tolist()
    [[0.5, 0.5, 0.0]]
    """
    if not classes:
        return logits
    kept = logits.copy()
    kept[..., list(classes)] = -np.inf
    return kept


def type_probabilities(logits: Floats, groups: Columns) -> Floats:
    """Probabilities of the labels along the last axis, class 0 being "no entity".

    With groups a label's probability is that within its group, and "no entity" has what the surest group leaves,
    so that a row may sum to more than 1.

    >>> type_probabilities(np.zeros((1, 3), dtype=np.float32), ((1,), (2,))).tolist()
    [[0.5, 0.5, 0.5]]
    """
    if not groups:
        return softmax(logits)
    probabilities = np.empty_like(logits)
    none = np.ones(logits.shape[:-1], dtype=logits.dtype)
    for classes in groups:
        within = softmax(logits[..., [0, *classes]])
        probabilities[..., list(classes)] = within[..., 1:]
        none = np.minimum(none, within[..., 0])
    probabilities[..., 0] = none
    return probabilities
