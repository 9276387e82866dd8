"""What a comparison of two models says: scores before and after, intervals, the verdict and its reasons."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

Verdict = Literal["promote", "keep", "too few"]
_CHANCE = "probability"


@dataclass(frozen=True, slots=True)
class Difference:
    """One score of both models.

    Attributes:
        documents: Documents that were scored: those whose layer is complete.
        gold: Gold items in them; clusters for coreference.
        before: F1 of the earlier model, 0 to 100.
        after: F1 of the later model, 0 to 100.
        low: Lower end of the 90 % interval of the difference, in F1.
        high: Upper end of it.
        probability: How likely the later model is better on other documents of the kind, 0 to 1.
    """

    documents: int
    gold: int
    before: float
    after: float
    low: float
    high: float
    probability: float

    @property
    def difference(self) -> float:
        """F1 of the later model less that of the earlier one."""
        return self.after - self.before

    def to_json(self) -> dict[str, float]:
        """Plain values; scores with two digits."""
        return {
            name: value if isinstance(value, int) else round(value, 3 if name == _CHANCE else 2)
            for name, value in {**asdict(self), "difference": self.difference}.items()
        }


@dataclass(frozen=True, slots=True)
class GateReport:
    """Two models on the same held-out documents, and what follows.

    Attributes:
        verdict: ``promote``, ``keep`` (the earlier one), or ``too few`` (documents to tell).
        reasons: Why, in sentences, and what to mind.
        documents: Documents with a complete layer.
        target: The mean over the tasks that have gold; ``None`` where none has.
        tasks: ``entity``, ``relation`` and ``coreference``, as far as they have gold.
        labels: The same by label, of entities and relations.
        tolerance: F1 that a task may lose at the lower end of its interval.
        samples: How many times documents were drawn.
    """

    verdict: Verdict
    reasons: list[str]
    documents: int
    target: Difference | None
    tasks: Mapping[str, Difference]
    labels: Mapping[str, Mapping[str, Difference]]
    tolerance: float
    samples: int

    def to_json(self) -> dict[str, Any]:
        """The report as nested plain values."""
        return {
            "verdict": self.verdict,
            "reasons": list(self.reasons),
            "documents": self.documents,
            "target": self.target and self.target.to_json(),
            "tasks": {name: each.to_json() for name, each in self.tasks.items()},
            "labels": {
                task: {name: each.to_json() for name, each in labels.items()}
                for task, labels in self.labels.items()
            },
            "tolerance": self.tolerance,
            "samples": self.samples,
        }
