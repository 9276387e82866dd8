"""What all stages that train have in common."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import torch
from torch import nn

from sciextract.inference.pipeline import Labels
from sciextract.retraining.run_folder import Run
from sciextract_trainer.build import SubwordRules, load_subword_rules
from sciextract_trainer.config import TrainConfig
from sciextract_trainer.data.examples import Sized
from sciextract_trainer.families import labels_for
from sciextract_trainer.hardware.device import choose_device, has_fast_bf16
from sciextract_trainer.loop import TrainingData, train
from sciextract_trainer.sessions import recorded

if TYPE_CHECKING:
    from sciextract_trainer.making.workshop import Workshop


@dataclass(frozen=True, slots=True)
class Setting:
    """A recipe on this machine.

    Attributes:
        config: The recipe; in bfloat16 only where the device is fast in it.
        labels: What its classes mean.
        rules: Its tokenizer.
        device: Where it runs.
    """

    config: TrainConfig
    labels: Labels
    rules: SubwordRules
    device: torch.device


def setting_of(shop: Workshop, config: TrainConfig) -> Setting:
    """A recipe with what it needs here.

    Raises:
        ModelNotFoundError: Its encoder cannot be loaded.
    """
    device = choose_device("auto")
    config = replace(config, bf16=config.bf16 and has_fast_bf16(device))
    labels = labels_for(config, shop.schema)
    return Setting(config, labels, load_subword_rules(config.encoder), device)


def train_stage(
    shop: Workshop,
    folder: Path,
    setting: Setting,
    examples: Sequence[Sized],
    network: nn.Module | None,
) -> None:
    """Trains in the stage's folder, or goes on there; ``network`` is what it begins with.

    Raises:
        TimeIsUp: The time of this call is over.
    """
    shop.report({"event": "data", "examples": len(examples), "dev": len(shop.dev)})
    with recorded(Run(folder), setting.device):
        train(
            setting.config, setting.labels, setting.rules, TrainingData(examples, shop.dev), folder,
            shop.report, network, device=setting.device, until=shop.until,
        )  # fmt: skip
