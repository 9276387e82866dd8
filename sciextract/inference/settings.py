"""How scores become predictions: thresholds, temperatures, overlap."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields, replace
from typing import Any

from sciextract.errors import UsageError

TASKS = ("entity", "relation", "coreference")


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


@dataclass(frozen=True, slots=True)
class DecodeSettings:
    """How scores become predictions.

    Attributes:
        thresholds: Least probability (0 to 1) of a predicted entity label, relation label, link.
        temperatures: Divisors of the logits, fitted on dev; 1 leaves them as they are.
        nesting: Whether a predicted entity may lie inside another one.
        max_antecedents: How many earlier mentions a mention is compared with.
        candidates: Whether to report also what stayed below the thresholds.
        candidate_score: Least probability of a reported candidate.
    """

    thresholds: PerTask = PerTask(0.5, 0.5, 0.5)
    temperatures: PerTask = PerTask(1.0, 1.0, 1.0)
    nesting: bool = False
    max_antecedents: int = 100
    candidates: bool = False
    candidate_score: float = 0.05

    def with_thresholds(self, changes: dict[str, float]) -> DecodeSettings:
        """Settings with some thresholds replaced.

        Raises:
            UsageError: A task is unknown or a threshold lies outside 0 to 1.
        """
        for task, value in changes.items():
            if task not in TASKS or not 0 <= value <= 1:
                raise UsageError(
                    f"threshold {task}={value} is not possible",
                    f"tasks are {', '.join(TASKS)}; thresholds lie between 0 and 1",
                )
        return replace(self, thresholds=replace(self.thresholds, **changes))
