"""How unsure a model is: of one decision, and of a whole abstract."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence

from sciextract.workflows.active.decisions import Decision, Task

Measure = Callable[[Sequence[float]], float]
"""The uncertainty of a distribution: 0 where one outcome is certain."""
TaskScores = Mapping[Task, float]


def entropy(probabilities: Sequence[float]) -> float:
    """Shannon's entropy in bits: ``-sum(p * log2(p))`` (Shannon 1948, section 6; Settles 2009, section 3.1).

    >>> entropy([0.5, 0.5])
    1.0
    """
    return -sum(each * math.log2(each) for each in probabilities if each > 0) + 0.0


def margin(probabilities: Sequence[float]) -> float:
    """``1 - (p1 - p2)`` of the two likeliest outcomes (Scheffer, Decomain and Wrobel 2001).

    >>> margin([0.5, 0.5]), margin([1.0])
    (1.0, 0.0)
    """
    first, second, *_ = *sorted(probabilities, reverse=True), 0.0, 0.0
    return 1 - (first - second)


def least_confidence(probabilities: Sequence[float]) -> float:
    """``1 - p1`` of the likeliest outcome (after Lewis and Gale 1994; for many classes Settles 2009, section 3.1).

    >>> least_confidence([0.75, 0.25])
    0.25
    """
    return 1 - max(probabilities)


MEASURES: Mapping[str, Measure] = {
    "entropy": entropy,
    "margin": margin,
    "least-confidence": least_confidence,
}


def per_word(decisions: Iterable[Decision], words: int, measure: Measure) -> dict[Task, float]:
    """Each task's uncertainty over all decisions of an abstract, divided by its length.

    Summed only, long abstracts would always come first (Settles and Craven 2008, section 3.1, compare total
    and mean entropy of sequences); a mean over decisions would forget how many there are.

    Args:
        decisions: Those that count.
        words: Tokens of the abstract.
        measure: Of one decision.
    """
    sums = dict.fromkeys(Task, 0.0)
    for each in decisions:
        sums[each.task] += measure(each.probabilities)
    return {task: total / max(1, words) for task, total in sums.items()}


def over_tasks(scores: Sequence[TaskScores]) -> list[float]:
    """One number for each abstract of a pool: the mean over tasks, each relative to its mean in the pool.

    ``score(d) = mean over tasks t of U_t(d) / mean over pool of U_t``, so that entities, of which there are
    many, do not drown relations and links. An abstract of average uncertainty has 1. A task of which the
    model is certain throughout the pool is left out.
    """
    means = {task: sum(each[task] for each in scores) / max(1, len(scores)) for task in Task}
    heard = [task for task in Task if means[task] > 0]
    return [
        sum(each[task] / means[task] for task in heard) / len(heard) if heard else 0.0
        for each in scores
    ]
