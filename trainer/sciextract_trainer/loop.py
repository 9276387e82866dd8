"""The training loop, read from top to bottom."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from sciextract.documents.document import AnnotatedDocument
from sciextract.errors import SciextractError
from sciextract.inference.pipeline import Labels
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
from sciextract_trainer.data.batches import PieceBatch, Sized, epoch_batches
from sciextract_trainer.evaluate import DevScores, dev_report, headline
from sciextract_trainer.families import family_of
from sciextract_trainer.optimiser import make_optimiser, make_schedule

BEST = "best.safetensors"

Report = Callable[[dict[str, Any]], None]


@dataclass(frozen=True, slots=True)
class TrainingData:
    """What a network learns from and is selected on.

    Attributes:
        examples: Training examples, gold or soft, of the family that the recipe names.
        dev: Gold documents for selection; without any, the last weights are kept.
    """

    examples: Sequence[Sized]
    dev: Sequence[AnnotatedDocument]


def train(
    config: TrainConfig,
    labels: Labels,
    rules: PieceRules,
    data: TrainingData,
    folder: Path,
    report: Report,
    start: dict[str, Tensor] | None = None,
) -> nn.Module:
    """Trains a network, or goes on where ``folder`` left off, and returns the best one.

    Args:
        config: The recipe.
        labels: What the classes mean.
        rules: The encoder's tokenizer.
        data: Examples and dev documents.
        folder: Run folder: checkpoint, best weights, ``metrics.jsonl``.
        report: Called with a dictionary per logged step and evaluation.
        start: Weights to start from instead of the pretrained encoder and fresh heads.

    Raises:
        SciextractError: The loss is not a number; the best weights so far stay in ``folder``.
        UsageError: ``folder`` holds an unfinished training with other settings.
    """
    state = _start_state(config, labels, data, start)
    if load_checkpoint(folder, state):
        report({"event": "resumed", "epoch": state.progress.epoch})
    for epoch in range(state.progress.epoch + 1, config.epochs + 1):
        _train_epoch(config, labels, rules, data.examples, state, epoch, report)
        state.progress.epoch = epoch
        if data.dev and (epoch % config.evaluate_every == 0 or epoch == config.epochs):
            _select(config, labels, rules, data, state, folder, report)
        save_checkpoint(folder, state)
    return _best(state, folder)


def _start_state(
    config: TrainConfig, labels: Labels, data: TrainingData, start: dict[str, Tensor] | None
) -> TrainingState:
    network = family_of(config).build(config, labels)
    if start is not None:
        network.load_state_dict(start, strict=False)
    optimiser = make_optimiser(network, config)
    steps = config.epochs * -(-len(data.examples) // config.batch_documents)
    schedule = make_schedule(optimiser, config, steps)
    settings = {**config.to_json(), "examples": len(data.examples)}
    return TrainingState(
        settings, network, WeightAverage(network, config.ema), optimiser, schedule, Progress()
    )


def _train_epoch(
    config: TrainConfig,
    labels: Labels,
    rules: PieceRules,
    examples: Sequence[Sized],
    state: TrainingState,
    epoch: int,
    report: Report,
) -> None:
    family = family_of(config)
    torch.manual_seed(config.seed * 100_003 + epoch)
    state.network.train()
    began, seen = time.monotonic(), 0
    sums = torch.zeros(3)
    for chosen in epoch_batches(examples, config.batch_documents, config.seed, epoch):
        batch = family.collate(chosen, rules.pad)
        _hide_words(batch, rules.mask, config.word_dropout)
        sums += _step(config, labels, state, batch)
        seen += len(chosen)
        entity, relation, coreference = (sums / seen).tolist()
        report(
            {
                "event": "step",
                "epoch": epoch,
                "documents": seen,
                "of": len(examples),
                "loss": {"entity": entity, "relation": relation, "coreference": coreference},
                "documents_per_second": seen / (time.monotonic() - began),
            }
        )


def _step(config: TrainConfig, labels: Labels, state: TrainingState, batch: PieceBatch) -> Tensor:
    """One optimiser step; returns the summed losses of the three tasks."""
    losses = family_of(config).losses(state.network, batch, config, labels)
    loss = losses.total(config) / len(batch.examples)
    if not torch.isfinite(loss):
        keys = ", ".join(example.doc_key for example in batch.examples)
        raise SciextractError(
            f"the loss is {loss.item()} at the documents {keys}",
            "lower the learning rates; the best weights so far are kept in the run folder",
        )
    state.optimiser.zero_grad(set_to_none=True)
    loss.backward()  # type: ignore[no-untyped-call]
    torch.nn.utils.clip_grad_norm_(trainable_parameters(state.network), config.clip)
    state.optimiser.step()
    state.schedule.step()
    state.average.update(state.network)
    return torch.stack([losses.entity, losses.relation, losses.coreference]).detach().float()


def trainable_parameters(network: nn.Module) -> list[torch.nn.Parameter]:
    """The parameters that training changes."""
    return [parameter for parameter in network.parameters() if parameter.requires_grad]


def _hide_words(batch: PieceBatch, mask_id: int, share: float) -> None:
    """Replaces a share of the pieces by the mask piece, so that contexts carry more weight."""
    if share:
        hidden = torch.rand(batch.input_ids.shape) < share
        hidden &= batch.attention_mask.bool()
        hidden[:, 0] = False
        batch.input_ids[hidden] = mask_id


def _select(
    config: TrainConfig,
    labels: Labels,
    rules: PieceRules,
    data: TrainingData,
    state: TrainingState,
    folder: Path,
    report: Report,
) -> None:
    """Scores the averaged weights on dev and keeps them if they are the best so far."""
    progress = state.progress
    with state.average.applied(state.network):
        predict = family_of(config).predictor(state.network, labels, rules)
        scores = headline(dev_report(predict, data.dev, labels.relations.symmetric))
        entry = {"event": "dev", "epoch": progress.epoch, **asdict(scores), "mean": scores.mean}
        score = selection_score(scores, config.select_by)
        if score > progress.best_mean:
            progress.best_mean, progress.best_epoch = score, progress.epoch
            folder.mkdir(parents=True, exist_ok=True)
            save_file(trainable(state.network), folder / BEST)
    progress.history.append(entry)
    report(entry)
    with (folder / "metrics.jsonl").open("a", encoding="utf-8") as log:
        log.write(json.dumps({**entry, "time": time.strftime("%FT%TZ", time.gmtime())}) + "\n")


def selection_score(scores: DevScores, select_by: str) -> float:
    """The dev F1 that a recipe chooses the kept epoch by."""
    return scores.mean if select_by == "mean" else float(asdict(scores)[select_by])


def _best(state: TrainingState, folder: Path) -> nn.Module:
    if (folder / BEST).is_file():
        state.network.load_state_dict(load_file(folder / BEST), strict=False)
    else:
        state.network.load_state_dict(state.average.weights, strict=False)
    return state.network.eval()
