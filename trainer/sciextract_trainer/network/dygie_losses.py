"""Losses of the DyGIE++ network: sums over spans, pruned pairs and kept mentions."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from sciextract_trainer.network.dygie import DocumentScores, DygieNetwork
from sciextract_trainer.network.dygie_data import SentenceBatch, SentenceTargets
from sciextract_trainer.network.dygie_heads import Antecedents
from sciextract_trainer.network.losses import marginal_link_loss
from sciextract_trainer.network.training_step import Losses


def sentence_losses(network: DygieNetwork, batch: SentenceBatch) -> Losses:
    """Losses of all three tasks over one batch."""
    parts = [
        _document_losses(scores, example.targets)
        for scores, example in zip(network(batch), batch.examples, strict=True)
    ]
    entity, relation, coreference = torch.stack([torch.stack(part) for part in parts]).sum(0)
    return Losses(entity, relation, coreference)


def _document_losses(
    scores: DocumentScores, targets: SentenceTargets
) -> tuple[Tensor, Tensor, Tensor]:
    device = scores.entities.device
    types = torch.from_numpy(targets.types).to(device)
    entity = cross_entropy(scores.entities, types, reduction="sum")
    wanted = relation_classes(scores.pairs, torch.from_numpy(targets.relations).to(device))
    relation = cross_entropy(scores.relations, wanted, reduction="sum")
    coreference = entity.new_zeros(())
    if scores.antecedents is not None:
        clusters = torch.from_numpy(targets.clusters).to(device)
        coreference = _coreference_loss(scores.antecedents, clusters)
    return entity, relation, coreference


def relation_classes(pairs: Tensor, relations: Tensor) -> Tensor:
    """Gold class of each pair (pairs,), 0 where ``relations`` (relations, 3) does not name it."""
    same = (pairs[:, None, :] == relations[None, :, :2]).all(dim=2)  # (pairs, relations)
    return (same * relations[:, 2]).sum(dim=1)


def _coreference_loss(antecedents: Antecedents, clusters: Tensor) -> Tensor:
    own = clusters[antecedents.mentions]
    late, early = own[antecedents.links[:, 0]], own[antecedents.links[:, 1]]
    gold = (late == early) & (late >= 0)
    return marginal_link_loss(antecedents.scores, antecedents.links, gold, len(own))
