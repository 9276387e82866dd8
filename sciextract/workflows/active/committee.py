"""How far the models of a committee differ about an abstract."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from itertools import pairwise

from sciextract.documents.annotations import Annotations
from sciextract.documents.spans import Span
from sciextract.workflows.active.decisions import Task

Mention = tuple[Span, ...]
Place = tuple[Task, tuple[Span, ...]]
Votes = Mapping[Place, Hashable]
"""What one model predicts, by what it is asked; a question that is not listed is answered "none"."""
NONE = ""


def votes_of(
    predicted: Annotations, symmetric: frozenset[str] = frozenset()
) -> dict[Place, Hashable]:
    """The answers of one model: the types of spans, relations of pairs, antecedents of mentions.

    Args:
        predicted: What it predicts, thresholds applied.
        symmetric: Relation labels without direction.
    """
    mentions = {each.id: each.fragments for each in predicted.entities}
    votes: dict[Place, Hashable] = {
        (Task.ENTITY, each.fragments): each.label for each in predicted.entities
    }
    for each in predicted.relations:
        head, tail = mentions[each.head], mentions[each.tail]
        turned = _start(tail) < _start(head)
        place = (*tail, *head) if turned else (*head, *tail)
        direction = turned and each.label not in symmetric
        votes[Task.RELATION, place] = (each.label, direction)
    for cluster in predicted.clusters:
        ordered = sorted((mentions[each] for each in cluster.mentions), key=_start)
        for earlier, later in pairwise(ordered):
            votes[Task.COREFERENCE, later] = earlier
    return votes


def vote_entropy(answers: Sequence[Hashable]) -> float:
    """Entropy of the votes on one question, from 0 (all agree) to 1 (all differ).

    ``-1 / log(C) * sum over answers a of V(a)/C * log(V(a)/C)`` for C models: query by committee (Seung,
    Opper and Sompolinsky 1992) with the measure of Dagan and Engelson 1995.

    >>> vote_entropy(["Task", "Method"]), vote_entropy(["Task", "Task"])
    (1.0, 0.0)
    """
    count = len(answers)
    if count < 2:
        return 0.0
    shares = [votes / count for votes in Counter(answers).values()]
    return -sum(each * math.log(each) for each in shares) / math.log(count) + 0.0


def disagreement_per_word(members: Sequence[Votes], words: int) -> dict[Task, float]:
    """Each task's vote entropy over all questions that any model answers, divided by the abstract's length.

    Args:
        members: What each model predicts.
        words: Tokens of the abstract.
    """
    sums = dict.fromkeys(Task, 0.0)
    for place in {place for votes in members for place in votes}:
        sums[place[0]] += vote_entropy([votes.get(place, NONE) for votes in members])
    return {task: total / max(1, words) for task, total in sums.items()}


def _start(mention: Mention) -> tuple[int, int]:
    return mention[0].char_start, mention[-1].char_end
