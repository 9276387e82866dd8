"""Learning rates over a training, as factors of the peak rates."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn
from torch.optim import Optimizer
from torch.optim.lr_scheduler import LambdaLR

from sciextract_trainer.config import TrainConfig


def make_schedule(optimiser: Optimizer, config: TrainConfig, steps: int) -> LambdaLR:
    """The schedule that the recipe names.

    Args:
        optimiser: Its groups hold the peak rates.
        config: The recipe.
        steps: Steps of the whole training.
    """
    return LambdaLR(optimiser, factor_of(config, steps))


def factor_of(config: TrainConfig, steps: int) -> Callable[[int], float]:
    """The factor at each step, counted from 0."""
    if config.schedule == "none":
        return constant
    if config.schedule == "polynomial":
        return lambda step: polynomial(step, steps, config.warmup, config.schedule_power)
    if config.schedule == "slanted_triangular":
        return lambda step: slanted(step, steps, config.warmup, config.schedule_ratio)
    return lambda step: linear(step, steps, config.warmup)


def constant(step: int) -> float:
    """1 at each step: no schedule, no warm-up.

    The SciDeBERTa paper (Jeong and Kim 2022) uses RAdam so, which warms up by itself.
    """
    return 1.0


def linear(step: int, steps: int, warmup: float) -> float:
    """Rises from almost zero to 1 over a share of the steps, then falls to zero.

    The rates that BERT is fine-tuned with (Devlin et al. 2019, arXiv 1810.04805, appendix A.2).
    """
    return polynomial(step, steps, warmup, 1.0)


def polynomial(step: int, steps: int, warmup: float, power: float) -> float:
    """Rises linearly to 1 over a share of the steps, then falls to zero as a power of the share that is left.

    The SciDeBERTa paper (Jeong and Kim 2022) sets it with five epochs of warm-up, with AdamP: of 50 epochs
    a ``warmup`` of 0.1. ``power`` 1 is :func:`linear`; above 1 the rates fall early, below 1 late.
    """
    warm = max(1, int(steps * warmup))
    if step < warm:
        return (step + 1) / warm
    return float(max(0.0, (steps - step) / max(1, steps - warm)) ** power)


def slanted(step: int, steps: int, warmup: float, ratio: float) -> float:
    """Rises from 1 / ratio to 1 over a share of the steps, then falls back to 1 / ratio.

    The slanted triangular rates of Howard and Ruder 2018 (arXiv 1801.06146), section 3.2, equation 3.
    """
    cut = max(1, int(steps * warmup))
    progress = step / cut if step < cut else 1 - (step - cut) / max(1, steps - cut)
    return (1 + max(0.0, progress) * (ratio - 1)) / ratio


class WeightAverage:
    """Averages the trainable weights of a network; evaluated and kept instead of the last ones.

    Args:
        network: The network whose weights are followed.
        decay: Share of the average that stays at each step (0 follows the weights exactly).
    """

    def __init__(self, network: nn.Module, decay: float) -> None:
        self.decay = decay
        self.steps = 0
        self.weights = {
            name: parameter.detach().clone()
            for name, parameter in network.named_parameters()
            if parameter.requires_grad
        }

    @torch.no_grad()
    def update(self, network: nn.Module) -> None:
        """Moves the average towards the current weights; early steps move further."""
        self.steps += 1
        decay = min(self.decay, self.steps / (self.steps + 10))
        current = dict(network.named_parameters())
        names = list(self.weights)
        torch._foreach_lerp_(
            [self.weights[name] for name in names],
            [current[name].detach() for name in names],
            1 - decay,
        )

    @contextmanager
    def applied(self, network: nn.Module) -> Iterator[None]:
        """Puts the average into the network for the length of a block."""
        kept = _swap(network, self.weights)
        try:
            yield
        finally:
            _swap(network, kept)


@torch.no_grad()
def _swap(network: nn.Module, weights: dict[str, Tensor]) -> dict[str, Tensor]:
    current = dict(network.named_parameters())
    kept = {name: current[name].detach().clone() for name in weights}
    for name, weight in weights.items():
        current[name].copy_(weight)
    return kept
