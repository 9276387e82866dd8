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
from torch import Tensor

from sciextract.documents.document import AnnotatedDocument
from sciextract.errors import SciextractError
from sciextract.inference.pipeline import Labels, Pipeline
from sciextract.inference.settings import DecodeSettings, PerTask
from sciextract_trainer.average import WeightAverage
from sciextract_trainer.build import PieceRules, build_network
from sciextract_trainer.checkpoint import (
    Progress,
    TrainingState,
    load_checkpoint,
    save_checkpoint,
    trainable,
)
from sciextract_trainer.config import TrainConfig
from sciextract_trainer.data.batches import Batch, collate, epoch_batches
from sciextract_trainer.data.examples import Example
from sciextract_trainer.evaluate import DevScores, dev_report, headline
from sciextract_trainer.network.joint import JointNetwork
from sciextract_trainer.network.torch_network import TorchNetwork
from sciextract_trainer.network.training_step import batch_losses
from sciextract_trainer.optimiser import make_optimiser, make_schedule

BEST = "best.safetensors"
DEV_SETTINGS = DecodeSettings(thresholds=PerTask(0.45, 0.4, 0.5))

Report = Callable[[dict[str, Any]], None]


@dataclass(frozen=True, slots=True)
class TrainingData:
    """What a network learns from and is selected on.

    Attributes:
        examples: Training examples, gold or soft.
        dev: Gold documents for selection; without any, the last weights are kept.
    """

    examples: Sequence[Example]
    dev: Sequence[AnnotatedDocument]


def train(
    config: TrainConfig,
    labels: Labels,
    rules: PieceRules,
    data: TrainingData,
    folder: Path,
    report: Report,
    start: dict[str, Tensor] | None = None,
) -> JointNetwork:
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
    network = build_network(config, labels)
    if start is not None:
        network.load_state_dict(start, strict=False)
    optimiser = make_optimiser(network, config)
    steps = config.epochs * -(-len(data.examples) // config.batch_documents)
    schedule = make_schedule(optimiser, config, steps)
    return TrainingState(
        network, WeightAverage(network, config.ema), optimiser, schedule, Progress()
    )


def _train_epoch(
    config: TrainConfig,
    labels: Labels,
    rules: PieceRules,
    examples: Sequence[Example],
    state: TrainingState,
    epoch: int,
    report: Report,
) -> None:
    torch.manual_seed(config.seed * 100_003 + epoch)
    state.network.train()
    began, seen = time.monotonic(), 0
    sums = torch.zeros(3)
    for chosen in epoch_batches(examples, config.batch_documents, config.seed, epoch):
        batch = _hide_words(collate(chosen, rules.pad), rules.mask, config.word_dropout)
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


def _step(config: TrainConfig, labels: Labels, state: TrainingState, batch: Batch) -> Tensor:
    """One optimiser step; returns the summed losses of the three tasks."""
    losses = batch_losses(state.network, batch, config, labels.relations)
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


def trainable_parameters(network: JointNetwork) -> list[torch.nn.Parameter]:
    """The parameters that training changes."""
    return [parameter for parameter in network.parameters() if parameter.requires_grad]


def _hide_words(batch: Batch, mask_id: int, share: float) -> Batch:
    """Replaces a share of the pieces by the mask piece, so that contexts carry more weight."""
    if share:
        hidden = torch.rand(batch.input_ids.shape) < share
        hidden &= batch.attention_mask.bool()
        hidden[:, 0] = False
        batch.input_ids[hidden] = mask_id
    return batch


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
        scores = dev_scores(state.network, labels, rules, data.dev)
        entry = {"event": "dev", "epoch": progress.epoch, **asdict(scores), "mean": scores.mean}
        if scores.mean > progress.best_mean:
            progress.best_mean, progress.best_epoch = scores.mean, progress.epoch
            folder.mkdir(parents=True, exist_ok=True)
            save_file(trainable(state.network), folder / BEST)
    progress.history.append(entry)
    report(entry)
    with (folder / "metrics.jsonl").open("a", encoding="utf-8") as log:
        log.write(json.dumps({**entry, "time": time.strftime("%FT%TZ", time.gmtime())}) + "\n")


def dev_scores(
    network: JointNetwork,
    labels: Labels,
    rules: PieceRules,
    dev: Sequence[AnnotatedDocument],
    settings: DecodeSettings = DEV_SETTINGS,
) -> DevScores:
    """F1 of a torch network on gold documents."""
    pipeline = Pipeline(TorchNetwork(network), rules.encoder(), labels, rules.limit)
    return headline(dev_report(pipeline, dev, settings, labels.relations.symmetric))


def _best(state: TrainingState, folder: Path) -> JointNetwork:
    if (folder / BEST).is_file():
        state.network.load_state_dict(load_file(folder / BEST), strict=False)
    else:
        state.network.load_state_dict(state.average.weights, strict=False)
    return state.network.eval()
