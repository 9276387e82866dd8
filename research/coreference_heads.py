"""Which lexical features help coreference: antecedent heads on frozen encoder states, by folds and seeds, as a table.

Usage: ``python -m research.coreference_heads --data scierc/ [--model sci] [--sets 'none;all;-acronym']``.

Encoder states, type probabilities and mentions of all train and dev abstracts are computed once. Each run trains the
antecedent head of the joint network alone, on gold and predicted mentions together, and scores the abstracts of the fold
that it has not seen. The threshold of a set is the one with the best score on the
abstracts of all folds together; the spread is that of seeds. CoNLL F1 between gold and between predicted mentions, of all
abstracts and of those of dev alone, which the encoder has not learned from either.

A set is ``all``, ``none``, ``NAME+NAME`` (these only) or ``-NAME-NAME`` (all others).
"""

from __future__ import annotations

import argparse
import statistics
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from research.compression.opened import MeasuredModel
from research.coreference import (
    FOLDS,
    THRESHOLDS,
    Abstract,
    LinkHead,
    abstracts_of,
    conll,
    link_scores,
    trained,
)
from sciextract.documents.schema_file import load_schema
from sciextract.inference.lexical import FEATURES
from sciextract.inference.model_folder import locate_model, open_folder
from sciextract.inference.network import Floats
from sciextract_trainer.data.gold import read_gold

SEEDS = (1, 2, 3, 4)
KINDS = ("gold", "predicted")
WIDTH, MAX_WIDTH = 64, 10

Scores = dict[str, list[Floats]]
"""Link scores of each abstract by kind of mentions."""


def main(words: Sequence[str] | None = None) -> int:
    """Trains and scores every set, and prints the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder with train and dev")
    parser.add_argument("--model", default="sci")
    parser.add_argument("--sets", default="none;all")
    options = parser.parse_args(words)
    torch.set_num_threads(1)
    folder = open_folder(locate_model(options.model))
    schema = load_schema(folder.config.schema_name)
    train, dev = (read_gold(options.data / f"{part}.jsonl", schema) for part in ("train", "dev"))
    pipeline = MeasuredModel(folder, schema, dev, options.data).plain_pipeline()
    abstracts = abstracts_of(pipeline, folder.config.settings.plain, [*train, *dev])
    parts = [f"{place}, {kind}" for place in ("all", "dev") for kind in KINDS]
    print(f"| features | heads | {' | '.join(parts)} | thresholds |")
    print("|---" * (len(parts) + 3) + "|")
    for name in options.sets.split(";"):
        scores = [out_of_fold(abstracts, columns_of(name), seed) for seed in SEEDS]
        rows = np.arange(len(abstracts))
        for heads, each in (("one", scores), (f"mean of {len(SEEDS)}", [mean_of(scores)])):
            print(
                f"| {name} | {heads} | {cells(abstracts, each, rows >= len(train))} |", flush=True
            )
    return 0


def cells(abstracts: Sequence[Abstract], runs: Sequence[Scores], dev: NDArray[np.bool_]) -> str:
    """Mean and spread of some runs, for all abstracts and those of dev, and the thresholds."""
    found: list[str] = []
    best: dict[str, float] = {}
    for chosen in (np.ones_like(dev), dev):
        rows = np.flatnonzero(chosen).tolist()
        for kind in KINDS:
            mentions = [getattr(abstracts[row], kind) for row in rows]
            values = {
                threshold: [
                    conll(mentions, [run[kind][row] for row in rows], threshold) for run in runs
                ]
                for threshold in ([best[kind]] if kind in best else THRESHOLDS)
            }
            best[kind] = max(values, key=lambda threshold: statistics.fmean(values[threshold]))
            found.append(_spread(values[best[kind]]))
    return f"{' | '.join(found)} | {', '.join(str(best[kind]) for kind in KINDS)}"


def _spread(values: Sequence[float]) -> str:
    spread = f" ± {statistics.stdev(values):.1f}" if len(values) > 1 else ""
    return f"{statistics.fmean(values):.1f}{spread}"


def columns_of(name: str) -> list[int]:
    """The columns of a set of features."""
    names = list(FEATURES)
    if name in ("all", "none"):
        return list(range(len(names))) if name == "all" else []
    named = name[1:].split("-") if name.startswith("-") else name.split("+")
    if unknown := set(named) - set(names):
        raise SystemExit(f"no feature is called {min(unknown)!r}; there are: {', '.join(names)}")
    columns = [names.index(each) for each in named]
    if name.startswith("-"):
        return [column for column in range(len(names)) if column not in columns]
    return columns


def out_of_fold(abstracts: Sequence[Abstract], columns: Sequence[int], seed: int) -> Scores:
    """Link scores of every abstract by a head that has not learned from it."""
    fold = np.random.default_rng(0).permutation(len(abstracts)) % FOLDS
    scores: Scores = {kind: [np.zeros(0, np.float32)] * len(abstracts) for kind in KINDS}
    first, _, _, types = abstracts[0].gold.inputs
    for number in range(FOLDS):
        torch.manual_seed(seed)
        head = LinkHead(first.shape[1], types.shape[1], MAX_WIDTH, WIDTH, columns)
        trained(
            [abstracts[row].both for row in np.flatnonzero(fold != number).tolist()], head, seed
        )
        for row in np.flatnonzero(fold == number).tolist():
            for kind in KINDS:
                scores[kind][row] = link_scores(head, getattr(abstracts[row], kind))
    return scores


def mean_of(runs: Sequence[Scores]) -> Scores:
    """The mean of the scores of some heads."""
    return {
        kind: [np.mean(each, axis=0) for each in zip(*(run[kind] for run in runs), strict=True)]
        for kind in KINDS
    }


if __name__ == "__main__":
    sys.exit(main())
