"""The class layout of the relation head: null, forward labels, inverse labels.

Each unordered pair of spans is scored in both directions; the class of (a, b) is mirrored in (b, a). A
symmetric label is its own mirror, a directed label has an inverse class (Ye et al. 2022, PL-Marker,
arXiv 2109.06067, section 3.4, use the same device).
"""

from __future__ import annotations

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
