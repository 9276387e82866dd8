"""What judgements of a sample say about all edges."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

ALL = "all"
_Z = 1.959964
"""Standard errors of a normal distribution on either side of 95 % of it."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """An edge that somebody looked at.

    Attributes:
        relation: Its type.
        correct: Whether its sentence says so; ``None`` where nobody has decided.
    """

    relation: str
    correct: bool | None


@dataclass(frozen=True, slots=True)
class Precision:
    """The share of edges that are right.

    Attributes:
        relation: The type, or ``all``.
        judged: How many were judged.
        correct: How many of them are right.
        low: Lower end of the 95 % interval, 0 to 1.
        high: Upper end.
    """

    relation: str
    judged: int
    correct: int
    low: float
    high: float

    @property
    def share(self) -> float:
        """The precision, 0 to 1."""
        return self.correct / self.judged

    def to_json(self) -> dict[str, Any]:
        """For ``--json``."""
        return {**asdict(self), "precision": self.share}


def precisions(judgements: Sequence[Judgement]) -> list[Precision]:
    """The precision of all judged edges, then of each relation type, the most frequent first."""
    decided = [each for each in judgements if each.correct is not None]
    if not decided:
        return []
    types: dict[str, list[Judgement]] = {}
    for each in decided:
        types.setdefault(each.relation, []).append(each)
    ordered = sorted(types.items(), key=lambda item: (-len(item[1]), item[0]))
    return [_precision(ALL, decided), *[_precision(name, some) for name, some in ordered]]


def wilson(correct: int, judged: int) -> tuple[float, float]:
    """The 95 % interval of a share (E. B. Wilson, Journal of the American Statistical Association 22, 1927).

    >>> [round(end, 3) for end in wilson(45, 50)]
    [0.786, 0.957]
    """
    share, weight = correct / judged, _Z**2 / judged
    middle = (share + weight / 2) / (1 + weight)
    reach = _Z * math.sqrt(share * (1 - share) / judged + weight / (4 * judged)) / (1 + weight)
    return max(0.0, middle - reach), min(1.0, middle + reach)


def _precision(name: str, judgements: Sequence[Judgement]) -> Precision:
    correct = sum(each.correct is True for each in judgements)
    return Precision(name, len(judgements), correct, *wilson(correct, len(judgements)))
