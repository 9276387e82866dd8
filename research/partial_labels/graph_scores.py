"""From which score on predicted relations are edges of a graph, and how often they are right, by type."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from math import ceil
from typing import Any

from sciextract.documents.schema import LabelSchema
from sciextract.inference.held_out import HeldOut, HeldOutItem

GOAL, PARTS, FEWEST = 0.7, 5, 50


def graph_scores(held: HeldOut, schema: LabelSchema) -> dict[str, Any]:
    """What :mod:`sciextract.graph.relation_types` reads: the highest score that any four of five parts need for ``GOAL``.

    A type that is right less often at it is not drawn.

    Args:
        held: Relations between predicted mentions, down to low scores.
        schema: Says between which types of mentions a relation can be.
    """

    pairs = sorted({pair for kind in schema.relations for pair in kind.pairs})
    gold, every = held.gold["relation"], held.items["relation"]
    items = [item for item in every if tuple(label for label, _ in item.ends) in pairs]
    drawn, lost = set(gold), set(gold)
    while lost:
        own = [item for item in items if item.label in drawn]
        each_part = [_needed([i for i in own if i.document % PARTS != n]) for n in range(PARTS)]
        least = ceil(100 * max(each_part)) / 100
        found = {label: _right(items, [label], [least] * PARTS) for label in sorted(gold)}
        lost = {label for label in drawn if found[label]["precision"] < 100 * GOAL}
        drawn -= lost
    for label, about in found.items():
        about["recall"] = round(about["precision"] * about["predicted"] / gold[label], 1)
    of_parts = _right(items, drawn, each_part)
    return {
        "precision": GOAL,
        "least_score": least,
        "drawn": sorted(drawn),
        "pairs": [*map(list, pairs)],
        "labels": found,
        "held_out": of_parts,
    }


def _needed(items: Collection[HeldOutItem]) -> float:
    right, least = 0, 1.0
    for count, item in enumerate(sorted(items, key=lambda item: -item.score), 1):
        right += item.right
        if count >= FEWEST and right >= GOAL * count:
            least = item.score
    return least


def _right(
    items: Sequence[HeldOutItem], labels: Collection[str], least: Sequence[float]
) -> dict[str, Any]:
    """How many have a score as high as their part needs, and what percentage of them is right."""
    own = [item for item in items if item.label in labels]
    above = [item.right for item in own if item.score >= least[item.document % PARTS]]
    return {"precision": round(100 * sum(above) / max(1, len(above)), 1), "predicted": len(above)}
