"""How far scores would move with other documents: the bootstrap over documents.

Efron and Tibshirani 1993, "An Introduction to the Bootstrap", section 13.3 (percentile interval);
the paired form is that of Koehn 2004, "Statistical Significance Tests for Machine Translation Evaluation".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from sciextract.metrics.counts import NOTHING
from sciextract.metrics.report import Interval
from sciextract.metrics.scorer import CONLL_METRICS, ScorePath, Tallies

Floats = NDArray[np.float64]

RESAMPLES = 1000
SEED = 13
_BLOCK = 4_000_000  # weights held at once, so that a million documents fit into memory

#: The scores that get an interval, by dotted place, and the metrics whose F1 each averages.
HEADLINES: dict[str, tuple[ScorePath, ...]] = {
    "ner.all": (("ner", "all"),),
    "relation.boundaries.ordered": (("relation", "boundaries", "ordered"),),
    "relation.strict.ordered": (("relation", "strict", "ordered"),),
    "coreference.conll": tuple([("coreference", name) for name in CONLL_METRICS]),
}


def headline_counts(documents: Sequence[Tallies]) -> dict[str, Floats]:
    """Per-document counts of each headline score.

    Returns:
        *Shape:* (documents, metrics averaged, 4): the fields of ``Tally``.
    """
    return {place: counts_of(documents, paths) for place, paths in HEADLINES.items()}


def counts_of(documents: Sequence[Tallies], paths: Sequence[ScorePath]) -> Floats:
    """Per-document counts of some metrics; nothing where a document has none.

    Returns:
        *Shape:* (documents, paths, 4): the fields of ``Tally``.
    """
    return np.array(
        [[tallies.get(path, NOTHING) for path in paths] for tallies in documents], dtype=np.float64
    ).reshape(len(documents), len(paths), 4)


def intervals(documents: Sequence[Tallies]) -> dict[str, Interval]:
    """95 % intervals of the headline F1 scores; none without documents."""
    if not documents:
        return {}
    return {place: interval(values) for place, values in headline_counts(documents).items()}


def interval(per_document: Floats, resamples: int = RESAMPLES, seed: int = SEED) -> Interval:
    """The 95 % percentile interval of F1 under resampling of documents.

    Args:
        per_document: *Shape:* (documents, metrics averaged, 4), at least one document.
        resamples: How many times documents are drawn with replacement.
        seed: Of the random draws; equal seeds give equal intervals.
    """
    (scores,) = resample_f1([per_document], resamples, seed)
    low, high = np.percentile(scores.mean(axis=1), [2.5, 97.5])
    return Interval(float(low), float(high))


def probability_better(
    per_document_a: Floats, per_document_b: Floats, resamples: int = RESAMPLES, seed: int = SEED
) -> float:
    """The probability that system A scores a higher F1 than system B on similar documents.

    Both are resampled with the same draws of documents. Equal scores count half, so that a system
    compared with itself gets 0.5.

    Args:
        per_document_a: *Shape:* (documents, metrics averaged, 4), see :func:`headline_counts`.
        per_document_b: The same documents in the same order, scored for B.
        resamples: How many times documents are drawn with replacement.
        seed: Of the random draws.

    Returns:
        A share of the resamples, 0 to 1.

    Raises:
        ValueError: The shapes differ, or there is no document.
    """
    if per_document_a.shape != per_document_b.shape or not len(per_document_a):
        shapes = f"{per_document_a.shape} and {per_document_b.shape}"
        raise ValueError(f"paired counts must have one shape and a document; found {shapes}")
    systems = resample_f1([per_document_a, per_document_b], resamples, seed)
    scores_a, scores_b = (scores.mean(axis=1) for scores in systems)
    return share_better(scores_a, scores_b)


def share_better(scores_a: Floats, scores_b: Floats) -> float:
    """The share of resamples, 0 to 1, in which A scores higher; equal scores count half."""
    return float(np.mean(scores_a > scores_b) + np.mean(scores_a == scores_b) / 2)


def resample_f1(systems: Sequence[Floats], resamples: int, seed: int) -> list[Floats]:
    """F1 of every resample and metric, 0 to 100, all systems under the same draws of documents.

    Args:
        systems: Per system *shape* (documents, metrics, 4), the same documents in the same order.
        resamples: How many times documents are drawn with replacement.
        seed: Of the random draws.

    Returns:
        Per system *shape* (resamples, metrics).
    """
    documents = len(systems[0])
    scores: list[list[Floats]] = [[] for _ in systems]
    for weights in draws(documents, resamples, seed):
        for system, per_document in zip(scores, systems, strict=True):
            summed = weights @ per_document.reshape(documents, -1)
            system.append(f1_of(summed.reshape(len(weights), *per_document.shape[1:])))
    return [np.concatenate(blocks) for blocks in scores]


def draws(documents: int, resamples: int, seed: int) -> Iterator[Floats]:
    """How often each document is drawn with replacement, in blocks of resamples.

    Yields:
        *Shape:* (resamples of a block, documents), at least one document.
    """
    generator = np.random.default_rng(seed)
    # Blocks depend on the number of documents alone, so that equal seeds give equal draws.
    block = max(1, _BLOCK // documents)
    even = np.full(documents, 1 / documents)
    for start in range(0, resamples, block):
        size = min(block, resamples - start)
        # How often, not which: one product of matrices then scores all resamples of a block.
        yield generator.multinomial(documents, even, size=size).astype(np.float64)


def f1_of(summed: Floats) -> Floats:
    """F1, 0 to 100; 0 where nothing is there or right. *Shape:* (..., 4) to (...)."""
    precision = _ratio(summed[..., 0], summed[..., 1])
    recall = _ratio(summed[..., 2], summed[..., 3])
    f1 = _ratio(2 * precision * recall, precision + recall)
    return np.asarray(100 * f1, dtype=np.float64)


def _ratio(part: Floats, whole: Floats) -> Floats:
    return np.divide(part, whole, out=np.zeros_like(part), where=whole > 0)
