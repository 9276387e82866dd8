"""Which order of abstracts teaches an adapter fastest: the gold labels play the person who corrects.

``python -m research.simulations.active_learning --data FOLDER [--sets GENIA ...] [--seeds 3]`` prints F1 on other abstracts after
so many finished ones. Every order begins with the same random ones and asks for ``--round`` more at a time; each time
an adapter learns from all that are finished. Dev chooses nothing.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from random import Random
from statistics import mean

import numpy as np

from benchmarks.learning import SETS, DataSet, documents, with_spread
from sciextract import Extractor
from sciextract.documents.annotations import Candidates
from sciextract.documents.document import AnnotatedDocument
from sciextract.inference.adapter.states import EncoderStates
from sciextract.inference.network import Floats
from sciextract.learning.adapter import WRITTEN, learn
from sciextract.metrics.counts import scorable
from sciextract.metrics.scorer import score
from sciextract.snapshot.documents import TrainingDocument
from sciextract.workflows.active.ranking import decisions, over_layers, per_word

ORDERS = ("random", "entropy", "diversity")
FIELDS = {data.name.split()[0]: data for data in SETS[:3]}

Documents = list[AnnotatedDocument]


def ranked(
    order: str, model: Extractor, finished: Documents, rest: Documents, states: EncoderStates
) -> Documents:
    """The abstracts that are left, the one to be asked for next first; they come in random order."""
    if order == "random":
        return rest
    if order == "diversity":
        known, pool = (
            np.stack([states.of(item.document).first.mean(axis=0, dtype=np.float32) for item in items])
            for items in (finished, rest)
        )  # fmt: skip
        return [rest[row] for row in k_centre_greedy(pool, known)]
    doubts = [
        per_word(
            decisions(model.annotate(item.document).annotations.candidates or Candidates()),
            len(item.document.tokens),
        )
        for item in rest
    ]
    rows = np.argsort([-doubt for doubt in over_layers(doubts)], kind="stable")
    return [rest[row] for row in rows]


def k_centre_greedy(vectors: Floats, labelled: Floats) -> Iterator[int]:
    """Rows of the pool, each the farthest from all before it (Sener and Savarese 2018, arXiv 1708.00489, algorithm 1)."""
    nearest = np.full(len(vectors), np.inf, dtype=np.float32)
    for vector in labelled:
        nearest = np.minimum(nearest, np.square(vectors - vector).sum(axis=1))
    for _ in range(len(vectors)):
        row = int(np.argmax(nearest))
        yield row
        nearest = np.minimum(nearest, np.square(vectors - vectors[row]).sum(axis=1))
        nearest[row] = -np.inf  # taken: no distance may bring it back


def curve(
    data: DataSet, order: str, seed: int, states: EncoderStates, options: argparse.Namespace
) -> Iterator[tuple[int, float, float]]:
    """Finished abstracts, F1 of entities, and words of a finished abstract, round by round."""
    items, schema = documents(data, options.data, options.cache)
    Random(seed).shuffle(items)
    test, rest = items[: options.test], items[options.test :]
    finished, rest = rest[: options.start], rest[options.start :]
    while True:
        done = [TrainingDocument(item, data.layers) for item in finished]
        model = learn(done, schema, states, WRITTEN)
        found = [scorable(model.annotate(item.document)) for item in test]
        report = score([scorable(item) for item in test], found, schema.symmetric_labels)
        words = mean(len(item.document.tokens) for item in finished)
        yield len(finished), report.ner.all.f1, words
        if len(finished) >= options.most or not rest:
            return
        rest = ranked(order, model, finished, rest, states)
        finished, rest = finished + rest[: options.round], rest[options.round :]


def table(curves: dict[str, list[list[tuple[int, float, float]]]]) -> Iterator[str]:
    """Means ± deviations over seeds by order."""
    sizes = [size for size, _, _ in next(iter(curves.values()))[0]]
    yield f"| F1 of entities after | {' | '.join(map(str, sizes))} | words of an abstract |"
    yield "|---" * (len(sizes) + 2) + "|"
    for order, seeds in curves.items():
        cells = [with_spread([f1 for _, f1, _ in points]) for points in zip(*seeds, strict=True)]
        words = mean(points[-1][2] for points in seeds)
        yield f"| {order} | {' | '.join(cells)} | {words:.0f} |"


def main() -> None:
    """Print a table for each data set."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--cache", type=Path, default=Path("build/active"))
    parser.add_argument("--sets", nargs="*", choices=FIELDS, default=["GENIA"])
    parser.add_argument("--orders", nargs="*", choices=ORDERS, default=ORDERS)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--test", type=int, default=60, help="abstracts to score")
    parser.add_argument("--start", type=int, default=10, help="random abstracts to begin with")
    parser.add_argument("--round", type=int, default=10, help="abstracts a round")
    parser.add_argument("--most", type=int, default=60, help="abstracts at the end")
    options = parser.parse_args()
    options.cache.mkdir(parents=True, exist_ok=True)
    states = EncoderStates(Extractor.load("sci", threads=1), limit_mib=512)
    for name in options.sets:
        curves = {
            order: [
                list(curve(FIELDS[name], order, seed, states, options))
                for seed in range(options.seeds)
            ]
            for order in options.orders
        }
        print(f"{name}\n", *table(curves), "", sep="\n", flush=True)


if __name__ == "__main__":
    main()
