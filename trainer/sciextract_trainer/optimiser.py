"""AdamW with two learning rates, and the schedules of both."""

from __future__ import annotations

import torch
from torch import nn
from torch.optim import AdamW
from torch.optim.lr_scheduler import LambdaLR

from sciextract_trainer.config import TrainConfig


def make_optimiser(network: nn.Module, config: TrainConfig) -> AdamW:
    """One group for the encoder, one for the heads; vectors (biases, norms) are never decayed."""
    encoder: list[torch.nn.Parameter] = []
    heads: list[torch.nn.Parameter] = []
    for name, parameter in network.named_parameters():
        if parameter.requires_grad:
            (encoder if name.startswith("words.encoder.") else heads).append(parameter)
    groups = [
        *_groups(encoder, config.encoder_lr, config.encoder_weight_decay),
        *_groups(heads, config.head_lr, config.head_weight_decay),
    ]
    return AdamW(groups, fused=True)


def _groups(
    parameters: list[torch.nn.Parameter], lr: float, weight_decay: float
) -> list[dict[str, object]]:
    matrices = [parameter for parameter in parameters if parameter.ndim > 1]
    vectors = [parameter for parameter in parameters if parameter.ndim <= 1]
    return [
        {"params": matrices, "lr": lr, "weight_decay": weight_decay},
        {"params": vectors, "lr": lr, "weight_decay": 0.0},
    ]


def make_schedule(optimiser: AdamW, config: TrainConfig, steps: int) -> LambdaLR:
    """The schedule that the recipe names, as factors of the peak rates."""
    if config.schedule == "slanted_triangular":
        ratio = config.schedule_ratio
        return LambdaLR(optimiser, lambda step: slanted(step, steps, config.warmup, ratio))
    return LambdaLR(optimiser, lambda step: linear(step, steps, config.warmup))


def linear(step: int, steps: int, warmup: float) -> float:
    """Rises from almost zero to 1 over a share of the steps, then falls to zero."""
    warm = max(1, int(steps * warmup))
    return (step + 1) / warm if step < warm else max(0.0, (steps - step) / max(1, steps - warm))


def slanted(step: int, steps: int, warmup: float, ratio: float) -> float:
    """Rises from 1 / ratio to 1 over a share of the steps, then falls back to 1 / ratio.

    The slanted triangular rates of Howard and Ruder 2018 (arXiv 1801.06146), section 3.2, equation 3.
    """
    cut = max(1, int(steps * warmup))
    progress = step / cut if step < cut else 1 - (step - cut) / max(1, steps - cut)
    return (1 + max(0.0, progress) * (ratio - 1)) / ratio
