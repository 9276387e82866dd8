"""Scale-invariant fine-tuning (He et al. 2020, arXiv 2006.03654, section 4), for recipes with ``network = "sift"``.

A document is read once more with its layer-normalised embeddings moved a little, each word as far, to where the span
scores change most; how far they change (symmetric Kullback-Leibler divergence) is added to the loss of entities. To
find that direction takes a third pass, so that a step takes about three times as long.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from sciextract.inference.pipeline import Labels
from sciextract_trainer.build import JOINT
from sciextract_trainer.config import TrainConfig
from sciextract_trainer.data.examples import Batch
from sciextract_trainer.network.joint import JointNetwork
from sciextract_trainer.network.training_step import Losses, batch_losses

SIZE = 0.01
"""How far each embedding is moved, in deviations of its own numbers: a larger embedding is moved farther."""
WEIGHT = 1.0


def moved_logits(network: JointNetwork, batch: Batch, move: Tensor) -> Tensor:
    """Span logits with embeddings moved by ``move`` deviations; that has the shape of the embeddings."""

    def shift(module: Any, inputs: Any, output: Tensor) -> Tensor:
        return output + move * output.std(dim=-1, keepdim=True).detach()

    norm: Any = network.get_submodule("words.encoder.embeddings.LayerNorm")
    handle = norm.register_forward_hook(shift)
    try:
        ids = batch.input_ids, batch.attention_mask, batch.word_first, batch.word_last
        logits: Tensor = network(*ids)[2]
        return logits
    finally:
        handle.remove()


def divergence(one: Tensor, other: Tensor) -> Tensor:
    """Symmetric Kullback-Leibler divergence, summed over spans. Shapes: both (spans, types)."""
    first, second = one.log_softmax(dim=-1), other.log_softmax(dim=-1)
    summed: Tensor = ((first.exp() - second.exp()) * (first - second)).sum()
    return summed


def unit_move(gradient: Tensor) -> Tensor:
    """The move along a gradient: ``SIZE`` deviations of every embedding, however large its gradient is."""
    direction: Tensor = functional.normalize(gradient, dim=-1)
    return SIZE * math.sqrt(gradient.shape[-1]) * direction


def sift_losses(network: JointNetwork, batch: Batch, config: TrainConfig, labels: Labels) -> Losses:
    """The losses of the joint network, with that of consistency among those of entities."""
    dropout, clean = torch.get_rng_state(), []
    handle = network.spans.register_forward_hook(lambda module, inputs, out: clean.append(out))
    losses = batch_losses(network, batch, config, labels.relations)
    handle.remove()
    after = torch.get_rng_state()
    spans = torch.from_numpy(np.concatenate([example.allowed for example in batch.examples]))
    shape = (*batch.input_ids.shape, network.spans.first.in_features)
    move = torch.zeros(shape).normal_().to(clean[0].device)
    move = unit_move(move).requires_grad_()
    # The same words are dropped in all passes: what changes is due to the move alone.
    torch.set_rng_state(dropout)
    change = divergence(moved_logits(network, batch, move)[spans], clean[0][spans].detach())
    [gradient] = torch.autograd.grad(change, move)
    torch.set_rng_state(dropout)
    change = divergence(moved_logits(network, batch, unit_move(gradient))[spans], clean[0][spans])
    torch.set_rng_state(after)
    return replace(losses, entity=losses.entity + WEIGHT * change)


FAMILY = replace(JOINT, losses=sift_losses)
