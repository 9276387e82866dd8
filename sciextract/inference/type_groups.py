"""Label probabilities of spans: one softmax over all labels, or one per group of labels.

Labels of a group exclude each other; labels of different groups do not take each other's probability. A model
of data sets that each know some types only (``Gene`` here, ``protein`` there) has groups; others have one softmax.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

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
