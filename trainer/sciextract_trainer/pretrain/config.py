"""The pretraining configuration: frozen and validated."""

from __future__ import annotations

import tomllib
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from sciextract.errors import InputMissingError, UsageError


@dataclass(frozen=True, slots=True, kw_only=True)
class PretrainConfig:
    """Everything that decides the outcome of a pretraining, apart from the texts.

    Attributes:
        encoder: Hugging Face id or folder of the encoder to start from.
        seed: Seed of the head, the order of blocks and the hidden pieces.
        steps: Optimiser steps in all; the learning rate reaches zero with the last one.
        batch_blocks: Blocks per step.
        length: Pieces of a block.
        mask_share: Share of the pieces that is hidden.
        lr: Peak learning rate.
        weight_decay: Decoupled weight decay of matrices.
        warmup: Share of all steps in which the rate rises.
        clip: Largest norm of the gradient.
        bf16: Whether the encoder runs in bfloat16 autocast.
        checkpoint_steps: Steps between checkpoints.
    """

    encoder: str
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
            _check(self, name, getattr(self, name) > 0, "a number above 0")
        _check(self, "length", 16 <= self.length <= 512, "16 to 512")
        for name in ("mask_share", "warmup"):
            _check(self, name, 0 < getattr(self, name) < 1, "above 0 and below 1")
        _check(self, "weight_decay", self.weight_decay >= 0, "at least 0")

    def to_json(self) -> dict[str, Any]:
        """All settings by name."""
        return asdict(self)


def load_pretrain_config(path: Path, **changes: Any) -> PretrainConfig:
    """The configuration of a TOML file, with changes.

    Raises:
        InputMissingError: There is no such file.
        UsageError: A setting is unknown, of another type or cannot work.
    """
    if not path.is_file():
        raise InputMissingError(f"no pretraining recipe at {path}")
    values = {**tomllib.loads(path.read_text(encoding="utf-8")), **changes}
    known = {each.name: each for each in fields(PretrainConfig)}
    unknown = sorted(set(values) - set(known))
    if unknown:
        raise UsageError(
            f"{path}: unknown settings: {', '.join(unknown)}", f"known: {', '.join(sorted(known))}"
        )
    try:
        return PretrainConfig(**values)
    except TypeError as error:
        raise UsageError(f"{path}: a setting is missing or of another type: {error}") from error


def _check(config: PretrainConfig, name: str, holds: bool, allowed: str) -> None:
    if not holds:
        raise UsageError(f"{name} = {getattr(config, name)!r} cannot work", f"allowed: {allowed}")
