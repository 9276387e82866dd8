"""Losses over target distributions; gold targets are one-hot, a teacher's are soft."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional


def soft_cross_entropy(logits: Tensor, targets: Tensor) -> Tensor:
    """Summed cross-entropy of distributions. Shapes: both (items, classes)."""
    return -(targets * functional.log_softmax(logits, dim=-1)).sum()


def antecedent_log_probabilities(scores: Tensor, links: Tensor, count: int) -> Tensor:
    """Scores (links,) as log-probabilities (mentions, 1 + mentions); column 0 is "no antecedent"."""
    table = scores.new_full((count, count + 1), float("-inf"))
    table[:, 0] = 0.0
    table = table.index_put((links[:, 0], links[:, 1] + 1), scores)
    return functional.log_softmax(table, dim=-1)


def marginal_link_loss(scores: Tensor, links: Tensor, gold: Tensor, count: int) -> Tensor:
    """Negative marginal log-likelihood of the gold antecedents (Lee et al. 2017, section 5).

    Args:
        scores: (links,) antecedent scores.
        links: int64 (links, 2), mention and antecedent.
        gold: bool (links,), whether both belong to one gold cluster.
        count: Number of mentions; those without a gold antecedent should choose "none".
    """
    logs = antecedent_log_probabilities(scores, links, count)
    right = torch.zeros_like(logs, dtype=torch.bool)
    right[links[gold, 0], links[gold, 1] + 1] = True
    right[:, 0] = ~right.any(dim=1)
    return -torch.logsumexp(logs.masked_fill(~right, float("-inf")), dim=1).sum()


def soft_link_loss(scores: Tensor, links: Tensor, weights: Tensor, count: int) -> Tensor:
    """Cross-entropy against a teacher's antecedent probabilities; the rest is "no antecedent".

    Args:
        scores: (links,) antecedent scores.
        links: int64 (links, 2).
        weights: (links,) probability of each link, 0 where the teacher has none.
        count: Number of mentions.
    """
    logs = antecedent_log_probabilities(scores, links, count)
    mass = scores.new_zeros(count).index_add(0, links[:, 0], weights)
    chosen = logs[links[:, 0], links[:, 1] + 1]
    return -(weights * chosen).sum() - ((1 - mass).clamp(min=0) * logs[:, 0]).sum()
