"""Numerators and denominators of precision and recall, which add up over documents."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from typing import NamedTuple, Protocol


class Tally(NamedTuple):
    """What precision and recall divide, for one document or for the sum of many.

    Set comparisons have equal numerators; coreference metrics need not.

    Attributes:
        precision_hits: Numerator of precision.
        predicted: Denominator of precision.
        recall_hits: Numerator of recall.
        gold: Denominator of recall.
    """

    precision_hits: float
    predicted: float
    recall_hits: float
    gold: float

    @property
    def precision(self) -> float:
        """Precision, 0 to 100; 0 when nothing was predicted."""
        return _percent(self.precision_hits, self.predicted)

    @property
    def recall(self) -> float:
        """Recall, 0 to 100; 0 when there is no gold."""
        return _percent(self.recall_hits, self.gold)

    @property
    def f1(self) -> float:
        """Harmonic mean of precision and recall, 0 to 100; 0 when both are."""
        precision, recall = self.precision, self.recall
        return 2 * precision * recall / (precision + recall) if precision + recall else 0.0

    def plus(self, other: Tally) -> Tally:
        """Both tallies together."""
        return Tally(*[mine + theirs for mine, theirs in zip(self, other, strict=True)])


NOTHING = Tally(0, 0, 0, 0)


class Labelled(Protocol):
    """Something hashable that has a label."""

    @property
    def label(self) -> str:
        """Its type."""


def compare(gold: AbstractSet[object], predicted: AbstractSet[object]) -> Tally:
    """Tally of two sets: what is in both is correct.

    >>> compare({"a", "b"}, {"b", "c", "d"})
    Tally(precision_hits=1, predicted=3, recall_hits=1, gold=2)
    """
    correct = len(gold & predicted)
    return Tally(correct, len(predicted), correct, len(gold))


def compare_by_label(
    gold: AbstractSet[Labelled], predicted: AbstractSet[Labelled]
) -> dict[str, Tally]:
    """Tallies of two sets of labelled items, for every label that occurs in either."""
    wanted, found, correct = (_labels(items) for items in (gold, predicted, gold & predicted))
    return {
        label: Tally(correct[label], found[label], correct[label], wanted[label])
        for label in wanted | found
    }


def _labels(items: Iterable[Labelled]) -> Counter[str]:
    return Counter([item.label for item in items])


def _percent(part: float, whole: float) -> float:
    return 100 * part / whole if whole else 0.0
