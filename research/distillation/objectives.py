"""The three objectives of the compact-transformers paper (Rohanian et al. 2022, arXiv 2209.03182).

Each gives its parts before they are weighted; the weights are in :mod:`research.distillation.pair`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import torch
from torch import Tensor
from torch.nn import functional

from research.pretraining.network import EncoderOutputs
from sciextract.errors import UsageError

Layers = tuple[int, ...]
"""Numbers of teacher layers, counted from 1 (the lowest); the first one is for the student's first layer."""


def every_layer(step: int, first: int, depth: int) -> Layers:
    """Each ``step``-th layer of a teacher, from ``first`` on.

    DistilBioBERT begins with layers 1, 3, 5 of its teacher, CompactBioBERT with layers 2, 4, 6 (code of the
    compact-transformers paper).

    >>> every_layer(2, 1, 6), every_layer(2, 2, 6)
    ((1, 3, 5), (2, 4, 6))

    Raises:
        UsageError: No layer is left.
    """
    if step < 1 or not 1 <= first <= depth:
        raise UsageError(
            f"cannot take every {step}th layer from layer {first} on of a teacher with {depth} layers",
            f"expected a step of at least 1 and a first layer of 1 to {depth}",
        )
    return tuple(range(first, depth + 1, step))


def last_of_blocks(student: int, teacher: int) -> Layers:
    """The last layer of each of as many equal blocks of the teacher as the student has layers.

    The uniform mapping of TinyBERT (Jiao et al. 2020, arXiv 1909.10351, section 3.1), which the
    compact-transformers paper takes over for TinyBioBERT and CompactBioBERT.

    >>> last_of_blocks(4, 12)
    (3, 6, 9, 12)

    Raises:
        UsageError: The teacher's layers do not make equal blocks.
    """
    if student > teacher or teacher % student:
        raise UsageError(
            f"the {teacher} layers of the teacher do not make {student} equal blocks, one for each "
            "layer of the student",
            f"name one teacher layer of 1 to {teacher} for each of the {student}: layers = [...]",
        )
    return every_layer(teacher // student, teacher // student, teacher)


def checked(layers: Sequence[int], student: int, teacher: int) -> Layers:
    """A mapping that fits both encoders.

    Raises:
        UsageError: It has too many or too few layers, or they are unknown or not ascending.
    """
    given = f"layers = {list(layers)}"
    if len(layers) != student:
        raise UsageError(
            f"{given} has {len(layers)} numbers, but the student has {student} layers",
            "name one teacher layer for each layer of the student",
        )
    return ascending(layers, teacher)


def ascending(layers: Sequence[int], teacher: int) -> Layers:
    """Layers that a teacher has, each above the one before.

    Raises:
        UsageError: There are none, the teacher has no such layer, or they do not ascend.
    """
    given = f"layers = {list(layers)}"
    wrong = [layer for layer in layers if not 1 <= layer <= teacher]
    if wrong or not layers:
        found = f"the teacher has no layer {wrong[0]}" if wrong else "no layer is named"
        raise UsageError(f"{given}: {found}", f"expected 1 (the lowest) to {teacher}")
    if any(after <= before for before, after in pairwise(layers)):
        raise UsageError(f"{given} do not ascend", "name each teacher layer once, the lowest first")
    return tuple(layers)


SMALLEST = 1e-12
"""Added to attention weights before the logarithm, as in the code of the compact-transformers paper."""


def masked_cross_entropy(logits: Tensor, targets: Tensor) -> Tensor:
    """Cross-entropy with the subwords that were hidden, mean over the hidden positions.

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
    log_probabilities = functional.log_softmax(student / temperature, dim=-1)
    wanted = functional.log_softmax(teacher.detach() / temperature, dim=-1)
    divergence = functional.kl_div(
        log_probabilities, wanted, reduction="batchmean", log_target=True
    )
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


Parts = dict[str, Tensor]


@dataclass(frozen=True, slots=True)
class LossInputs:
    """What teacher and student tell of the same blocks.

    Attributes:
        student: Its hidden states are projected to the teacher's width where it is narrower.
        teacher: The same of the teacher, without gradients.
        targets: int64 (chosen,), the subwords that were hidden.
        layers: The teacher layer that each layer of the student stands for, counted from 1.
        temperature: Of the output distributions.
        real: bool (blocks, length), which positions hold text; all when ``None``.
    """

    student: EncoderOutputs
    teacher: EncoderOutputs
    targets: Tensor
    layers: Layers
    temperature: float = 1.0
    real: Tensor | None = None


Objective = Callable[[LossInputs], Parts]


def distilbio(inputs: LossInputs) -> Parts:
    """The parts of DistilBioBERT: masked tokens, soft outputs, direction of the last hidden states.

    Compact-transformers paper, the section on DistilBioBERT: masked-language loss (weight 2), Kullback-Leibler
    divergence of the output distributions on the hidden positions (5), and 1 - cosine of the last hidden states (1);
    after DistilBERT (Sanh et al. 2019, arXiv 1910.01108, section 2).
    """
    student, teacher = inputs.student, inputs.teacher
    return {
        "mlm": masked_cross_entropy(student.logits, inputs.targets),
        "output": soft_divergence(student.logits, teacher.logits, inputs.temperature),
        "hidden": cosine_distance(student.hidden[-1], teacher.hidden[-1], inputs.real),
    }


def tinybio(inputs: LossInputs) -> Parts:
    """The parts of TinyBioBERT: layer by layer hidden states and attention, embeddings, soft outputs.

    Compact-transformers paper, the section on TinyBioBERT: the sum over layers of the mean squared errors of
    projected hidden states and of attention maps, the mean squared error of the projected embeddings, and the soft
    cross-entropy of the outputs, all with weight 1 and without the masked-language loss.
    """
    student, teacher = inputs.student, inputs.teacher
    pairs = list(enumerate(inputs.layers, 1))
    return {
        "output": soft_cross_entropy(student.logits, teacher.logits, inputs.temperature),
        "embedding": hidden_error(student.hidden[0], teacher.hidden[0], inputs.real),
        "hidden": _sum(
            hidden_error(student.hidden[own], teacher.hidden[other], inputs.real)
            for own, other in pairs
        ),
        "attention": _sum(
            attention_error(student.attentions[own - 1], teacher.attentions[other - 1], inputs.real)
            for own, other in pairs
        ),
    }


def compactbio(inputs: LossInputs) -> Parts:
    """The parts of CompactBioBERT: masked tokens, soft outputs, layer by layer direction and attention.

    Compact-transformers paper, the section on CompactBioBERT: masked-language loss (weight 1), Kullback-Leibler
    divergence of the output distributions on the hidden positions (5), and the sum over layers of 1 - cosine of the
    hidden states and the Kullback-Leibler divergence of the attention maps (3).
    """
    student, teacher = inputs.student, inputs.teacher
    pairs = list(enumerate(inputs.layers, 1))
    return {
        "mlm": masked_cross_entropy(student.logits, inputs.targets),
        "output": soft_divergence(student.logits, teacher.logits, inputs.temperature),
        "hidden": _sum(
            cosine_distance(student.hidden[own], teacher.hidden[other], inputs.real)
            for own, other in pairs
        ),
        "attention": _sum(
            attention_divergence(
                student.attentions[own - 1], teacher.attentions[other - 1], inputs.real
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
