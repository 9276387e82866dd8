"""Keys that correct suggestions after some finished abstracts, by rules for what is suggested and what is accepted at once.

``python -m research.simulations.keys --data FOLDER [--seeds 5] [--finished 10]``. In per cent of the keys without suggestions,
means and standard deviations over draws of finished and of 20 other abstracts, counted as ``benchmarks.learning`` does.
What is accepted at once costs one key an abstract, and what is wrong of it one more key each.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from statistics import mean, stdev

from benchmarks.learning import SETS, Simulation
from sciextract import Extractor
from sciextract.documents.document import AnnotatedDocument
from sciextract.inference.adapter.states import EncoderStates
from sciextract.inference.promise import ANY, PROMISED, held_out, keep_promise, make_promise
from sciextract.learning.adapter import learn
from sciextract.learning.validation import validate
from sciextract.metrics.counts import Scorable, scorable
from sciextract.snapshot.documents import TrainingDocument
from sciextract.workflows.learning_curve import correction_keys

GRID = (0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5)
PRECISIONS, CONFIDENCES = (0.7, 0.8, 0.9), (0.9, 0.5)

Documents = Sequence[AnnotatedDocument]
Thresholds = Sequence[tuple[str, str, float]]


def keys(gold: Documents, shown: Documents, sure: Thresholds | None = None) -> int:
    """Keys that make the gold of what is shown; what reaches ``sure`` is accepted at once."""
    pairs = zip(gold, shown, strict=True)
    found = sum(correction_keys(scorable(one), scorable(other)) for one, other in pairs)
    if sure is None:
        return found
    kept = [keep_promise(each, sure) for each in shown]
    items = held_out("", gold, kept).items.values()
    right = sum(each.right for every in items for each in every)
    presses = len({each.document for every in items for each in every})
    return found - right + presses


def cheapest(gold: Documents, low: Documents, usual: Thresholds) -> Thresholds:
    """For each task the threshold that costs the fewest keys, one task after the other."""
    chosen = {task: score for task, _, score in usual}
    for task, _, own in usual:
        options = [{**chosen, task: score} for score in (own, *GRID)]
        chosen = min(options, key=lambda each: keys(gold, cut(low, thresholds(each))))
    return thresholds(chosen)


def thresholds(scores: dict[str, float]) -> Thresholds:
    """One for each task, whatever the label."""
    return [(task, ANY, score) for task, score in scores.items()]


def cut(found: Documents, least: Thresholds) -> list[AnnotatedDocument]:
    """What reaches its threshold."""
    return [keep_promise(each, least) for each in found]


def measure(simulation: Simulation, finished: int) -> dict[str, float]:
    """Keys of each rule, in per cent of those without suggestions."""
    schema, states, gold = simulation.schema, simulation.states, simulation.test
    done = [TrainingDocument(e, simulation.data.layers) for e in simulation.pool[:finished]]
    own, new = [each.annotated for each in done], [each.document for each in gold]
    # What stood in each abstract when it was finished: suggestions by those before it.
    log = [learn(done[:n], schema, states).annotate(each.document) for n, each in enumerate(own)]
    adapter, crossed = learn(done, schema, states), validate(done, schema, states)
    shown = [adapter.annotate(each) for each in new]
    lower = adapter.with_settings(dict.fromkeys(PROMISED, GRID[0]))
    low = [lower.annotate(each) for each in new]
    usual = thresholds({task: getattr(adapter.settings.thresholds, task) for task in PROMISED})
    chosen = cheapest([each.annotated for each in crossed.documents], crossed.predicted, usual)
    found = {
        "as it is": keys(gold, shown),
        "thresholds by cross-validation": keys(gold, cut(low, chosen)),
        "thresholds by the test itself": keys(gold, cut(low, cheapest(gold, low, usual))),
        "all that is shown accepted at once": keys(gold, shown, ()),
    }
    held = held_out("", own, log).pooled()
    tasks = [task for task in PROMISED if held.gold[task]]
    for precision, confidence in product(PRECISIONS, CONFIDENCES):
        promise = make_promise(held, dict.fromkeys(tasks, precision), confidence)
        name = f"sure at {precision}, confidence {confidence}"
        found[name] = keys(gold, shown, promise.thresholds)
    manual = sum(correction_keys(scorable(each), Scorable("")) for each in gold)
    return {name: 100 * count / manual for name, count in found.items()}


def main() -> None:
    """Print one line for each data set and rule."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--finished", type=int, default=10)
    parser.set_defaults(test=20, written=False, results=Path("build/keys"))
    options = parser.parse_args()
    options.results.parent.mkdir(parents=True, exist_ok=True)
    states = EncoderStates(Extractor.load("sci", threads=1), limit_mib=512)
    for data in SETS:
        rules = defaultdict[str, list[float]](list)
        for seed in range(options.seeds):
            for name, share in measure(
                Simulation(data, seed, states, options), options.finished
            ).items():
                rules[name].append(share)
        for name, shares in rules.items():
            print(f"{data.name:14} {name:36} {mean(shares):5.1f} ± {stdev(shares):.1f}", flush=True)


if __name__ == "__main__":
    main()
