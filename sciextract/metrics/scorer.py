"""The one scorer of trainer, command line and store: per-document tallies and the report of their sum.

Boundaries and strict are the terms of Taille et al. 2020 ("Let's Stop Incorrect Comparisons in
End-to-end Relation Extraction!", arXiv 2009.10684).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import NamedTuple, TypeAlias

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
    ClusterPRF,
    CoreferenceScores,
    EvaluationReport,
    NerScores,
    RelationScores,
    Variants,
)

#: DyGIE++ enumerates spans of at most this many tokens (Wadden et al. 2019, arXiv 1909.03546).
DYGIE_WIDTH = 8


NO_LABELS: frozenset[str] = frozenset()


class RelationKey(NamedTuple):
    """What two relations must share to be equal; an argument's label is empty where it is ignored."""

    head: ScoredEntity
    tail: ScoredEntity
    label: str


class RelationVariants(NamedTuple):
    """The three ways to count symmetric relations, of one document."""

    ordered: Tally
    unordered: Tally
    doubled: Tally


def relation_tallies(
    gold: Scorable, predicted: Scorable, symmetric: frozenset[str], *, strict: bool
) -> RelationVariants:
    """Relations of a document, counted in three ways.

    ``ordered`` wants the annotated direction of every relation (DyGIE++, PURE). ``unordered`` compares
    symmetric labels without direction, each pair once (HGERE). ``doubled`` is unordered with every
    symmetric relation counted twice in gold, predicted and correct (PL-Marker).

    Args:
        gold: The annotated document.
        predicted: The same document as predicted.
        symmetric: Labels whose head and tail may be exchanged.
        strict: Whether the types of both arguments must be right too.
    """
    sides = (gold.relations, predicted.relations)
    ordered = compare(*[relation_keys(each, NO_LABELS, strict=strict) for each in sides])
    keys = [relation_keys(each, symmetric, strict=strict) for each in sides]
    unordered = compare(*keys)
    twice = compare(*[frozenset([key for key in each if key.label in symmetric]) for each in keys])
    return RelationVariants(ordered, unordered, unordered.plus(twice))


def relation_label_tallies(
    gold: Scorable, predicted: Scorable, symmetric: frozenset[str] = NO_LABELS
) -> dict[str, Tally]:
    """Relations of a document by label: boundaries; ordered, except for ``symmetric`` labels."""
    sides = (gold.relations, predicted.relations)
    return compare_by_label(*[relation_keys(each, symmetric, strict=False) for each in sides])


def relation_keys(
    relations: Iterable[ScoredRelation], symmetric: frozenset[str], *, strict: bool
) -> frozenset[RelationKey]:
    """Relations as the keys that are compared; symmetric ones in text order."""
    keys = set()
    for head, tail, label in relations:
        if not strict:
            head, tail = ScoredEntity(head.mention, ""), ScoredEntity(tail.mention, "")
        if label in symmetric and tail < head:
            head, tail = tail, head
        keys.add(RelationKey(head, tail, label))
    return frozenset(keys)


#: Where a score stands in the report, for instance ``("ner", "labels", "Task")``.
ScorePath: TypeAlias = tuple[str, ...]
Tallies: TypeAlias = dict[ScorePath, Tally]

CONLL_METRICS = ("muc", "b3", "ceafe")
_COREFERENCE = {"muc": muc, "b3": b_cubed, "ceafe": ceaf_e, "lea": lea}
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
        frozenset([each for each in side.entities if gold.width(each.mention) <= DYGIE_WIDTH])
        for side in (gold, predicted)
    ]
    tallies: Tallies = {
        ("ner", "all"): compare(gold.entities, predicted.entities),
        ("ner", "width8"): compare(*narrow),
    }
    for label, counts in compare_by_label(gold.entities, predicted.entities).items():
        tallies["ner", "labels", label] = counts
    for label, counts in relation_label_tallies(gold, predicted).items():
        tallies["relation", "labels", label] = counts
    for kind in ("boundaries", "strict"):
        variants = relation_tallies(gold, predicted, symmetric, strict=kind == "strict")
        for name, counts in variants._asdict().items():
            tallies["relation", kind, name] = counts
    wanted, found = partition(gold.clusters), partition(predicted.clusters)
    if not singletons:
        wanted, found = without_singletons(wanted), without_singletons(found)
    # All metrics work on the same overlaps, which take most of their time to find.
    overlap = Overlap.of(wanted, found)
    mentions = (frozenset(chain.from_iterable(clusters)) for clusters in (wanted, found))
    tallies[_CLUSTERS] = compare(frozenset(wanted), frozenset(found))
    tallies[_MENTIONS] = compare(*mentions)
    return tallies | {
        ("coreference", name): metric(overlap) for name, metric in _COREFERENCE.items()
    }


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
        CoreferenceScores(**coreference),
    )


def _by_label(total: Tallies, task: str) -> dict[str, PRF]:
    by_label = {path[2]: counts for path, counts in total.items() if path[:2] == (task, "labels")}
    return {label: PRF.of(by_label[label]) for label in sorted(by_label)}


def _variants(total: Tallies, kind: str) -> Variants:
    names = ("ordered", "unordered", "doubled")
    return Variants(*[PRF.of(total.get(("relation", kind, name), NOTHING)) for name in names])
