"""How scores become predictions: thresholds, temperatures, overlap."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields, replace
from math import exp
from typing import Any

from sciextract.errors import UsageError

TASKS = ("entity", "relation", "coreference")

PROMISED = ("entity", "relation")
"""The tasks that a precision can be promised for; a link is right or wrong only within its cluster."""

ATTRIBUTE = "attribute"
"""What is said of items and abstracts; models do not predict it, projects learn it."""

# Of 0.7, 0.8 and 0.9 the one that saved most keys on SciREX and SciERC (research/notes/learning.md).
SURE = dict.fromkeys((*PROMISED, ATTRIBUTE), 0.7)
"""The least precision by task of what the desk accepts at one key."""


@dataclass(frozen=True, slots=True)
class PerTask:
    """One number per task.

    >>> PerTask(0.5, 0.4, 0.5).relation
    0.4
    """

    entity: float
    relation: float
    coreference: float

    def to_json(self) -> dict[str, float]:
        """The three numbers by task name."""
        return asdict(self)

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> PerTask:
        """The inverse of :meth:`to_json`.

        Raises:
            KeyError: A task is missing.
        """
        return cls(*(float(values[field.name]) for field in fields(cls)))


PLAIN, UNMOVED = PerTask(1.0, 1.0, 1.0), PerTask(0.0, 0.0, 0.0)
"""Temperatures and shifts that change nothing."""


def calibrated_score(probability: float, temperature: float, shift: float) -> float:
    """The probability with the log-odds of another one, divided by a temperature and shifted.

    >>> calibrated_score(0.2, 1.0, 0.0), round(calibrated_score(0.2, 2.0, 0.0), 3)
    (0.2, 0.333)
    """
    # Exactly as it is, and not through two powers that round.
    if (temperature, shift) == (1, 0):
        return probability
    right = exp(shift) * probability ** (1 / temperature)
    return float(right / (right + (1 - probability) ** (1 / temperature)))


@dataclass(frozen=True, slots=True)
class Rescue:
    """What an entity below the threshold needs in order to be predicted for the sake of a relation.

    Attributes:
        entity: Least probability (0 to 1) of its label.
        relation: Least probability of a relation between it and an entity above the threshold.
    """

    entity: float
    relation: float


@dataclass(frozen=True, slots=True)
class DecodeSettings:
    """How scores become predictions.

    Attributes:
        thresholds: Least probability (0 to 1) of a predicted entity label, relation label, link.
        temperatures: Divisors of the log-odds of scores, fitted on dev; 1 leaves them as they are.
        shifts: What is then added to the log-odds; 0 leaves them as they are. Temperatures and shifts change what
            scores say, never what is predicted: thresholds are on the scale of the scores that are shown.
        rescue: What lets an entity below the threshold be predicted; nothing does when ``None``.
        nesting: Whether a predicted entity may lie inside another one.
        max_antecedents: How many earlier mentions a mention is compared with.
        candidates: Whether to report also what stayed below the thresholds.
        candidate_score: Least probability of a reported candidate.
        only: Entity labels to look for, as if the model had no others; all of them when empty.
        promised: Task, label and least score of what is written where a precision is promised; see
            :mod:`sciextract.inference.promise`.
    """

    thresholds: PerTask = PerTask(0.5, 0.5, 0.5)
    temperatures: PerTask = PLAIN
    shifts: PerTask = UNMOVED
    rescue: Rescue | None = None
    nesting: bool = False
    max_antecedents: int = 100
    candidates: bool = False
    candidate_score: float = 0.05
    only: frozenset[str] = frozenset()
    promised: tuple[tuple[str, str, float], ...] = ()

    @property
    def calibrated(self) -> bool:
        """Whether scores are other than the network's own probabilities."""
        return (self.temperatures, self.shifts) != (PLAIN, UNMOVED)

    @property
    def plain(self) -> DecodeSettings:
        """The settings that predict the same from probabilities as the network has them."""
        if not self.calibrated:
            return self
        entity, relation, coreference = (
            self._plain(task, getattr(self.thresholds, task)) for task in TASKS
        )
        rescue = self.rescue and Rescue(
            self._plain("entity", self.rescue.entity), self._plain("relation", self.rescue.relation)
        )
        least, score = PerTask(entity, relation, coreference), self.candidate_score
        own = replace(self, temperatures=PLAIN, shifts=UNMOVED, rescue=rescue)
        return replace(own, thresholds=least, candidate_score=self._plain("entity", score))

    def _plain(self, task: str, score: float) -> float:
        """The network's own probability of a score."""
        temperature, shift = getattr(self.temperatures, task), getattr(self.shifts, task)
        return calibrated_score(score, 1 / temperature, -shift * temperature)

    def with_thresholds(self, changes: dict[str, float]) -> DecodeSettings:
        """Settings with some thresholds replaced.

        Who sets the threshold of entities or relations gets what reaches it and nothing else: no entity is rescued.

        Raises:
            UsageError: A task is unknown or a threshold lies outside 0 to 1.
        """
        for task, value in changes.items():
            if task not in TASKS or not 0 <= value <= 1:
                raise UsageError(
                    f"threshold {task}={value} is not possible",
                    f"tasks are {', '.join(TASKS)}; thresholds lie between 0 and 1",
                )
        rescue = None if {"entity", "relation"} & changes.keys() else self.rescue
        return replace(self, thresholds=replace(self.thresholds, **changes), rescue=rescue)
