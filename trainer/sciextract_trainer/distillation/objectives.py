"""The three objectives of the compact-transformers paper (Rohanian et al. 2022, arXiv 2209.03182).

Each gives its parts before they are weighted; the weights are in :mod:`sciextract_trainer.distillation.config`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from sciextract_trainer.distillation.layers import Layers
from sciextract_trainer.distillation.losses import (
    attention_divergence,
    attention_error,
    cosine_distance,
    hidden_error,
    masked_cross_entropy,
    soft_cross_entropy,
    soft_divergence,
)
from sciextract_trainer.pretrain.network import Told

Parts = dict[str, Tensor]


@dataclass(frozen=True, slots=True)
class Lesson:
    """What teacher and student tell of the same blocks.

    Attributes:
        student: Its hidden states are projected to the teacher's width where it is narrower.
        teacher: Told without gradients.
        targets: int64 (chosen,), the pieces that were hidden.
        layers: The teacher layer that each layer of the student stands for, counted from 1.
        temperature: Of the output distributions.
        real: bool (blocks, length), which positions hold text; all when ``None``.
    """

    student: Told
    teacher: Told
    targets: Tensor
    layers: Layers
    temperature: float = 1.0
    real: Tensor | None = None


Objective = Callable[[Lesson], Parts]


def distilbio(lesson: Lesson) -> Parts:
    """The parts of DistilBioBERT: hidden pieces, soft outputs, direction of the last hidden states.

    Compact-transformers paper, the section on DistilBioBERT: masked-language loss (weight 2), Kullback-Leibler
    divergence of the output distributions on the hidden positions (5), and 1 - cosine of the last hidden states (1);
    after DistilBERT (Sanh et al. 2019, arXiv 1910.01108, section 2).
    """
    student, teacher = lesson.student, lesson.teacher
    return {
        "mlm": masked_cross_entropy(student.logits, lesson.targets),
        "output": soft_divergence(student.logits, teacher.logits, lesson.temperature),
        "hidden": cosine_distance(student.hidden[-1], teacher.hidden[-1], lesson.real),
    }


def tinybio(lesson: Lesson) -> Parts:
    """The parts of TinyBioBERT: layer by layer hidden states and attention, embeddings, soft outputs.

    Compact-transformers paper, the section on TinyBioBERT: the sum over layers of the mean squared errors of
    projected hidden states and of attention maps, the mean squared error of the projected embeddings, and the soft
    cross-entropy of the outputs, all with weight 1 and without the masked-language loss.
    """
    student, teacher = lesson.student, lesson.teacher
    pairs = list(enumerate(lesson.layers, 1))
    return {
        "output": soft_cross_entropy(student.logits, teacher.logits, lesson.temperature),
        "embedding": hidden_error(student.hidden[0], teacher.hidden[0], lesson.real),
        "hidden": _sum(
            hidden_error(student.hidden[own], teacher.hidden[other], lesson.real)
            for own, other in pairs
        ),
        "attention": _sum(
            attention_error(student.attentions[own - 1], teacher.attentions[other - 1], lesson.real)
            for own, other in pairs
        ),
    }


def compactbio(lesson: Lesson) -> Parts:
    """The parts of CompactBioBERT: hidden pieces, soft outputs, layer by layer direction and attention.

    Compact-transformers paper, the section on CompactBioBERT: masked-language loss (weight 1), Kullback-Leibler
    divergence of the output distributions on the hidden positions (5), and the sum over layers of 1 - cosine of the
    hidden states and the Kullback-Leibler divergence of the attention maps (3).
    """
    student, teacher = lesson.student, lesson.teacher
    pairs = list(enumerate(lesson.layers, 1))
    return {
        "mlm": masked_cross_entropy(student.logits, lesson.targets),
        "output": soft_divergence(student.logits, teacher.logits, lesson.temperature),
        "hidden": _sum(
            cosine_distance(student.hidden[own], teacher.hidden[other], lesson.real)
            for own, other in pairs
        ),
        "attention": _sum(
            attention_divergence(
                student.attentions[own - 1], teacher.attentions[other - 1], lesson.real
            )
            for own, other in pairs
        ),
    }


@dataclass(frozen=True, slots=True)
class Method:
    """One of the objectives, and what it asks of teacher and student.

    Attributes:
        objective: Its parts.
        parts: Their names.
        layerwise: Whether it compares hidden states and attention maps layer by layer.
        projects: Whether a narrower student is projected to the teacher's width.
    """

    objective: Objective
    parts: tuple[str, ...]
    layerwise: bool
    projects: bool


METHODS = {
    "distilbio": Method(distilbio, ("mlm", "output", "hidden"), False, False),
    "tinybio": Method(tinybio, ("output", "embedding", "hidden", "attention"), True, True),
    "compactbio": Method(compactbio, ("mlm", "output", "hidden", "attention"), True, False),
}


def weighted(parts: Mapping[str, Tensor], weights: Mapping[str, float]) -> Tensor:
    """The loss that is trained on: the sum of the parts, each times its weight."""
    return _sum(weights[name] * part for name, part in parts.items())


def _sum(parts: Iterable[Tensor]) -> Tensor:
    return torch.stack(list(parts)).sum()
