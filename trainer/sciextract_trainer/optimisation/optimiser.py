"""The optimisers of the SciDeBERTa paper, with two learning rates and two weight decays.

- ``adamw``: Loshchilov and Hutter 2019 (arXiv 1711.05101); weight decay apart from the gradient.
- ``adam``: Kingma and Ba 2015 (arXiv 1412.6980); weight decay is added to the gradient (an L2 penalty), so that it
  is scaled like it.
- ``adamp``: Heo et al. 2021 (arXiv 2006.08217), :class:`~sciextract_trainer.optimisation.adamp.AdamP`.
- ``radam``: Liu et al. 2020 (arXiv 1908.03265) as in torch, with decoupled weight decay. It corrects the variance
  of early steps, which warm-up otherwise is for; the SciDeBERTa paper uses it without a schedule. That paper's
  Algorithm 2 differs from Liu et al. by slips: torch, followed here, takes rho_inf = 2 / (1 - beta2) - 1 and
  r_t = sqrt((rho_t - 4) (rho_t - 2) rho_inf / ((rho_inf - 4) (rho_inf - 2) rho_t)), and adapts from rho_t > 5 on,
  where the paper says 4.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch import nn
from torch.optim import Adam, AdamW, Optimizer, RAdam

from sciextract_trainer.config import TrainConfig
from sciextract_trainer.encoders.layers import layers_of
from sciextract_trainer.optimisation.adamp import AdamP

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
