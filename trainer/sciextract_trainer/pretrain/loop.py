"""The pretraining loop: resumable at every checkpoint with the same outcome."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.optim import AdamW
from torch.optim.lr_scheduler import LambdaLR

from sciextract.errors import UsageError
from sciextract_trainer.build import PieceRules
from sciextract_trainer.checkpoint import Progress, TrainingState, load_checkpoint, save_checkpoint
from sciextract_trainer.network.encoder import load_encoder
from sciextract_trainer.optimisation.average import WeightAverage
from sciextract_trainer.optimisation.schedules import linear
from sciextract_trainer.pretrain.config import PretrainConfig
from sciextract_trainer.pretrain.masking import Masked, mask_pieces
from sciextract_trainer.pretrain.network import MaskedLanguageModel
from sciextract_trainer.pretrain.packing import Blocks

Report = Callable[[dict[str, Any]], None]
TOLD_STEPS = 10


@dataclass(frozen=True, slots=True)
class Room:
    """What every step reads.

    Attributes:
        config: The recipe.
        rules: The encoder's tokenizer.
        blocks: uint32 (blocks, length).
        device: Where the network runs.
    """

    config: PretrainConfig
    rules: PieceRules
    blocks: Blocks
    device: torch.device


def pretrain(room: Room, folder: Path, report: Report, until: float = float("inf")) -> nn.Module:
    """Train to the last step of the recipe, or until the clock says so; gives the encoder as it is then.

    Order and masks of a step follow from the seed and the step's number alone, so that a run which was
    stopped and resumed ends like one that was not (bitwise on a CPU).

    Args:
        room: Recipe, tokenizer and blocks.
        folder: Checkpoints.
        report: Called with a dictionary every few steps.
        until: ``time.monotonic()`` at which to stop after a checkpoint.

    Raises:
        UsageError: There are fewer blocks than one step needs, or a checkpoint of other settings is there.
        ModelNotFoundError: The encoder cannot be loaded.
    """
    if len(room.blocks) < room.config.batch_blocks:
        raise UsageError(
            f"{len(room.blocks)} blocks of text are fewer than one step takes "
            f"({room.config.batch_blocks})",
            "give more text, or a smaller batch_blocks",
        )
    state = _start(room)
    load_checkpoint(folder, state)
    config, step = room.config, state.schedule.last_epoch
    while step < config.steps and time.monotonic() < until:
        since, first = time.monotonic(), step
        step = min(first + TOLD_STEPS, config.steps)
        losses = [_step(state, room, each) for each in range(first, step)]
        pieces = len(losses) * config.batch_blocks * config.length
        told = {"loss": sum(losses) / len(losses), "pieces_per_second": _rate(pieces, since)}
        report({"event": "step", "step": step, "of": config.steps, **told})
        if step % config.checkpoint_steps == 0 or step == config.steps:
            save_checkpoint(folder, state)
    save_checkpoint(folder, state)
    return state.network.encoder  # type: ignore[return-value]


def _rate(count: int, since: float) -> int:
    return round(count / (time.monotonic() - since))


def _start(room: Room) -> TrainingState:
    config = room.config
    torch.manual_seed(config.seed)
    encoder = load_encoder(config.encoder)
    network = MaskedLanguageModel(encoder, config.bf16).to(room.device).train()
    matrices = [each for each in network.parameters() if each.ndim > 1]
    vectors = [each for each in network.parameters() if each.ndim <= 1]
    optimiser = AdamW(
        [
            {"params": matrices, "weight_decay": config.weight_decay},
            {"params": vectors, "weight_decay": 0.0},
        ],
        lr=config.lr,
        fused=True,
    )
    schedule = LambdaLR(optimiser, lambda step: linear(step, config.steps, config.warmup))
    settings = {**config.to_json(), "blocks": len(room.blocks)}
    average = WeightAverage(network, 0.0)
    return TrainingState(settings, network, average, optimiser, schedule, Progress())


def _step(state: TrainingState, room: Room, step: int) -> float:
    masked = batch_of(room, step)
    torch.manual_seed(room.config.seed * 1_000_003 + step)  # dropout
    ids, positions, targets = (
        torch.from_numpy(each).to(room.device)
        for each in (masked.input_ids, masked.positions, masked.targets)
    )
    loss = nn.functional.cross_entropy(state.network(ids, positions), targets)
    state.optimiser.zero_grad(set_to_none=True)
    loss.backward()  # type: ignore[no-untyped-call]
    nn.utils.clip_grad_norm_(state.network.parameters(), room.config.clip)
    state.optimiser.step()
    state.schedule.step()
    state.average.update(state.network)
    return float(loss.detach())


def batch_of(room: Room, step: int) -> Masked:
    """The blocks of one step with hidden pieces; every pass takes the blocks in another order."""
    config, rules = room.config, room.rules
    per_pass = len(room.blocks) // config.batch_blocks
    turn, place = divmod(step, per_pass)
    order = np.random.default_rng([config.seed, turn]).permutation(len(room.blocks))
    rows = np.sort(order[place * config.batch_blocks : (place + 1) * config.batch_blocks])
    special = {*rules.prefix, *rules.suffix, rules.pad}
    random = np.random.default_rng([config.seed, 7919, step])
    vocabulary = rules.tokenizer.get_vocab_size()
    chosen = np.asarray(room.blocks[rows])
    return mask_pieces(chosen, special, rules.mask, vocabulary, config.mask_share, random)
