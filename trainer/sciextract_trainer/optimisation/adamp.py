"""AdamP: Adam whose steps do not lengthen weights of which only the direction counts."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import cosine_similarity
from torch.optim import Optimizer


class AdamP(Optimizer):
    """AdamP of Heo et al. 2021, "Slowing Down the Slowdown for Momentum Optimizers on Scale-invariant Weights".

    (arXiv 2006.08217, section 3 and algorithm 2.) With momentum m, second moment v, both corrected for their
    bias, and p = m / (sqrt(v) + eps), a weight w moves by

        w <- w - lr * p                              where w is not scale-invariant,
        w <- w - lr * (p - (w/|w| . p) w/|w|)        where it is,

    that is, by the part of p that is orthogonal to w. A weight counts as scale-invariant where it is nearly
    orthogonal to its gradient g: |cos(w, g)| < delta / sqrt(dim w), for each row of a matrix (the inputs of
    one unit), else for the whole matrix. Weight decay is decoupled (Loshchilov and Hutter 2019); of
    scale-invariant weights only ``decay_ratio`` of it is applied. Vectors (biases, norms) are never projected.

    It is written here because the authors' package has not been kept since 2021, and a collection that holds it
    also holds optimisers under non-commercial licences.

    Args:
        params: Parameters, or groups of them.
        lr: Learning rate.
        betas: Decay of the two moments.
        eps: Added to denominators.
        weight_decay: Decoupled weight decay.
        delta: How near to orthogonal counts as scale-invariant; 0 never projects.
        decay_ratio: Share of the weight decay that scale-invariant weights get.
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.0,
        delta: float = 0.1,
        decay_ratio: float = 0.1,
    ) -> None:
        defaults = {
            "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay,
            "delta": delta, "decay_ratio": decay_ratio,
        }  # fmt: skip
        super().__init__(params, defaults)

    @torch.no_grad()
    def step(self, closure: Callable[[], float] | None = None) -> float | None:  # type: ignore[override]
        """One step on all parameters that have a gradient."""
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        for group in self.param_groups:
            for parameter in group["params"]:
                if parameter.grad is not None:
                    self._move(parameter, parameter.grad, group)
        return loss

    def _move(self, weight: Tensor, gradient: Tensor, group: dict[str, Any]) -> None:
        update = self._update(weight, gradient, group)
        decay = group["weight_decay"]
        if weight.ndim > 1:
            unit = _scale_invariant(weight, gradient, group["delta"], group["eps"])
            if unit is not None:
                update, decay = _across(update, unit), decay * group["decay_ratio"]
        if decay:
            weight.mul_(1 - group["lr"] * decay)
        weight.add_(update, alpha=-group["lr"])

    def _update(self, weight: Tensor, gradient: Tensor, group: dict[str, Any]) -> Tensor:
        """Adam's direction; both moments move on."""
        state: dict[str, Tensor] = self.state[weight]
        if not state:
            state["step"] = torch.zeros(())
            state["exp_avg"] = torch.zeros_like(weight)
            state["exp_avg_sq"] = torch.zeros_like(weight)
        state["step"] += 1
        steps, (first, second) = int(state["step"].item()), group["betas"]
        state["exp_avg"].lerp_(gradient, 1 - first)
        state["exp_avg_sq"].mul_(second).addcmul_(gradient, gradient, value=1 - second)
        spread = (state["exp_avg_sq"] / (1 - second**steps)).sqrt_().add_(group["eps"])
        update: Tensor = state["exp_avg"] / (1 - first**steps) / spread
        return update


def _scale_invariant(weight: Tensor, gradient: Tensor, delta: float, eps: float) -> Tensor | None:
    """The unit vectors (rows, dim) that only the direction of a weight counts along; ``None`` if its length does."""
    for rows in (weight.size(0), 1):
        vectors = weight.reshape(rows, -1)
        cosines = cosine_similarity(gradient.reshape(rows, -1), vectors, dim=1, eps=eps).abs()
        if cosines.max() < delta / math.sqrt(vectors.size(1)):
            unit: Tensor = vectors / (vectors.norm(dim=1, keepdim=True) + eps)
            return unit
    return None


def _across(update: Tensor, unit: Tensor) -> Tensor:
    """The part of an update that is orthogonal to the unit vectors (rows, dim)."""
    rows = update.view_as(unit)
    return (rows - unit * (unit * rows).sum(1, keepdim=True)).view_as(update)
