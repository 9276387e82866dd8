"""What changes weights: optimisers, learning rates and averages of weights.

The optimisers are those of the SciDeBERTa paper, with two learning rates and two weight decays:

- ``adamw``: Loshchilov and Hutter 2019 (arXiv 1711.05101); weight decay apart from the gradient.
- ``adam``: Kingma and Ba 2015 (arXiv 1412.6980); weight decay is added to the gradient (an L2 penalty), so that it
  is scaled like it.
- ``adamp``: Heo et al. 2021 (arXiv 2006.08217), :class:`AdamP`.
- ``radam``: Liu et al. 2020 (arXiv 1908.03265) as in torch, with decoupled weight decay. It corrects the variance
  of early steps, which warm-up otherwise is for; the SciDeBERTa paper uses it without a schedule. That paper's
  Algorithm 2 differs from Liu et al. by slips: torch, followed here, takes rho_inf = 2 / (1 - beta2) - 1 and
  r_t = sqrt((rho_t - 4) (rho_t - 2) rho_inf / ((rho_inf - 4) (rho_inf - 2) rho_t)), and adapts from rho_t > 5 on,
  where the paper says 4.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import cosine_similarity
from torch.optim import Adam, AdamW, Optimizer, RAdam
from torch.optim.lr_scheduler import LambdaLR

from sciextract_trainer.config import TrainConfig
from sciextract_trainer.encoders.loading import layers_of


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
                gradient = parameter.grad
                if gradient is None:
                    continue
                state: dict[str, Tensor] = self.state[parameter]
                if not state:
                    state["step"] = torch.zeros(())
                    state["exp_avg"] = torch.zeros_like(parameter)
                    state["exp_avg_sq"] = torch.zeros_like(parameter)
                state["step"] += 1
                steps, (first, second) = int(state["step"].item()), group["betas"]
                state["exp_avg"].lerp_(gradient, 1 - first)
                state["exp_avg_sq"].mul_(second).addcmul_(gradient, gradient, value=1 - second)
                spread = (state["exp_avg_sq"] / (1 - second**steps)).sqrt_().add_(group["eps"])
                update: Tensor = state["exp_avg"] / (1 - first**steps) / spread  # Adam's direction
                decay = group["weight_decay"]
                if parameter.ndim > 1:
                    unit = _scale_invariant(parameter, gradient, group["delta"], group["eps"])
                    if (
                        unit is not None
                    ):  # only what is orthogonal to these vectors turns the weight
                        rows = update.view_as(unit)
                        across = rows - unit * (unit * rows).sum(1, keepdim=True)
                        update, decay = across.view_as(update), decay * group["decay_ratio"]
                if decay:
                    parameter.mul_(1 - group["lr"] * decay)
                parameter.add_(update, alpha=-group["lr"])
        return loss


def _scale_invariant(weight: Tensor, gradient: Tensor, delta: float, eps: float) -> Tensor | None:
    """The unit vectors (rows, dim) that only the direction of a weight counts along; ``None`` if its length does."""
    for rows in (weight.size(0), 1):
        vectors = weight.reshape(rows, -1)
        cosines = cosine_similarity(gradient.reshape(rows, -1), vectors, dim=1, eps=eps).abs()
        if cosines.max() < delta / math.sqrt(vectors.size(1)):
            unit: Tensor = vectors / (vectors.norm(dim=1, keepdim=True) + eps)
            return unit
    return None


ENCODER = "words.encoder."
"""What the names of an encoder's parameters begin with in every network."""

Groups = list[dict[str, Any]]

_MAKERS: dict[str, Callable[[Groups], Optimizer]] = {
    "adamw": lambda groups: AdamW(groups, fused=True),
    "adam": lambda groups: Adam(groups, fused=True),
    "adamp": AdamP,
    "radam": lambda groups: RAdam(groups, decoupled_weight_decay=True),
}


def make_optimiser(network: nn.Module, config: TrainConfig) -> Optimizer:
    """The optimiser that the recipe names; vectors (biases, norms) are never decayed.

    Raises:
        UsageError: ``layer_decay`` is wanted of an encoder without layers of their own.
    """
    return _MAKERS[config.optimiser](parameter_groups(network, config))


def parameter_groups(network: nn.Module, config: TrainConfig) -> Groups:
    """Matrices and vectors of each encoder layer, where their rates differ, and of the heads."""
    shrinkage = _shrinkage(network, config.layer_decay)
    encoder: dict[float, list[nn.Parameter]] = {1.0: []}
    heads: list[nn.Parameter] = []
    for name, parameter in network.named_parameters():
        if parameter.requires_grad:
            of = encoder.setdefault(shrinkage(name), []) if name.startswith(ENCODER) else heads
            of.append(parameter)
    groups: Groups = []
    for factor, parameters in encoder.items():
        groups += _groups(parameters, config.encoder_lr * factor, config.encoder_weight_decay)
    return groups + _groups(heads, config.head_lr, config.head_weight_decay)


def _groups(parameters: list[nn.Parameter], lr: float, weight_decay: float) -> Groups:
    matrices = [parameter for parameter in parameters if parameter.ndim > 1]
    vectors = [parameter for parameter in parameters if parameter.ndim <= 1]
    return [
        {"params": matrices, "lr": lr, "weight_decay": weight_decay},
        {"params": vectors, "lr": lr, "weight_decay": 0.0},
    ]


def _shrinkage(network: nn.Module, decay: float) -> Callable[[str], float]:
    """Factor of the encoder's rate by the name of a parameter.

    As in ELECTRA (Clark et al. 2020, arXiv 2003.10555): the top layer learns at the full rate, each one below at
    ``decay`` of the one above, the embeddings at ``decay`` of the lowest layer. What stands next to the layers and is
    used by all of them (relative positions, norms) learns at the full rate.
    """
    if decay == 1:
        return lambda name: 1.0
    place, layers = layers_of(network.get_submodule(ENCODER.rstrip(".")), "layer_decay")
    depth, prefix = len(layers), f"{ENCODER}{place}."

    def factor(name: str) -> float:
        if name.startswith(prefix):
            return float(decay ** (depth - 1 - int(name.removeprefix(prefix).split(".")[0])))
        return (
            float(decay**depth) if "embeddings" in name.removeprefix(ENCODER).split(".")[0] else 1.0
        )

    return factor


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
    # No schedule, no warm-up: the SciDeBERTa paper (Jeong and Kim 2022) uses RAdam so, which warms up by itself.
    if config.schedule == "none":
        return lambda step: 1.0
    if config.schedule == "slanted_triangular":
        return lambda step: slanted(step, steps, config.warmup, config.schedule_ratio)
    power = config.schedule_power if config.schedule == "polynomial" else 1.0
    return lambda step: polynomial(step, steps, config.warmup, power)


def polynomial(step: int, steps: int, warmup: float, power: float = 1.0) -> float:
    """Rises linearly to 1 over a share of the steps, then falls to zero as a power of the share that is left.

    The SciDeBERTa paper (Jeong and Kim 2022) sets it with five epochs of warm-up, with AdamP: of 50 epochs
    a ``warmup`` of 0.1. ``power`` 1 is linear, the rates that BERT is fine-tuned with (Devlin et al. 2019, arXiv
    1810.04805, appendix A.2); above 1 the rates fall early, below 1 late.
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
        # Early weights are far from what they become; a constant decay would keep them for
        # hundreds of steps.
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
