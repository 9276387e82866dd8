"""A student encoder learns from its teacher on packed blocks."""

from __future__ import annotations

from pathlib import Path

import torch
from torch import Tensor

from sciextract.workflows.events import Report
from sciextract_trainer.distillation.config import DistilConfig
from sciextract_trainer.distillation.objectives import Lesson, weighted
from sciextract_trainer.distillation.pair import Pair
from sciextract_trainer.pretrain.network import MaskedLanguageModel
from sciextract_trainer.pretrain.steps import (
    Batch,
    Losses,
    Room,
    start_state,
    train_on_blocks,
)


def distil(
    config: DistilConfig,
    pair: Pair,
    room: Room,
    folder: Path,
    report: Report,
    until: float = float("inf"),
) -> MaskedLanguageModel:
    """Train to the last step of the recipe, or until the clock says so; gives the student as it is then.

    Args:
        config: The recipe.
        pair: Teacher and student.
        room: Tokenizer and blocks.
        folder: Checkpoints.
        report: Called with a dictionary every few steps: the loss and each part of it, unweighted.
        until: ``time.monotonic()`` at which to stop after a checkpoint.

    Raises:
        UsageError: There is too little text, or a checkpoint of other settings or other networks is there.
        OutputError: A checkpoint cannot be written; the one before it stays.
    """
    settings = {**config.to_json(), **pair.fingerprints()}
    pair.move(room.device)
    report({"event": "pair", "method": config.method, "layers": list(pair.layers)})
    state = start_state(pair.student, room, settings)
    train_on_blocks(state, room, losses_of(pair, config), folder, report, until)
    return pair.student.model


def losses_of(pair: Pair, config: DistilConfig) -> Losses:
    """The losses of a batch: the weighted sum and each part of it."""
    asked = pair.method.layerwise

    def losses(batch: Batch) -> dict[str, Tensor]:
        with torch.no_grad():
            teacher = pair.teacher.tell(batch.input_ids, batch.positions, asked)
        student = pair.student.tell(batch.input_ids, batch.positions, asked)
        lesson = Lesson(student, teacher, batch.targets, pair.layers, config.temperature)
        parts = pair.method.objective(lesson)
        return {"loss": weighted(parts, config.weights), **parts}

    return losses
