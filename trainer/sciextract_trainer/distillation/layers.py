"""Which layer of the teacher a layer of the student stands for."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

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
            f"every {step}th layer from layer {first} on is no choice of a teacher's {depth} layers",
            f"allowed: a step of at least 1 and a first layer of 1 to {depth}",
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
    wrong = [each for each in layers if not 1 <= each <= teacher]
    if wrong or not layers:
        found = f"the teacher has no layer {wrong[0]}" if wrong else "no layer is named"
        raise UsageError(f"{given}: {found}", f"allowed: 1 (the lowest) to {teacher}")
    if any(after <= before for before, after in pairwise(layers)):
        raise UsageError(f"{given} do not ascend", "name each teacher layer once, the lowest first")
    return tuple(layers)
