"""The pretraining configuration: frozen and validated."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, TypeVar

from sciextract.errors import UsageError
from sciextract_trainer.config import RECIPE_HINT
from sciextract_trainer.settings_file import plain_values, read_toml, settings_from

SettingsT = TypeVar("SettingsT", bound="BlockSettings")


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockSettings:
    """How a network learns from packed blocks with hidden pieces, whatever it learns.

    Attributes:
        seed: Seed of what begins fresh, the order of blocks and the hidden pieces.
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
        return plain_values(self)


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
    known = [each.name for each in fields(kind)]
    if unknown := sorted(set(values) - set(known)):
        raise UsageError(
            f"{path}: unknown settings: {', '.join(unknown)}", f"known: {', '.join(known)}"
        )
    return settings_from(kind, values, str(path))


def require(settings: BlockSettings, name: str, holds: bool, allowed: str) -> None:
    """Refuses a setting that does not hold what it must.

    Raises:
        UsageError: Names the setting, the value and the values allowed.
    """
    if not holds:
        raise UsageError(f"{name} = {getattr(settings, name)!r} cannot work", f"allowed: {allowed}")
