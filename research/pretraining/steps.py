"""Training on packed blocks, step by step: resumable at every checkpoint with the same outcome."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import torch
from torch import Tensor, nn
from torch.optim import AdamW
from torch.optim.lr_scheduler import LambdaLR

from research.pretraining.blocks import Blocks, Masked, mask_tokens
from research.reporting import Report
from sciextract.codec import convert, plain
from sciextract.errors import UsageError
from sciextract_trainer.build import SubwordRules
from sciextract_trainer.checkpoint import Progress, TrainingState, load_checkpoint, save_checkpoint
from sciextract_trainer.config import RECIPE_HINT, read_toml
from sciextract_trainer.hardware import repeatable
from sciextract_trainer.optimisation import WeightAverage, polynomial

SettingsT = TypeVar("SettingsT", bound="BlockSettings")


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockSettings:
    """How a network learns from packed blocks with masked tokens, whatever it learns.

    Attributes:
        seed: Seed of what begins fresh, the order of blocks and the masked tokens.
        steps: Optimiser steps in all; the learning rate reaches zero with the last one.
        batch_blocks: Blocks per step.
        length: Subwords of a block.
        mask_share: Share of the subwords that is hidden.
        lr: Peak learning rate.
        weight_decay: Decoupled weight decay of matrices.
        warmup: Share of all steps in which the rate rises.
        clip: Largest norm of the gradient.
        bf16: Whether the encoder runs in bfloat16 autocast where the device computes that in hardware.
        checkpoint_steps: Steps between checkpoints.
    """

    seed: int = 1
    steps: int = 2000
    batch_blocks: int = 32
    length: int = 256
    mask_share: float = 0.15
    lr: float = 3e-4
    weight_decay: float = 0.01
    warmup: float = 0.06
    clip: float = 1.0
    bf16: bool = True
    checkpoint_steps: int = 50

    def __post_init__(self) -> None:
        """Refuses values that cannot work.

        Raises:
            UsageError: Names the setting, the value and the values allowed.
        """
        for name in ("steps", "batch_blocks", "lr", "clip", "checkpoint_steps"):
            require(self, name, getattr(self, name) > 0, "a number above 0")
        require(self, "length", 16 <= self.length <= 512, "16 to 512")
        for name in ("mask_share", "warmup"):
            require(self, name, 0 < getattr(self, name) < 1, "above 0 and below 1")
        require(self, "weight_decay", self.weight_decay >= 0, "at least 0")

    def to_json(self) -> dict[str, Any]:
        """All settings by name; lists, as in JSON and TOML, where there are several values."""
        values: dict[str, Any] = plain(self)
        return values


@dataclass(frozen=True, slots=True, kw_only=True)
class PretrainConfig(BlockSettings):
    """Everything that decides the outcome of a pretraining, apart from the texts.

    Attributes:
        encoder: Hugging Face id or folder of the encoder to start from.
    """

    encoder: str


def load_pretrain_config(path: Path, **changes: Any) -> PretrainConfig:
    """The configuration of a TOML file, with changes.

    Raises:
        InputMissingError: There is no such file.
        UsageError: A setting is unknown, of another type or cannot work.
    """
    return load_settings(PretrainConfig, path, **changes)


def load_settings(kind: type[SettingsT], path: Path, **changes: Any) -> SettingsT:
    """Settings of a kind from a TOML file, with changes.

    Raises:
        InputMissingError: There is no such file.
        UsageError: It is not TOML, or a setting is unknown, of another type or cannot work.
    """
    values = {**read_toml(path, "recipe", RECIPE_HINT), **changes}
    return convert(values, kind, path, closed=True, error=UsageError)


def require(settings: BlockSettings, name: str, holds: bool, allowed: str) -> None:
    """Refuses a setting that does not hold what it must.

    Raises:
        UsageError: Names the setting, the value and the values allowed.
    """
    if not holds:
        raise UsageError(f"{name} = {getattr(settings, name)!r} cannot work", f"expected {allowed}")


TOLD_STEPS = 10


@dataclass(frozen=True, slots=True)
class Room:
    """What every step reads.

    Attributes:
        config: How the network learns.
        rules: The encoder's tokenizer.
        blocks: uint32 (blocks, length).
        device: Where the network runs.
    """

    config: BlockSettings
    rules: SubwordRules
    blocks: Blocks
    device: torch.device


@dataclass(frozen=True, slots=True)
class Batch:
    """The blocks of one step.

    Attributes:
        input_ids: int64 (blocks, length), what the encoder sees.
        positions: int64 (chosen,), indices into the flattened blocks.
        targets: int64 (chosen,), the subwords that stood there.
    """

    input_ids: Tensor
    positions: Tensor
    targets: Tensor


Losses = Callable[[Batch], dict[str, Tensor]]
"""The losses of a batch by name; the one called ``loss`` is trained on, the others are logged."""


def start_state(network: nn.Module, room: Room, settings: dict[str, Any]) -> TrainingState:
    """A network before its first step.

    Args:
        network: On its device, in training mode.
        room: How it learns.
        settings: What a resumed training must have in common with this one.
    """
    config = room.config
    matrices = [parameter for parameter in network.parameters() if parameter.ndim > 1]
    vectors = [parameter for parameter in network.parameters() if parameter.ndim <= 1]
    optimiser = AdamW(
        [
            {"params": matrices, "weight_decay": config.weight_decay},
            {"params": vectors, "weight_decay": 0.0},
        ],
        lr=config.lr,
        fused=True,
    )
    schedule = LambdaLR(optimiser, lambda step: polynomial(step, config.steps, config.warmup))
    identity = {**settings, "blocks": len(room.blocks)}
    return TrainingState(
        identity, network, WeightAverage(network, 0.0), optimiser, schedule, Progress()
    )


def train_on_blocks(
    state: TrainingState,
    room: Room,
    losses: Losses,
    folder: Path,
    report: Report,
    until: float = float("inf"),
) -> None:
    """Train to the last step of the settings, or until the clock says so.

    Order and masks of a step follow from the seed and the step's number alone, so that a run which was
    stopped and resumed ends like one that was not (bitwise on a CPU with as many threads).

    Args:
        state: The network and what moves it; a checkpoint in the folder replaces both.
        room: Settings, tokenizer and blocks.
        losses: What the network learns.
        folder: Checkpoints.
        report: Called with a dictionary every few steps.
        until: ``time.monotonic()`` at which to stop after a checkpoint.

    Raises:
        UsageError: There are fewer blocks than one step needs, or a checkpoint of other settings is there.
        OutputError: A checkpoint cannot be written; the one before it stays.
    """
    _require_blocks(room)
    load_checkpoint(folder, state)
    config, step = room.config, state.schedule.last_epoch
    while step < config.steps and time.monotonic() < until:
        since, first = time.monotonic(), step
        step = min(first + TOLD_STEPS, config.steps)
        with repeatable(room.device):
            logged = [_step(state, room, losses, number) for number in range(first, step)]
        subwords = len(logged) * config.batch_blocks * config.length
        speed = {"subwords_per_second": round(subwords / (time.monotonic() - since))}
        report({"event": "step", "step": step, "of": config.steps, **_means(logged), **speed})
        if step % config.checkpoint_steps == 0 or step == config.steps:
            save_checkpoint(folder, state)
    save_checkpoint(folder, state)


def _require_blocks(room: Room) -> None:
    if len(room.blocks) < room.config.batch_blocks:
        raise UsageError(
            f"{len(room.blocks)} blocks of text are fewer than one step takes "
            f"({room.config.batch_blocks})",
            "give more text, or a smaller batch_blocks",
        )


def _means(logged: list[dict[str, float]]) -> dict[str, float]:
    return {name: sum(entry[name] for entry in logged) / len(logged) for name in logged[0]}


def _step(state: TrainingState, room: Room, losses: Losses, step: int) -> dict[str, float]:
    masked = batch_of(room, step)
    torch.manual_seed(room.config.seed * 1_000_003 + step)  # dropout
    found = losses(_on_device(masked, room.device))
    state.optimiser.zero_grad(set_to_none=True)
    found["loss"].backward()  # type: ignore[no-untyped-call]
    nn.utils.clip_grad_norm_(state.network.parameters(), room.config.clip)
    state.optimiser.step()
    state.schedule.step()
    state.average.update(state.network)
    return {name: float(value.detach()) for name, value in found.items()}


def _on_device(masked: Masked, device: torch.device) -> Batch:
    arrays = (masked.input_ids, masked.positions, masked.targets)
    return Batch(*(torch.from_numpy(array).to(device) for array in arrays))


def batch_of(room: Room, step: int) -> Masked:
    """The blocks of one step with masked tokens; every pass takes the blocks in another order."""
    config, rules = room.config, room.rules
    per_pass = len(room.blocks) // config.batch_blocks
    turn, place = divmod(step, per_pass)
    order = np.random.default_rng([config.seed, turn]).permutation(len(room.blocks))
    rows = np.sort(order[place * config.batch_blocks : (place + 1) * config.batch_blocks])
    special = {*rules.prefix, *rules.suffix, rules.pad}
    random = np.random.default_rng([config.seed, 7919, step])
    vocabulary = rules.tokenizer.get_vocab_size()
    chosen = np.asarray(room.blocks[rows])
    return mask_tokens(chosen, special, rules.mask, vocabulary, config.mask_share, random)
