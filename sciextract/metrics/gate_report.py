"""What a comparison of two models says: scores before and after, intervals, the verdict and its reasons."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

Verdict = Literal["promote", "keep", "too few"]
_CHANCE = "probability"

LEAST_DOCUMENTS = 30
LEAST_ENTITIES = 300
"""Gate documents, and gold entities in them, below which the verdict is ``too few``."""


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
class Compared:
    """Two models on some documents.

    Attributes:
        documents: Documents with a complete layer.
        target: The mean over the tasks that have gold; ``None`` where none has.
        tasks: ``entity``, ``relation`` and ``coreference``, as far as they have gold.
        labels: The same by label, of entities and relations.
    """

    documents: int
    target: Difference | None
    tasks: Mapping[str, Difference]
    labels: Mapping[str, Mapping[str, Difference]]

    @property
    def entities(self) -> int:
        """Gold entities."""
        return self.tasks["entity"].gold if "entity" in self.tasks else 0

    def to_json(self) -> dict[str, Any]:
        """Nested plain values."""
        return {
            "documents": self.documents,
            "target": self.target and self.target.to_json(),
            "tasks": {name: each.to_json() for name, each in self.tasks.items()},
            "labels": {
                task: {name: each.to_json() for name, each in labels.items()}
                for task, labels in self.labels.items()
            },
        }


@dataclass(frozen=True, slots=True)
class Blind:
    """Two models on the documents that were not corrected from a model's suggestions.

    Attributes:
        compared: The scores.
        few: Whether these documents are too few to tell which model is better.
        told: What they are worth, in a sentence.
    """

    compared: Compared
    few: bool
    told: str

    def to_json(self) -> dict[str, Any]:
        """Nested plain values."""
        return {**self.compared.to_json(), "few": self.few, "told": self.told}


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
        tolerances: F1 that each task may lose at the lower end of its interval.
        samples: How many times documents were drawn.
        blind: The documents without suggestions apart; ``None`` where nobody asked for them.
    """

    verdict: Verdict
    reasons: list[str]
    documents: int
    target: Difference | None
    tasks: Mapping[str, Difference]
    labels: Mapping[str, Mapping[str, Difference]]
    tolerances: dict[str, float]
    samples: int
    blind: Blind | None = None

    @property
    def compared(self) -> Compared:
        """Both models on all documents."""
        return Compared(self.documents, self.target, self.tasks, self.labels)

    def to_json(self) -> dict[str, Any]:
        """The report as nested plain values; ``blind`` only where it was asked for."""
        blind = {} if self.blind is None else {"blind": self.blind.to_json()}
        return {
            "verdict": self.verdict,
            "reasons": list(self.reasons),
            **self.compared.to_json(),
            "tolerances": self.tolerances,
            "samples": self.samples,
            **blind,
        }
