"""How often the rule of docs/adoption.md adopts a model that is not better, and misses one that is.

    python -m research.simulations.adoption_rule

Counts are drawn, not predicted: each document has its own difficulty, both models share most of their errors, and the
difference between them varies from document to document, so that 50 documents leave a standard error of about 0.8 F1
in the difference of entities, as two models on SciERC dev do.
"""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sciextract.metrics.promotion import FAR, HELD_OUT, TOLERANCES

DOCUMENTS = (5, 10, 14, 29, 30, 50)
DIFFERENCES = (-20.0, -2.0, 0.0, 2.0, 5.0, 10.0, 20.0)
TRIALS, DRAWS = 400, 500
SHARED = 0.75
"""Items on which both models are right or wrong for the same reason."""

Floats = NDArray[np.float64]


class Task(NamedTuple):
    """A task: items a document, and the F1 of the model that predicts now (0 to 1)."""

    items: float
    f1: float


TASKS = {"entity": Task(20, 0.6), "relation": Task(10, 0.4), "coreference": Task(6, 0.5)}


def verdict(documents: int, difference: float, random: np.random.Generator) -> str:
    """What the rule says of two models whose true F1 differ by so much."""
    draws = random.multinomial(documents, np.full(documents, 1 / documents), size=DRAWS)
    tasks: dict[str, Floats] = {}  # those that decide
    entities = 0
    for name, task in TASKS.items():
        gold = 1 + random.poisson(task.items - 1, documents)
        ease = random.normal(0, 0.1, documents)
        apart = random.normal(difference / 100, 0.03, documents)
        before, after = _hits(gold, np.stack([task.f1 + ease, task.f1 + ease + apart]), random)
        if HELD_OUT.decides(name, int(gold.sum())):
            tasks[name] = 100 * (draws @ (after - before)) / (draws @ gold)
        entities = int(gold.sum()) if name == "entity" else entities
    if not HELD_OUT.is_met(documents, entities):
        return "too few"
    mean = np.mean([*tasks.values()], axis=0)
    if np.percentile(mean, 95) < -FAR:
        return "worse"
    better = (mean > 0).mean() + (mean == 0).mean() / 2
    holds = all(np.percentile(task, 5) >= -TOLERANCES[name] for name, task in tasks.items())
    required = HELD_OUT.required(documents, entities)
    return "promote" if better >= required and holds else "keep"


def _hits(gold: NDArray[np.int64], rates: Floats, random: np.random.Generator) -> list[Floats]:
    """Right items of both models; a shared item is right for both under the same draw."""
    hits: list[Floats] = [np.zeros(len(gold)), np.zeros(len(gold))]
    for document, count in enumerate(gold):
        common, own = random.random(count), random.random((2, count))
        shared = random.random(count) < SHARED
        for side in (0, 1):
            luck = np.where(shared, common, own[side])
            hits[side][document] = (luck < rates[side, document]).sum()
    return hits


def main() -> None:
    """Print the table of docs/adoption.md."""
    random = np.random.default_rng(1)
    heads = [f"{difference:+g}" if difference else "0" for difference in DIFFERENCES]
    print(f"| documents | {' | '.join(heads)} |")
    print(f"|---|{'---|' * len(heads)}")
    for documents in DOCUMENTS:
        cells = []
        for difference in DIFFERENCES:
            found = Counter(verdict(documents, difference, random) for _ in range(TRIALS))
            adopted, far = (round(100 * found[name] / TRIALS) for name in ("promote", "worse"))
            cells.append(f"{adopted} / {far}")
        print(f"| {documents} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
