"""Which order of abstracts teaches a model fastest, simulated on SciERC: the gold labels play the person who corrects.

Usage: ``python -m research.simulations.active_learning --data DIR --encoder DIR --folder DIR [--strategies all] [--seeds 5]
[--svg PATH] [--json PATH]``.

Every strategy begins with the same random documents of train and asks for ``--round`` more at a time, up to all of
them; after each round fresh heads are trained on what is labelled so far and scored on dev. The encoder is frozen
and its states are computed once, so that a training takes a minute: the scores are low and compare orders, not
models. Dev chooses nothing: no epoch, no threshold. What is finished in the folder is not repeated.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.rows import machine, write_report
from research.simulations.frozen_encoder import Frozen, freeze, predicted
from research.simulations.learning_curves import Curve, draw, tables
from sciextract import atomic
from sciextract.documents.annotations import Candidates, Layer
from sciextract.documents.document import AnnotatedDocument
from sciextract.documents.schema_file import load_schema
from sciextract.inference.pipeline import Pipeline
from sciextract.workflows.active.ranking import k_centre_greedy
from sciextract.workflows.active.uncertainty import (
    MEASURES,
    Measure,
    decisions,
    disagreement_per_word,
    over_layers,
    per_word,
    votes_of,
)
from sciextract.workflows.evaluate import evaluate
from sciextract_trainer.config import TrainConfig
from sciextract_trainer.data.gold import read_gold
from sciextract_trainer.evaluate import headline

REDUCED = ("random", "entropy", "margin", "diversity")
ALL = (*REDUCED, "least-confidence", "committee")
MEMBERS = 3
"""Models of a committee: the one that is scored, and others of other seeds."""


@dataclass(frozen=True)
class Simulation:
    """What all strategies share.

    Attributes:
        frozen: The frozen encoder and how heads are trained.
        train: Documents that can be asked for, by key.
        dev: Documents that every training is scored on.
        folder: Where finished parts lie.
        start: Random documents to begin with.
        round: Documents that are asked for at a time.
    """

    frozen: Frozen
    train: dict[str, AnnotatedDocument]
    dev: Sequence[AnnotatedDocument]
    folder: Path
    start: int
    round: int

    def curve(self, strategy: str, seed: int) -> Curve:
        """The points of one strategy with one seed, those that are there and those that are not yet."""
        path = _path(self.folder, strategy, seed)
        points, labelled = _known(path)
        labelled = labelled or self._first(seed)
        while len(points) == 0 or points[-1]["documents"] < len(self.train):
            since = time.monotonic()
            point, more = self._round(strategy, seed, labelled)
            points.append(point)
            labelled = [*labelled, *more]
            atomic.write(path, json.dumps({"points": points, "labelled": labelled}))
            _say(strategy, seed, point, time.monotonic() - since)
        return Curve(strategy, seed, points)

    def _round(
        self, strategy: str, seed: int, labelled: list[str]
    ) -> tuple[dict[str, Any], list[str]]:
        """What heads trained on the labelled documents score, and the documents asked for next."""
        rest = sorted(set(self.train) - set(labelled))
        kept = self.folder / f"all-{seed}.json"
        if not rest and kept.exists():  # the same training for every strategy
            return json.loads(kept.read_text("utf-8")), []
        pipeline = self._trained(labelled, seed)
        point = {**self._effort(labelled), **self._scores(pipeline)}
        if not rest:
            atomic.write(kept, json.dumps(point))
            return point, []
        ranked = self._ranked(strategy, pipeline, labelled, rest, seed)
        return point, ranked[: self.round]

    def _trained(self, labelled: list[str], seed: int) -> Pipeline:
        return self.frozen.trained(
            labelled, seed, self.folder / "trained", keep=len(labelled) == self.start
        )

    def _ranked(
        self, strategy: str, pipeline: Pipeline, labelled: list[str], rest: list[str], seed: int
    ) -> list[str]:
        if strategy == "random":
            order: list[str] = (
                np.random.default_rng([seed, len(labelled)]).permutation(rest).tolist()
            )
            return order
        if strategy == "diversity":
            return self._diverse(labelled, rest)
        pool = [self.train[key] for key in rest]
        if strategy == "committee":
            others = [self._trained(labelled, seed + 100 * number) for number in range(1, MEMBERS)]
            found = _disagreements((pipeline, *others), pool)
        else:
            found = _doubts(pipeline, pool, MEASURES[strategy])
        scores = over_layers(found)
        ranked = sorted(zip((-score for score in scores), rest, strict=True))
        return [key for _, key in ranked]

    def _diverse(self, labelled: list[str], rest: list[str]) -> list[str]:
        vectors = np.stack([self.frozen.vector(key) for key in rest])
        known = np.stack([self.frozen.vector(key) for key in labelled])
        return [rest[row] for row in islice(k_centre_greedy(vectors, known), self.round)]

    def _first(self, seed: int) -> list[str]:
        """The documents that every strategy begins with."""
        order: list[str] = np.random.default_rng(seed).permutation(sorted(self.train)).tolist()
        return order[: self.start]

    def _effort(self, labelled: list[str]) -> dict[str, int]:
        """What a person would have read and labelled."""
        chosen = [self.train[key] for key in labelled]
        return {
            "documents": len(chosen),
            "words": sum(len(annotated.document.tokens) for annotated in chosen),
            "items": sum(
                len(document.annotations.entities) + len(document.annotations.relations)
                for document in chosen
            ),
        }

    def _scores(self, pipeline: Pipeline) -> dict[str, float]:
        found = predicted(pipeline, self.dev)
        symmetric = frozenset(self.frozen.labels.relations.symmetric)
        scores = headline(evaluate(self.dev, found, symmetric, bootstrap=False))
        told = {layer.task: asdict(scores)[layer.task] or 0.0 for layer in Layer}
        return {**told, "mean": sum(told.values()) / len(told)}


def _doubts(
    pipeline: Pipeline, pool: Sequence[AnnotatedDocument], measure: Measure
) -> list[dict[Layer, float]]:
    return [
        per_word(
            decisions(annotated.annotations.candidates or Candidates()),
            len(annotated.document.tokens),
            measure,
        )
        for annotated in predicted(pipeline, pool)
    ]


def _disagreements(
    committee: Sequence[Pipeline], pool: Sequence[AnnotatedDocument]
) -> list[dict[Layer, float]]:
    said = [
        [votes_of(annotated.annotations) for annotated in predicted(one, pool)] for one in committee
    ]
    return [
        disagreement_per_word(votes, len(annotated.document.tokens))
        for votes, annotated in zip(zip(*said, strict=True), pool, strict=True)
    ]


def main() -> None:
    options = _options()
    curves = _simulated(options)
    print(
        f"Frozen encoder, {options.epochs} epochs, {options.seeds} seeds, SciERC dev; {machine()}\n"
    )
    print(tables(curves))
    if options.svg:
        draw(curves, options.svg)
    write_report(options.json, options, [], {"curves": [asdict(curve) for curve in curves]})


def _simulated(options: argparse.Namespace) -> list[Curve]:
    import torch

    torch.set_num_threads(1)
    schema = load_schema("scierc")
    train, dev = (
        read_gold(options.data / "scierc" / f"{part}.jsonl", schema) for part in ("train", "dev")
    )
    frozen = freeze([*train, *dev], _config(options), options.folder)
    named = {annotated.document.doc_key: annotated for annotated in train[: options.most]}
    simulation = Simulation(frozen, named, dev, options.folder, options.start, options.round)
    # Seed by seed, so that what is there at any time can be compared.
    seeds = range(1, options.seeds + 1)
    return [simulation.curve(strategy, seed) for seed in seeds for strategy in options.strategies]


def _path(folder: Path, strategy: str, seed: int) -> Path:
    return folder / f"{strategy}-{seed}.json"


def _known(path: Path) -> tuple[list[dict[str, Any]], list[str]]:
    """The points of a curve, and the documents that are labelled next; nothing where there is no file."""
    known = json.loads(path.read_text("utf-8")) if path.exists() else {}
    return known.get("points", []), known.get("labelled", [])


def _config(options: argparse.Namespace) -> TrainConfig:
    return TrainConfig(
        encoder=str(options.encoder), epochs=options.epochs, batch_documents=4, head_lr=2e-3,
        ema=0.98, span_width=128, hidden_width=100, bf16=False,
    )  # fmt: skip


def _say(strategy: str, seed: int, point: dict[str, Any], seconds: float) -> None:
    told = ", ".join(f"{layer.task} {point[layer.task]:.1f}" for layer in Layer)
    print(f"{strategy} seed {seed}, {point['documents']} documents: {told} ({seconds:.0f} s)",
          file=sys.stderr, flush=True)  # fmt: skip


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder with scierc/")
    parser.add_argument(
        "--encoder", required=True, help="folder of an encoder that has seen no labels"
    )
    parser.add_argument("--folder", type=Path, required=True, help="resumable results")
    parser.add_argument(
        "--strategies", default=",".join(REDUCED), help=f"all, or of {', '.join(ALL)}"
    )
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--start", type=int, default=50, help="random documents to begin with")
    parser.add_argument("--round", type=int, default=50, help="documents a round")
    parser.add_argument("--most", type=int, help="only so many documents of train")
    parser.add_argument("--epochs", type=int, default=16)
    parser.add_argument("--svg", type=Path, help="draw the curves there")
    parser.add_argument("--json", help="write everything measured there")
    options = parser.parse_args()
    asked = ALL if options.strategies == "all" else tuple(options.strategies.split(","))
    if unknown := sorted(set(asked) - set(ALL)):
        parser.error(f"no strategy is called {', '.join(unknown)}; known: all, {', '.join(ALL)}")
    options.strategies = asked
    return options


if __name__ == "__main__":
    main()
