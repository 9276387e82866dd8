"""Which attention heads matter (Michel et al. 2019, Are Sixteen Heads Really Better than One?, arXiv 1905.10650)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor

from sciextract.errors import UsageError
from sciextract.inference.pipeline import Labels
from sciextract_trainer.config import TrainConfig
from sciextract_trainer.data.batches import collate
from sciextract_trainer.data.examples import Example
from sciextract_trainer.encoders.heads import attentions, head_count, head_size
from sciextract_trainer.network.joint import JointNetwork
from sciextract_trainer.network.training_step import batch_losses

Importance = list[list[float]]
"""Of each head of each layer, from 0 up; the squares of a layer sum to 1."""


def head_importance(
    network: JointNetwork,
    examples: Sequence[Example],
    config: TrainConfig,
    labels: Labels,
    pad: int,
) -> Importance:
    """Mean absolute derivative of the loss with respect to a gate of 1 on each head.

    Equation 2 of the paper, one document a time; each layer is then divided by its length, as in its section 4.1.

    Args:
        network: A trained network; it is put into eval mode.
        examples: Gold documents.
        config: Weights of the losses.
        labels: What the classes mean.
        pad: Id of the padding piece.
    """
    network.eval()
    with _gates(network) as gates:
        sums = [torch.zeros_like(gate) for gate in gates]
        for example in examples:
            losses = batch_losses(network, collate([example], pad), config, labels.relations)
            gradients = torch.autograd.grad(losses.total(config), gates)
            for total, gradient in zip(sums, gradients, strict=True):
                total += gradient.abs()
    return [(each / each.norm().clamp(min=1e-12)).tolist() for each in sums]


@contextmanager
def _gates(network: JointNetwork) -> Iterator[list[Tensor]]:
    """A factor of 1 on the output of every head, for the length of a block."""
    blocks = attentions(network.words.encoder)
    gates = [torch.ones(head_count(block), requires_grad=True) for block in blocks]
    hooks = [
        block.output.dense.register_forward_pre_hook(_gated(gate, head_size(block)))
        for block, gate in zip(blocks, gates, strict=True)
    ]
    try:
        yield gates
    finally:
        for hook in hooks:
            hook.remove()


def _gated(gate: Tensor, size: int) -> Any:
    def apply(_: Any, inputs: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        return (inputs[0] * gate.repeat_interleave(size), *inputs[1:])

    return apply


def least_important(importance: Importance, share: float) -> dict[int, list[int]]:
    """The heads to remove, layer to heads: the least important ones of all layers together; one stays in each.

    Raises:
        UsageError: The share is not between 0 and 1.

    >>> least_important([[0.1, 0.9], [0.2, 0.3]], 0.5)
    {0: [0], 1: [0]}
    """
    if not 0 < share < 1:
        raise UsageError(f"--share {share} is not possible", "it lies between 0 and 1")
    ranked = sorted(
        (value, layer, head)
        for layer, heads in enumerate(importance)
        for head, value in enumerate(heads)
    )
    removed: dict[int, list[int]] = {}
    wanted = round(share * len(ranked))
    for _, layer, head in ranked:
        gone = removed.get(layer, [])
        if wanted and len(gone) + 1 < len(importance[layer]):
            removed[layer] = sorted([*gone, head])
            wanted -= 1
    return dict(sorted(removed.items()))
