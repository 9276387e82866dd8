"""What rescued entities bring on abstracts that thresholds were not fitted on, model by model.

Usage: ``python -m research.rescue --gold dev.jsonl --models sci runs/sci/student/model ... [--repeats 10]``.

Each model predicts the gold abstracts far below its thresholds. Then, on one half of the abstracts, the thresholds of
entities and relations with the best sum of both F1 are chosen, and the other half is counted with and without rescue;
both ways, for some random halves. The rule is fixed beforehand: an entity of half the threshold, by a relation that
exceeds its own threshold by a margin. F1 of entities and of relations with direction.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sciextract import Extractor, formats
from sciextract.documents.document import AnnotatedDocument
from sciextract.formats.base import BadRecord

LOW = {"entity": 0.05, "relation": 0.03}
ENTITY_GRID = (0.2, 0.24, 0.28, 0.32, 0.36, 0.4, 0.44)
RELATION_GRID = (0.13, 0.17, 0.21, 0.25, 0.29, 0.33, 0.37)
SHARES, MARGINS = (0.3, 0.5), (0.1, 0.15, 0.2)

Span = tuple[int, int]
Counts = NDArray[np.int64]


@dataclass(frozen=True)
class Found:
    """One abstract: gold, and what a model gives at least the low thresholds, with scores."""

    gold: dict[Span, str]
    gold_relations: set[tuple[Span, Span, str]]
    spans: dict[Span, tuple[str, float]]
    relations: dict[tuple[Span, Span, str], float]

    def counts(self, least: tuple[float, float], rescue: tuple[float, float] | None) -> Counts:
        """Right, predicted and gold entities, then relations."""
        chosen = {span for span, (_, score) in self.spans.items() if score >= least[0]}
        if rescue:
            chosen |= self._rescued(chosen, rescue)
        right = sum(self.gold.get(span) == self.spans[span][0] for span in chosen)
        told = {
            each
            for each, score in self.relations.items()
            if score >= least[1] and each[0] in chosen and each[1] in chosen
        }
        both, relations = len(told & self.gold_relations), len(self.gold_relations)
        return np.array([right, len(chosen), len(self.gold), both, len(told), relations])

    def _rescued(self, chosen: set[Span], rescue: tuple[float, float]) -> set[Span]:
        sure = [each for each, score in self.relations.items() if score >= rescue[1]]
        ends = {end for head, tail, _ in sure if {head, tail} & chosen for end in (head, tail)}
        return {span for span in ends if self.spans[span][1] >= rescue[0]}


def main(words: Sequence[str] | None = None) -> int:
    """Measures every model and prints the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gold", type=Path, required=True)
    parser.add_argument("--models", nargs="+", required=True)
    parser.add_argument("--repeats", type=int, default=10)
    options = parser.parse_args(words)
    gold = [item for item in formats.read([options.gold]) if not isinstance(item, BadRecord)]
    print("| model | " + " | ".join(f"{s:g}, +{m:g}" for s, m in product(SHARES, MARGINS)) + " |")
    print("|---|" + "---|" * len(SHARES) * len(MARGINS))
    for model in options.models:
        gains = gains_of(found_by(model, gold), options.repeats)
        cells = (f"{entity:+.1f}, {relation:+.1f}" for entity, relation in gains)
        print(f"| {model} | {' | '.join(cells)} |", flush=True)
    return 0


def found_by(model: str, gold: Sequence[AnnotatedDocument]) -> list[Found]:
    """What a model finds in the gold abstracts far below its thresholds."""
    extractor = Extractor.load(model).with_settings(thresholds=LOW)
    return [_found(item, extractor.annotate(item.document)) for item in gold]


def _found(gold: AnnotatedDocument, low: AnnotatedDocument) -> Found:
    truth, said = gold.annotations, low.annotations
    real, own = _places(gold), _places(low)
    return Found(
        {real[each.id]: each.label for each in truth.entities},
        {(real[each.head], real[each.tail], each.label) for each in truth.relations},
        {own[each.id]: (each.label, each.score or 0.0) for each in said.entities},
        {(own[r.head], own[r.tail], r.label): r.score or 0.0 for r in said.relations},
    )


def _places(item: AnnotatedDocument) -> dict[str, Span]:
    return {
        each.id: (each.fragments[0].char_start, each.fragments[-1].char_end)
        for each in item.annotations.entities
    }


def gains_of(found: Sequence[Found], repeats: int) -> list[tuple[float, float]]:
    """F1 that each rule adds on halves that thresholds were not fitted on: entities, relations."""
    least = list(product(ENTITY_GRID, RELATION_GRID))
    plain = _counted(found, [(each, None) for each in least])
    rules = [
        _counted(found, [(each, (each[0] * share, each[1] + margin)) for each in least])
        for share, margin in product(SHARES, MARGINS)
    ]
    random, gains = np.random.default_rng(1), []
    for _ in range(repeats):
        order = random.permutation(len(found))
        halves = order[: len(found) // 2], order[len(found) // 2 :]
        for fitted, held in (halves, halves[::-1]):
            best = int(np.argmax([f1(each).sum() for each in plain[:, fitted].sum(axis=1)]))
            before = f1(plain[best, held].sum(axis=0))
            gains.append([f1(rule[best, held].sum(axis=0)) - before for rule in rules])
    return [(float(e), float(r)) for e, r in np.mean(gains, axis=0)]


def _counted(
    found: Sequence[Found],
    settings: Sequence[tuple[tuple[float, float], tuple[float, float] | None]],
) -> Counts:
    """Shape: (settings, abstracts, 6)."""
    return np.array([[each.counts(*setting) for each in found] for setting in settings])


def f1(counts: Counts) -> NDArray[np.float64]:
    """F1 of entities and of relations, 0 to 100."""
    right, predicted, gold = counts[[0, 3]], counts[[1, 4]], counts[[2, 5]]
    return np.asarray(200 * right / np.maximum(predicted + gold, 1))


if __name__ == "__main__":
    sys.exit(main())
