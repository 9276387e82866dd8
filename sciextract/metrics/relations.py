"""Relation scores: boundaries or strict, with and without the direction of symmetric labels.

Boundaries and strict are the terms of Taille et al. 2020 ("Let's Stop Incorrect Comparisons in
End-to-end Relation Extraction!", arXiv 2009.10684).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from sciextract.metrics.counts import (
    Scorable,
    ScoredEntity,
    ScoredRelation,
    Tally,
    compare,
    compare_by_label,
)

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
    ordered = compare(*_both(gold, predicted, NO_LABELS, strict))
    wanted, found = _both(gold, predicted, symmetric, strict)
    unordered = compare(wanted, found)
    twice = compare(_with_labels(wanted, symmetric), _with_labels(found, symmetric))
    return RelationVariants(ordered, unordered, unordered.plus(twice))


def relation_label_tallies(
    gold: Scorable, predicted: Scorable, symmetric: frozenset[str] = NO_LABELS
) -> dict[str, Tally]:
    """Relations of a document by label: boundaries; ordered, except for ``symmetric`` labels."""
    return compare_by_label(*_both(gold, predicted, symmetric, strict=False))


def relation_keys(
    relations: Iterable[ScoredRelation], symmetric: frozenset[str], *, strict: bool
) -> frozenset[RelationKey]:
    """Relations as the keys that are compared; symmetric ones in text order."""
    keys = relations if strict else [_without_types(relation) for relation in relations]
    return frozenset(
        [
            RelationKey(tail, head, label)
            if label in symmetric and tail < head
            else RelationKey(head, tail, label)
            for head, tail, label in keys
        ]
    )


def _both(
    gold: Scorable, predicted: Scorable, symmetric: frozenset[str], strict: bool
) -> tuple[frozenset[RelationKey], frozenset[RelationKey]]:
    return (
        relation_keys(gold.relations, symmetric, strict=strict),
        relation_keys(predicted.relations, symmetric, strict=strict),
    )


def _without_types(relation: ScoredRelation) -> ScoredRelation:
    head, tail, label = relation
    return ScoredRelation(ScoredEntity(head.mention, ""), ScoredEntity(tail.mention, ""), label)


def _with_labels(keys: frozenset[RelationKey], labels: frozenset[str]) -> frozenset[RelationKey]:
    return frozenset([key for key in keys if key.label in labels])
