"""Measurements that are repeated over draws of abstracts: each is kept, so that a run that is started again goes on."""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random
from typing import Any

from benchmarks.learning import SETS, DataSet, documents, with_spread
from sciextract import Extractor
from sciextract.documents.annotations import Layer
from sciextract.documents.document import AnnotatedDocument
from sciextract.inference.adapter.states import EncoderStates
from sciextract.learning.adapter import WRITTEN, learn
from sciextract.metrics.counts import Scorable, scorable
from sciextract.metrics.report import EvaluationReport
from sciextract.metrics.scorer import score
from sciextract.snapshot.documents import TrainingDocument

ENTITIES = frozenset({Layer.ENTITIES})
FIELDS = (*SETS[:2], DataSet("STM types", "stm/train.jsonl", ENTITIES))
Row = dict[str, Any]


class Draw:
    """Labelled abstracts in the order of one draw, of which the first are scored.

    Attributes:
        data: The data set.
        seed: Which draw it is.
        schema: The types of the data set.
        test: Abstracts to score.
        rest: The others.
    """

    def __init__(
        self, data: DataSet, seed: int, states: EncoderStates, options: argparse.Namespace
    ) -> None:
        items, self.schema = documents(data, options.data, options.results.parent)
        Random(seed).shuffle(items)
        self.data, self.seed, self._states = data, seed, states
        self.test, self.rest = items[: options.test], items[options.test :]

    def predict(self, finished: Sequence[TrainingDocument]) -> list[AnnotatedDocument]:
        """The scored abstracts as an adapter annotates them that has learned from the finished ones."""
        adapter = learn(finished, self.schema, self._states, WRITTEN)
        return [adapter.annotate(item.document) for item in self.test]

    def report(
        self,
        found: Sequence[AnnotatedDocument],
        view: Callable[[AnnotatedDocument], AnnotatedDocument] = lambda item: item,
    ) -> EvaluationReport:
        """The scores of predictions, of that part of the abstracts that a view leaves."""
        return score(_scorable(self.test, view), _scorable(found, view), frozenset())


def _scorable(
    items: Sequence[AnnotatedDocument], view: Callable[[AnnotatedDocument], AnnotatedDocument]
) -> list[Scorable]:
    return [scorable(view(item)) for item in items]


def measure(
    parser: argparse.ArgumentParser,
    results: str,
    measured: Callable[[Draw, argparse.Namespace], Row],
) -> list[Row]:
    """One row for each draw and data set that is there: those of the results file, and what it lacks.

    Args:
        parser: With the options of the measurement; those of all are added.
        results: Name of the results file, unless another one is named.
        measured: Measures one draw.
    """
    shared = os.environ.get("SCIEXTRACT_SHARED", "../shared/data")
    parser.add_argument("--data", type=Path, default=Path(shared))
    parser.add_argument("--results", type=Path, default=Path("build") / results)
    parser.add_argument("--seeds", type=int, default=8)
    parser.add_argument("--test", type=int, default=25)
    options = parser.parse_args()
    options.results.parent.mkdir(parents=True, exist_ok=True)
    states = EncoderStates(Extractor.load("sci", threads=1), limit_mib=512)
    kept = options.results.read_text("utf-8") if options.results.exists() else ""
    rows: list[Row] = [json.loads(line) for line in kept.splitlines()]
    fields = [data for data in FIELDS if (options.data / data.path).exists()]
    with options.results.open("a", encoding="utf-8") as stream:
        for seed in range(options.seeds):
            for data in fields:
                if not any((row["data"], row["seed"]) == (data.name, seed) for row in rows):
                    row = {"data": data.name, "seed": seed}
                    rows.append(row | measured(Draw(data, seed, states, options), options))
                    print(json.dumps(rows[-1]), file=stream, flush=True)
    return rows


def print_table(
    head: Sequence[str],
    rows: Sequence[Row],
    lines: Sequence[tuple[str, Sequence[Callable[[Row], float]]]],
) -> None:
    """Means and standard deviations over draws as a Markdown table, with some lines for each data set.

    Args:
        head: Titles of the columns, that of the data set first.
        rows: What was measured.
        lines: The name of each line, and the value of each of its cells in a row.
    """
    print(f"| {' | '.join(head)} |", "|---" * len(head) + "|", sep="\n")
    for data in dict.fromkeys(row["data"] for row in rows):
        mine = [row for row in rows if row["data"] == data]
        for name, cells in lines:
            spreads = (with_spread([cell(row) for row in mine]) for cell in cells)
            print(f"| {data} | {name} | {' | '.join(spreads)} |")
