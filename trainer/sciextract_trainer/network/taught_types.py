"""Entity types of documents that were annotated for some of them only: what is untaught stays out of the loss."""

from __future__ import annotations

import torch
from torch import Tensor

from sciextract.inference.type_groups import Columns
from sciextract_trainer.data.batches import Batch
from sciextract_trainer.data.examples import Bools, Example, Floats
from sciextract_trainer.network.losses import soft_cross_entropy


def likely_types(logits: Tensor, groups: Columns) -> Tensor:
    """Type probabilities (words, max width, types) as inference has them, without a way back for gradients."""
    logits = logits.detach()
    if not groups:
        return torch.softmax(logits, dim=-1)
    found = torch.empty_like(logits)
    none = torch.ones_like(logits[..., 0])
    for classes in groups:
        within = torch.softmax(logits[..., [0, *classes]], dim=-1)
        found[..., list(classes)] = within[..., 1:]
        none = torch.minimum(none, within[..., 0])
    found[..., 0] = none
    return found


def taught_entity_loss(
    logits: Tensor, targets: Floats, known: Bools, batch: Batch, groups: Columns
) -> Tensor:
    """Summed cross-entropy of the softmax over "no entity" and the types that a document teaches, group by group.

    Args:
        logits: (words, max width, types).
        targets: float32 (words, max width, types), target distributions.
        known: bool (words, max width), cells whose type is known.
        batch: The documents.
        groups: Classes that exclude each other; all do when there are none.
    """
    wanted = torch.from_numpy(targets).to(logits.device)
    cells = torch.from_numpy(known).to(logits.device)
    if not groups and all(example.targets.taught is None for example in batch.examples):
        return soft_cross_entropy(logits[cells], wanted[cells])
    loss = logits.new_zeros(())
    for example, start, end in zip(batch.examples, batch.offsets, batch.offsets[1:], strict=False):
        here = cells[start:end]
        own, aims = logits[start:end][here], wanted[start:end][here]
        for classes in _taught_classes(example, groups, logits.shape[-1]):
            loss = loss + soft_cross_entropy(own[:, [0, *classes]], _with_rest(aims, classes))
    return loss


def _taught_classes(example: Example, groups: Columns, count: int) -> list[list[int]]:
    """Per group the classes that the document teaches; groups of which it teaches none are left out."""
    taught = example.targets.taught
    every = groups or (tuple(range(1, count)),)
    known = [[each for each in group if taught is None or taught[each]] for group in every]
    return [classes for classes in known if classes]


def _with_rest(targets: Tensor, classes: list[int]) -> Tensor:
    """Targets (cells, 1 + classes): the other classes count as "no entity"."""
    chosen = targets[:, classes]
    return torch.cat([1 - chosen.sum(dim=1, keepdim=True), chosen], dim=1)
