"""What reading more text brings: dev F1 of short trainings against the subwords that their encoder has read.

Usage: ``python -m research.pretraining_curve --data scierc/ --encoders 0=.cache/minilm 9.8=runs/mlm-9.8/encoder ...
--runs runs/curve --output docs/images/pretraining [--seeds 1 2] [--epochs 8]``. An encoder is named by the millions of
subwords of its continued pretraining; ``python -m research pretrain --minutes N``, given again and again, leaves one to
copy each time.

Each encoder and seed learns SciERC train with the recipe of teacher 1 for a few epochs; the last weights are kept and
thresholds are fitted on dev, so that scores compare encoders and are too good for new texts. Finished trainings are kept in ``--runs``.
OUTPUT gets ``.json``, ``.md`` and ``.svg``.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from typing import cast

import torch

from benchmarks.rows import svg_figure
from research.recipes import find_recipe
from research.seeds import TASKS, Scores, markdown
from sciextract import atomic
from sciextract.documents.schema_file import load_schema
from sciextract.inference.pipeline import Pipeline
from sciextract.retraining.events import TrainingEvent
from sciextract_trainer.build import labels_for, load_subword_rules
from sciextract_trainer.calibration import Dev, fit_settings
from sciextract_trainer.config import load_config
from sciextract_trainer.data.examples import examples_from
from sciextract_trainer.data.gold import read_gold
from sciextract_trainer.evaluate import DEV_SETTINGS, dev_scores, serve_pipeline
from sciextract_trainer.hardware import choose_device, has_fast_bf16
from sciextract_trainer.loop import TrainingData, train
from sciextract_trainer.network.joint import JointNetwork, RememberingNetwork, TorchNetwork


def main(words: Sequence[str] | None = None) -> int:
    """Trains what is missing, and writes the figure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder with train and dev")
    parser.add_argument(
        "--encoders", nargs="+", type=encoder_of, required=True, metavar="MILLIONS=DIR"
    )
    parser.add_argument("--runs", type=Path, required=True, help="trainings")
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--epochs", type=int, default=8)
    options = parser.parse_args(words)
    curve: dict[float, list[Scores]] = {}
    for millions, encoder in options.encoders:
        curve[millions] = [
            _scores(
                encoder,
                seed,
                options.epochs,
                options.data,
                options.runs / f"{millions:g}-{seed}-{options.epochs}",
            )
            for seed in options.seeds
        ]
    write(curve, options.output)
    return 0


def encoder_of(named: str) -> tuple[float, str]:
    """Millions of subwords and the encoder that has read them, from ``MILLIONS=DIR``."""
    millions, _, encoder = named.partition("=")
    try:
        return float(millions), encoder
    except ValueError:
        message = f"{named!r} is not MILLIONS=DIR, such as 9.8=runs/mlm-9.8/encoder"
        raise argparse.ArgumentTypeError(message) from None


def _scores(encoder: str, seed: int, epochs: int, data: Path, folder: Path) -> Scores:
    """Dev F1 by task of one training, made or read."""
    known = folder / "scores.json"
    if known.is_file():
        found: Scores = json.loads(known.read_text(encoding="utf-8"))
        return found
    device = choose_device("auto")
    config = load_config(find_recipe("sci-teacher-1"), encoder=encoder, seed=seed, epochs=epochs)
    config = replace(config, bf16=has_fast_bf16(device))
    schema, rules = load_schema("scierc"), load_subword_rules(encoder)
    gold, dev = (read_gold(data / f"{part}.jsonl", schema) for part in ("train", "dev"))
    labels, subwords = labels_for(config, schema), rules.encoder()
    examples = list(examples_from(gold, labels, subwords, rules.limit))
    network = train(
        config, labels, rules, TrainingData(examples, ()), folder, _silent, device=device
    )
    remembering = RememberingNetwork(TorchNetwork(cast(JointNetwork, network)))
    pipeline = Pipeline(remembering, subwords, labels, rules.limit)
    settings = fit_settings(pipeline, Dev(dev), DEV_SETTINGS)
    stated = dev_scores(
        serve_pipeline(pipeline, settings), dev, labels.relations.symmetric
    ).stated()
    scores = {task: stated[task] or 0.0 for task in TASKS}
    with atomic.replacing(known) as partial:
        partial.write_text(json.dumps(scores), encoding="utf-8")
    print(encoder, f"seed {seed}", scores, flush=True)
    return scores


def _silent(event: TrainingEvent) -> None:
    """Steps are not printed."""


def write(curve: dict[float, list[Scores]], output: Path) -> None:
    """The table, the figure and their numbers: millions of subwords, and the scores of each seed."""
    table = markdown({f"{millions:g} million subwords": seeds for millions, seeds in curve.items()})
    output.with_suffix(".md").write_text(table + "\n", encoding="utf-8")
    rows = [{"millions": key, "seeds": seeds} for key, seeds in curve.items()]
    output.with_suffix(".json").write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    with svg_figure(output.with_suffix(".svg"), 1, len(TASKS), figsize=(10, 3.2)) as (_, panels):
        for panel, (task, title) in zip(panels, TASKS.items(), strict=True):
            means = [fmean(seed[task] for seed in seeds) for seeds in curve.values()]
            panel.plot(list(curve), means, color="#0072B2")
            for millions, seeds in curve.items():
                panel.plot(
                    [millions] * len(seeds), [seed[task] for seed in seeds], "o", color="#56B4E9"
                )
            panel.set_title(title)
            panel.set_xlabel("million subwords read")
            panel.grid(alpha=0.3)
        panels[0].set_ylabel("F1, SciERC dev")


if __name__ == "__main__":
    torch.set_num_threads(1)
    sys.exit(main())
