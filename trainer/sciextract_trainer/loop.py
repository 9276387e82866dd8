"""The training loop, read from top to bottom."""

from __future__ import annotations

import json
import time
from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import load_file, save_file
from torch import nn

from sciextract.documents.document import AnnotatedDocument
from sciextract.inference.pipeline import Labels
from sciextract.store.state.rows import Layer
from sciextract_trainer.average import WeightAverage
from sciextract_trainer.build import PieceRules
from sciextract_trainer.checkpoint import (
    Progress,
    TrainingState,
    load_checkpoint,
    save_checkpoint,
    trainable,
)
from sciextract_trainer.config import TrainConfig
from sciextract_trainer.data.batches import Sized, epoch_batches
from sciextract_trainer.device import CPU
from sciextract_trainer.evaluate import DevScores, dev_scores
from sciextract_trainer.families import family_of
from sciextract_trainer.optimiser import make_optimiser, make_schedule
from sciextract_trainer.progress import Report
from sciextract_trainer.step import Pull, Stepper

BEST = "best.safetensors"


@dataclass(frozen=True, slots=True)
class TrainingData:
    """What a network learns from and is selected on.

    Attributes:
        examples: Training examples, gold or soft, of the family that the recipe names.
        dev: Gold documents for selection; without any, the last weights are kept.
        complete: Complete layers of each dev document; all of them when ``None``.
        rehearsal: Examples against forgetting; each epoch sees some, ``config.rehearsal`` per example.
    """

    examples: Sequence[Sized]
    dev: Sequence[AnnotatedDocument]
    complete: Sequence[Collection[Layer]] | None = None
    rehearsal: Sequence[Sized] = ()


def train(
    config: TrainConfig,
    labels: Labels,
    rules: PieceRules,
    data: TrainingData,
    folder: Path,
    report: Report,
    network: nn.Module | None = None,
    device: torch.device = CPU,
) -> nn.Module:
    """Trains a network, or goes on where ``folder`` left off, and returns the best one.

    Args:
        config: The recipe.
        labels: What the classes mean.
        rules: The encoder's tokenizer.
        data: Examples and dev documents.
        folder: Run folder: checkpoint, best weights, ``metrics.jsonl``.
        report: Called with a dictionary per logged step and evaluation.
        network: The network to train on; the recipe's encoder with fresh heads when ``None``.
        device: Where to train.

    Raises:
        LossError: The loss is not a number; the best weights so far stay in ``folder``.
        UsageError: ``folder`` holds an unfinished training with other settings.
    """
    network = (network or family_of(config).build(config, labels)).to(device)
    state = _start_state(config, network, data)
    pull = Pull(state.optimiser, config.pull) if config.pull else None
    stepper = Stepper(config, labels, rules, device, report)
    if load_checkpoint(folder, state):
        report({"event": "resumed", "epoch": state.progress.epoch})
    for epoch in range(state.progress.epoch + 1, config.epochs + 1):
        if _is_enough(config, data, state.progress):
            break
        _train_epoch(stepper, state, pull, data, epoch)
        state.progress.epoch = epoch
        if data.dev and (epoch % config.evaluate_every == 0 or epoch == config.epochs):
            _select(stepper, state, data, folder)
        save_checkpoint(folder, state)
    return _best(state, folder)


def _start_state(config: TrainConfig, network: nn.Module, data: TrainingData) -> TrainingState:
    optimiser = make_optimiser(network, config)
    documents = len(data.examples) + _rehearsed(config, data)
    steps = config.epochs * -(-documents // config.batch_documents)
    schedule = make_schedule(optimiser, config, steps)
    settings = {**config.to_json(), "examples": documents}
    return TrainingState(
        settings, network, WeightAverage(network, config.ema), optimiser, schedule, Progress()
    )


def _rehearsed(config: TrainConfig, data: TrainingData) -> int:
    """Examples against forgetting in one epoch."""
    return min(len(data.rehearsal), round(config.rehearsal * len(data.examples)))


def _examples_of(config: TrainConfig, data: TrainingData, epoch: int) -> list[Sized]:
    """All examples and some of the rehearsal; which ones depends on seed and epoch only."""
    random = np.random.default_rng([config.seed, epoch, 1])
    drawn = random.choice(len(data.rehearsal), _rehearsed(config, data), replace=False)
    return [*data.examples, *(data.rehearsal[row] for row in sorted(drawn.tolist()))]


def _is_enough(config: TrainConfig, data: TrainingData, progress: Progress) -> bool:
    """Whether the score has not risen for as many evaluations as the recipe waits for."""
    waited = progress.epoch - progress.best_epoch
    return bool(data.dev and config.patience) and waited >= config.patience * config.evaluate_every


def _train_epoch(
    stepper: Stepper, state: TrainingState, pull: Pull | None, data: TrainingData, epoch: int
) -> None:
    config, examples = stepper.config, _examples_of(stepper.config, data, epoch)
    torch.manual_seed(config.seed * 100_003 + epoch)
    state.network.train()
    began, seen = time.monotonic(), 0
    sums = torch.zeros(3)
    for chosen in epoch_batches(examples, config.batch_documents, config.seed, epoch):
        sums += stepper.step(state.network, state.optimiser, state.average, pull, chosen)
        state.schedule.step()
        seen += len(chosen)
        entity, relation, coreference = (sums / seen).tolist()
        stepper.report(
            {
                "event": "step",
                "epoch": epoch,
                "documents": seen,
                "of": len(examples),
                "loss": {"entity": entity, "relation": relation, "coreference": coreference},
                "documents_per_second": seen / (time.monotonic() - began),
            }
        )


def _select(stepper: Stepper, state: TrainingState, data: TrainingData, folder: Path) -> None:
    """Scores the averaged weights on dev and keeps them if they are the best so far."""
    progress, labels = state.progress, stepper.labels
    with state.average.applied(state.network):
        predict = stepper.family.predictor(state.network, labels, stepper.rules)
        scores = dev_scores(predict, data.dev, labels.relations.symmetric, data.complete)
        entry = {"event": "dev", "epoch": progress.epoch, **asdict(scores), "mean": scores.mean}
        score = selection_score(scores, stepper.config.select_by)
        if score > progress.best_mean:
            progress.best_mean, progress.best_epoch = score, progress.epoch
            folder.mkdir(parents=True, exist_ok=True)
            save_file(trainable(state.network), folder / BEST)
    progress.history.append(entry)
    stepper.report(entry)
    with (folder / "metrics.jsonl").open("a", encoding="utf-8") as log:
        log.write(json.dumps({**entry, "time": time.strftime("%FT%TZ", time.gmtime())}) + "\n")


def selection_score(scores: DevScores, select_by: str) -> float:
    """The dev F1 that a recipe chooses the kept epoch by; the mean where that one is not known."""
    chosen: float | None = None if select_by == "mean" else asdict(scores)[select_by]
    return scores.mean if chosen is None else chosen


def _best(state: TrainingState, folder: Path) -> nn.Module:
    if (folder / BEST).is_file():
        state.network.load_state_dict(load_file(folder / BEST), strict=False)
    else:
        state.network.load_state_dict(state.average.weights, strict=False)
    return state.network.eval()
