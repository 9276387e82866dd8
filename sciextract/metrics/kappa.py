"""Cohen's kappa: agreement beyond chance (Cohen 1960, "A Coefficient of Agreement for Nominal Scales")."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TypeAlias

import numpy as np

from sciextract.metrics.bootstrap import RESAMPLES, SEED, Floats, draws
from sciextract.metrics.report import Interval, KappaAgreement

#: The labels of a document's units by one annotator and by the other; of equal length.
LabelPair: TypeAlias = tuple[Sequence[Hashable], Sequence[Hashable]]


def kappa(
    documents: Sequence[LabelPair], resamples: int = RESAMPLES, seed: int = SEED
) -> KappaAgreement:
    """Kappa over the units of all documents, with a bootstrap interval over documents.

    With ``o`` the share of units with equal labels and ``e`` the sum over labels of the product of both
    annotators' shares of it, kappa is ``(o - e) / (1 - e)``. Resamples in which it has no value are left out
    of the interval.

    Args:
        documents: Labels of each document.
        resamples: How many times documents are drawn with replacement; 0 for no interval.
        seed: Of the random draws.
    """
    counts = _counts([document for document in documents if document[0]])
    total = counts.sum(axis=0, keepdims=True)
    units = int(total[0, 0])
    observed, expected = _shares(total)
    if not units:
        return KappaAgreement(None, None, None, 0, None)
    spread = None
    if len(counts) >= 2 and resamples:
        kappas = [_kappas(weights @ counts) for weights in draws(len(counts), resamples, seed)]
        values = np.concatenate(kappas)
        # A sample in which all units have one label has no kappa: there, agreement is what chance alone gives.
        values = values[~np.isnan(values)]
        if len(values):
            low, high = np.percentile(values, [2.5, 97.5])
            spread = Interval(float(low), float(high))
    whole = float(_kappas(total)[0])
    value = None if np.isnan(whole) else whole
    return KappaAgreement(value, float(observed[0]), float(expected[0]), units, spread)


def _counts(documents: Sequence[LabelPair]) -> Floats:
    """Per document: units, equal ones, how often the first has each label, how often the second.

    Returns:
        *Shape:* (documents, 2 + 2 * labels).
    """
    index: dict[Hashable, int] = {}
    coded = [
        [[index.setdefault(label, len(index)) for label in side] for side in document]
        for document in documents
    ]
    counts = np.zeros((len(documents), 2 + 2 * len(index)))
    for row, (first, second) in zip(counts, coded, strict=True):
        row[0] = len(first)
        row[1] = np.equal(first, second).sum()
        row[2 : 2 + len(index)] = np.bincount(first, minlength=len(index))
        row[2 + len(index) :] = np.bincount(second, minlength=len(index))
    return counts


def _shares(summed: Floats) -> tuple[Floats, Floats]:
    """Observed and expected agreement, 0 to 1. *Shape:* (samples, 2 + 2 * labels) to (samples,) twice."""
    units = np.maximum(summed[:, 0], 1)
    first, second = np.split(summed[:, 2:] / units[:, None], 2, axis=1)
    return summed[:, 1] / units, (first * second).sum(axis=1)


def _kappas(summed: Floats) -> Floats:
    """Kappa of each sample, NaN where all units have one label. *Shape:* (samples, ...) to (samples,)."""
    first, second = np.split(summed[:, 2:], 2, axis=1)
    # Chance agrees on everything then: 0 / 0, and rounding would make it any number.
    single = (first * second).sum(axis=1) == summed[:, 0] ** 2
    observed, expected = _shares(summed)
    beyond = np.where(single, np.nan, 1 - expected)
    return np.asarray((observed - expected) / beyond, dtype=np.float64)
