"""Exponential moving average of the weights."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn


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
