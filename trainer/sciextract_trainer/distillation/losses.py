"""The quantities that a student encoder is compared with its teacher by.

Each is a pure function of tensors that gives one number, and none of them moves the teacher. They are the parts
of the three objectives of Rohanian et al. 2022 (On the Effectiveness of Compact Biomedical Transformers,
arXiv 2209.03182; here: the compact-transformers paper), which :mod:`sciextract_trainer.distillation.objectives`
puts together.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional

SMALLEST = 1e-12
"""Added to attention weights before the logarithm, as in the code of the compact-transformers paper."""


def masked_cross_entropy(logits: Tensor, targets: Tensor) -> Tensor:
    """Cross-entropy with the pieces that were hidden, mean over the hidden positions.

    The masked-language part of DistilBioBERT and CompactBioBERT in the compact-transformers paper; the training
    objective of Devlin et al. 2019 (BERT, arXiv 1810.04805, section 3.1).

    Args:
        logits: (hidden positions, vocabulary).
        targets: int64 (hidden positions,).
    """
    return functional.cross_entropy(logits, targets)


def soft_divergence(student: Tensor, teacher: Tensor, temperature: float = 1.0) -> Tensor:
    """Kullback-Leibler divergence of the student's distribution from the teacher's, times temperature squared.

    T^2 * mean over positions of sum_v p_v (log p_v - log q_v), with p = softmax(teacher / T) and
    q = softmax(student / T). The output part of DistilBioBERT and CompactBioBERT in the compact-transformers
    paper, on the hidden positions. For DistilBioBERT the paper names no temperature and the authors' code has 2;
    for CompactBioBERT the code has 1. The factor T^2 keeps the size of the gradient (Hinton et al. 2015, Distilling the
    Knowledge in a Neural Network, arXiv 1503.02531, section 2).

    Args:
        student: Logits (positions, vocabulary).
        teacher: Logits (positions, vocabulary).
        temperature: T, above 0.
    """
    told = functional.log_softmax(student / temperature, dim=-1)
    wanted = functional.log_softmax(teacher.detach() / temperature, dim=-1)
    divergence = functional.kl_div(told, wanted, reduction="batchmean", log_target=True)
    return divergence * temperature**2


def soft_cross_entropy(student: Tensor, teacher: Tensor, temperature: float = 1.0) -> Tensor:
    """Cross-entropy of the student's distribution with the teacher's, mean over positions.

    - mean over positions of sum_v softmax(teacher / T)_v log softmax(student / T)_v: the output part of
    TinyBioBERT in the compact-transformers paper (T = 1), after the prediction-layer distillation of Jiao et al.
    2020 (TinyBERT, arXiv 1909.10351, section 3.1). It differs from the divergence by the teacher's entropy,
    which no student changes, so that the gradients are the same.

    Args:
        student: Logits (positions, vocabulary).
        teacher: Logits (positions, vocabulary).
        temperature: T, above 0.
    """
    wanted = functional.softmax(teacher.detach() / temperature, dim=-1)
    return functional.cross_entropy(student / temperature, wanted)


def cosine_distance(student: Tensor, teacher: Tensor, real: Tensor | None = None) -> Tensor:
    """1 - cosine of the two hidden states of a position, mean over positions.

    The alignment part of DistilBioBERT in the compact-transformers paper, on the last hidden states, and the hidden
    part of CompactBioBERT, on those of each layer.

    Args:
        student: (blocks, length, hidden).
        teacher: (blocks, length, hidden), as wide.
        real: bool (blocks, length), which positions hold text; all when ``None``.
    """
    distance = 1 - functional.cosine_similarity(student, teacher.detach(), dim=-1)
    return _mean(distance, real)


def hidden_error(student: Tensor, teacher: Tensor, real: Tensor | None = None) -> Tensor:
    """Mean squared error of hidden states, over positions and their numbers.

    The hidden and the embedding part of TinyBioBERT in the compact-transformers paper, after the
    transformer-layer and embedding-layer distillation of TinyBERT (arXiv 1909.10351, section 3.1); a narrower
    student is projected to the teacher's width first.

    Args:
        student: (blocks, length, hidden), projected.
        teacher: (blocks, length, hidden).
        real: bool (blocks, length), which positions hold text; all when ``None``.
    """
    return _mean((student - teacher.detach()).square().mean(dim=-1), real)


def attention_error(student: Tensor, teacher: Tensor, real: Tensor | None = None) -> Tensor:
    """Mean squared error of attention maps, over heads and pairs of positions.

    The attention part of TinyBioBERT in the compact-transformers paper, after the attention-based distillation of
    TinyBERT (arXiv 1909.10351, section 3.1). Like the code of the compact-transformers paper it compares the
    weights after the softmax; TinyBERT compares the scores before it.

    Args:
        student: (blocks, heads, queries, keys).
        teacher: (blocks, heads, queries, keys), with as many heads.
        real: bool (blocks, length), which positions hold text; all when ``None``.
    """
    error = (student - teacher.detach()).square().mean(dim=1)
    return _mean(error, None if real is None else real.unsqueeze(1) & real.unsqueeze(2))


def attention_divergence(student: Tensor, teacher: Tensor, real: Tensor | None = None) -> Tensor:
    """Kullback-Leibler divergence of attention maps, mean over heads and the positions that attend.

    mean over heads and queries of sum over keys k of a_k (log a_k - log b_k), with the teacher's weights a and
    the student's b: the attention part of CompactBioBERT in the compact-transformers paper. The authors' code divides
    by the number of keys, too, and so has it smaller by the length of a block.

    Args:
        student: (blocks, heads, queries, keys).
        teacher: (blocks, heads, queries, keys), with as many heads.
        real: bool (blocks, length), which positions hold text; all when ``None``. Keys that hold none have the
            weight 0 in both maps.
    """
    wanted = teacher.detach() + SMALLEST
    rows = (wanted * (wanted.log() - (student + SMALLEST).log())).sum(dim=-1)
    return _mean(rows.mean(dim=1), real)


def _mean(values: Tensor, real: Tensor | None) -> Tensor:
    """The mean of the values that count; zero when none does."""
    if real is None:
        return values.mean()
    counted = torch.where(real, values, torch.zeros_like(values))
    return counted.sum() / real.sum().clamp_min(1)
