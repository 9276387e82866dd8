"""The one scorer of trainer, command line and store: per-document tallies, the report of their sum, and how far it would move.

Boundaries and strict are the terms of Taille et al. 2020 ("Let's Stop Incorrect Comparisons in
End-to-end Relation Extraction!", arXiv 2009.10684). How far scores would move with other documents is the bootstrap over
documents: Efron and Tibshirani 1993, "An Introduction to the Bootstrap", section 13.3 (percentile interval); the paired
form is that of Koehn 2004, "Statistical Significance Tests for Machine Translation Evaluation".
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields
from itertools import chain
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from sciextract.metrics.counts import (
    NOTHING,
    Overlap,
    Scorable,
    ScoredEntity,
    ScoredRelation,
    Tally,
    b_cubed,
    ceaf_e,
    compare,
    compare_by_label,
    lea,
    muc,
    partition,
    without_singletons,
)
from sciextract.metrics.report import (
    PRF,
    ByMetric,
    ClusterPRF,
    EvaluationReport,
    Interval,
    NerScores,
    RelationScores,
    Variants,
)

#: DyGIE++ enumerates spans of at most this many tokens (Wadden et al. 2019, arXiv 1909.03546).
DYGIE_WIDTH = 8


NO_LABELS: frozenset[str] = frozenset()


def relation_tallies(
    gold: Scorable, predicted: Scorable, symmetric: frozenset[str], *, strict: bool
) -> Variants[Tally]:
    """Relations of a document, counted in four ways.

    ``directed`` wants the annotated direction of every relation, symmetric ones among them (DyGIE++, PURE); ``ordered`` does
    not of a symmetric one that is predicted in the other direction only. ``unordered`` compares symmetric labels without
    direction, each pair once (HGERE). ``doubled`` is unordered with every symmetric relation counted twice in gold,
    predicted and correct (PL-Marker).

    Args:
        gold: The annotated document.
        predicted: The same document as predicted.
        symmetric: Labels whose head and tail may be exchanged.
        strict: Whether the types of both arguments must be right too.
    """
    ordered, directed = (
        compare(*ordered_keys(gold, predicted, labels, strict=strict))
        for labels in (symmetric, NO_LABELS)
    )
    sides = (gold.relations, predicted.relations)
    keys = [relation_keys(side, symmetric, strict=strict) for side in sides]
    unordered = compare(*keys)
    twice = compare(*[frozenset([key for key in side if key.label in symmetric]) for side in keys])
    return Variants(ordered, unordered, unordered.plus(twice), directed)


def ordered_keys(
    gold: Scorable, predicted: Scorable, symmetric: frozenset[str], *, strict: bool
) -> tuple[frozenset[ScoredRelation], frozenset[ScoredRelation]]:
    """The relations of both sides with their direction; what is predicted of a symmetric one is turned to that of gold.

    A pair that is predicted in both directions stays two relations, as in published scorers.
    """
    wanted = relation_keys(gold.relations, NO_LABELS, strict=strict)
    found = relation_keys(predicted.relations, NO_LABELS, strict=strict)
    keys = set(found)
    for key in found - wanted:
        turned = ScoredRelation(key.tail, key.head, key.label)
        if key.label in symmetric and turned in wanted - found:
            keys ^= {key, turned}
    return wanted, frozenset(keys)


def relation_keys(
    relations: Iterable[ScoredRelation], symmetric: frozenset[str], *, strict: bool
) -> frozenset[ScoredRelation]:
    """Relations as they are compared: symmetric ones in text order, arguments with an empty label where that is ignored."""
    keys = set()
    for head, tail, label in relations:
        if not strict:
            head, tail = ScoredEntity(head.mention, ""), ScoredEntity(tail.mention, "")
        if label in symmetric and tail < head:
            head, tail = tail, head
        keys.add(ScoredRelation(head, tail, label))
    return frozenset(keys)


#: Where a score stands in the report, for instance ``("ner", "labels", "Task")``.
ScorePath: TypeAlias = tuple[str, ...]
Tallies: TypeAlias = dict[ScorePath, Tally]

CONLL_METRICS = ("muc", "b3", "ceafe")
_COREFERENCE = {"muc": muc, "b3": b_cubed, "ceafe": ceaf_e, "lea": lea}
_VARIANTS = tuple([variant.name for variant in fields(Variants)])
_CLUSTERS = ("coreference", "clusters")
_MENTIONS = ("coreference", "mentions")


def score(
    gold: Sequence[Scorable],
    predicted: Sequence[Scorable],
    symmetric: frozenset[str] = frozenset(),
    *,
    singletons: bool = False,
) -> EvaluationReport:
    """All scores of predictions against gold, micro-averaged over documents.

    Args:
        gold: The annotated documents.
        predicted: The same documents as predicted, in the same order.
        symmetric: Relation labels without direction (``LabelSchema.symmetric_labels``).
        singletons: Whether clusters of one mention count.

    Raises:
        ValueError: The two sides have different numbers of documents.
    """
    return report(tally_documents(gold, predicted, symmetric, singletons=singletons))


def tally_documents(
    gold: Sequence[Scorable],
    predicted: Sequence[Scorable],
    symmetric: frozenset[str],
    *,
    singletons: bool = False,
) -> list[Tallies]:
    """The tallies of each pair of documents, for :func:`report` and for bootstrap resampling.

    Raises:
        ValueError: The two sides have different numbers of documents.
    """
    pairs = zip(gold, predicted, strict=True)
    return [tally(*pair, symmetric, singletons=singletons) for pair in pairs]


def tally(
    gold: Scorable, predicted: Scorable, symmetric: frozenset[str], *, singletons: bool = False
) -> Tallies:
    """Everything that is counted in one document."""
    # In DyGIE++ wider spans are never enumerated: wide gold does not count as missed, and wide predictions cannot
    # exist. Both sides are cut, by the tokens of gold: that equals the published rule for every system limited to
    # that width, and leaves a perfect prediction perfect.
    narrow = [
        frozenset([entity for entity in side.entities if gold.width(entity.mention) <= DYGIE_WIDTH])
        for side in (gold, predicted)
    ]
    tallies: Tallies = {
        ("ner", "all"): compare(gold.entities, predicted.entities),
        ("ner", "width8"): compare(*narrow),
    }
    for label, counts in compare_by_label(gold.entities, predicted.entities).items():
        tallies["ner", "labels", label] = counts
    ordered = ordered_keys(gold, predicted, symmetric, strict=False)
    for label, counts in compare_by_label(*ordered).items():
        tallies["relation", "labels", label] = counts
    for kind in ("boundaries", "strict"):
        variants = relation_tallies(gold, predicted, symmetric, strict=kind == "strict")
        for name in _VARIANTS:
            tallies["relation", kind, name] = getattr(variants, name)
    return tallies | coreference_tallies(gold, predicted, singletons=singletons)


def coreference_tallies(
    gold: Scorable, predicted: Scorable, *, singletons: bool = False
) -> Tallies:
    """What is counted of the clusters of one document."""
    wanted, found = partition(gold.clusters), partition(predicted.clusters)
    if not singletons:
        wanted, found = without_singletons(wanted), without_singletons(found)
    # All metrics work on the same overlaps, which take most of their time to find.
    overlap = Overlap.of(wanted, found)
    mentions = (frozenset(chain.from_iterable(clusters)) for clusters in (wanted, found))
    tallies: Tallies = {
        _CLUSTERS: compare(frozenset(wanted), frozenset(found)),
        _MENTIONS: compare(*mentions),
    }
    for name, metric in _COREFERENCE.items():
        tallies["coreference", name] = metric(overlap)
    return tallies


def report(documents: Sequence[Tallies]) -> EvaluationReport:
    """The scores of all documents together."""
    total: Tallies = {}
    for tallies in documents:
        for path, counts in tallies.items():
            total[path] = total[path].plus(counts) if path in total else counts
    clusters, mentions = total.get(_CLUSTERS, NOTHING), total.get(_MENTIONS, NOTHING)
    metrics = {name: total.get(("coreference", name), NOTHING) for name in _COREFERENCE}
    of_each = {name: [counts] for name, counts in metrics.items()}
    of_each["conll"] = [metrics[name] for name in CONLL_METRICS]
    coreference = {
        name: ClusterPRF.of_metrics(counts, clusters, mentions) for name, counts in of_each.items()
    }
    every, narrow = (PRF.of(total.get(("ner", kind), NOTHING)) for kind in ("all", "width8"))
    loose, strict = (_variants(total, kind) for kind in ("boundaries", "strict"))
    return EvaluationReport(
        len(documents),
        NerScores(every, narrow, _by_label(total, "ner")),
        RelationScores(loose, strict, _by_label(total, "relation")),
        ByMetric(**coreference),
    )


def _by_label(total: Tallies, task: str) -> dict[str, PRF]:
    by_label = {path[2]: counts for path, counts in total.items() if path[:2] == (task, "labels")}
    return {label: PRF.of(by_label[label]) for label in sorted(by_label)}


def _variants(total: Tallies, kind: str) -> Variants[PRF]:
    paths = [("relation", kind, name) for name in _VARIANTS]
    return Variants(*[PRF.of(total.get(path, NOTHING)) for path in paths])


Floats = NDArray[np.float64]

RESAMPLES = 1000
SEED = 13
_BLOCK = 4_000_000  # weights held at once, so that a million documents fit into memory

#: The scores that get an interval, by dotted place, and the metrics whose F1 each averages.
HEADLINES: dict[str, tuple[ScorePath, ...]] = {
    "ner.all": (("ner", "all"),),
    "relation.boundaries.ordered": (("relation", "boundaries", "ordered"),),
    "relation.strict.ordered": (("relation", "strict", "ordered"),),
    "relation.boundaries.directed": (("relation", "boundaries", "directed"),),
    "relation.strict.directed": (("relation", "strict", "directed"),),
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
