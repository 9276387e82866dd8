"""Scores as typed results and as the JSON of ``sciextract evaluate --json``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from statistics import fmean
from typing import Any

from sciextract.metrics.counts import Tally


@dataclass(frozen=True, slots=True)
class PRF:
    """Precision, recall and F1 with what they were computed from.

    Attributes:
        precision: 0 to 100; 0 when nothing was predicted.
        recall: 0 to 100; 0 when there is no gold.
        f1: Harmonic mean, 0 to 100.
        gold: Items in the gold documents, each once.
        predicted: Items in the predicted documents, each once.
        correct: Items in both.
    """

    precision: float
    recall: float
    f1: float
    gold: int
    predicted: int
    correct: int

    @classmethod
    def of(cls, tally: Tally) -> PRF:
        """The score of a set comparison."""
        return cls(tally.precision, tally.recall, tally.f1, *_counts(tally))


@dataclass(frozen=True, slots=True)
class ClusterPRF(PRF):
    """A coreference score; ``gold``, ``predicted`` and ``correct`` count whole clusters.

    Attributes:
        gold_mentions: Mentions in gold clusters.
        predicted_mentions: Mentions in predicted clusters.
        correct_mentions: Mentions in both.
    """

    gold_mentions: int
    predicted_mentions: int
    correct_mentions: int

    @classmethod
    def of_metrics(cls, metrics: Sequence[Tally], clusters: Tally, mentions: Tally) -> ClusterPRF:
        """The mean of one metric or more, as the CoNLL average is the mean of three."""
        return cls(
            fmean([tally.precision for tally in metrics]),
            fmean([tally.recall for tally in metrics]),
            fmean([tally.f1 for tally in metrics]),
            *_counts(clusters),
            *_counts(mentions),
        )


@dataclass(frozen=True, slots=True)
class NerScores:
    """Entities: all gold, gold of at most eight tokens (the DyGIE++ rule), and by label."""

    all: PRF
    width8: PRF
    labels: Mapping[str, PRF]


@dataclass(frozen=True, slots=True)
class Variants:
    """Relations under the three rules for symmetric labels."""

    ordered: PRF
    unordered: PRF
    doubled: PRF


@dataclass(frozen=True, slots=True)
class RelationScores:
    """Relations without and with the types of their arguments, and by label (boundaries, ordered)."""

    boundaries: Variants
    strict: Variants
    labels: Mapping[str, PRF]


@dataclass(frozen=True, slots=True)
class CoreferenceScores:
    """Clusters of two and more mentions; ``conll`` is the mean of MUC, B3 and CEAFe."""

    muc: ClusterPRF
    b3: ClusterPRF
    ceafe: ClusterPRF
    lea: ClusterPRF
    conll: ClusterPRF


@dataclass(frozen=True, slots=True)
class Interval:
    """A 95 % confidence interval of an F1, 0 to 100."""

    low: float
    high: float


@dataclass(frozen=True, slots=True)
class EvaluationReport:
    """All scores of one evaluation.

    Attributes:
        documents: How many documents were compared.
        intervals: Bootstrap intervals of F1 by dotted place, such as ``relation.strict.ordered``; empty
            when none were computed.
        warnings: Remarks on the input, such as documents without a prediction.
    """

    documents: int
    ner: NerScores
    relation: RelationScores
    coreference: CoreferenceScores
    intervals: Mapping[str, Interval] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()

    @property
    def counts(self) -> dict[str, dict[str, int]]:
        """How much each side holds."""
        clusters = self.coreference.conll
        entities, relations = self.ner.all, self.relation.boundaries.ordered
        return {
            "gold": {
                "entities": entities.gold,
                "relations": relations.gold,
                "clusters": clusters.gold,
                "mentions": clusters.gold_mentions,
            },
            "predicted": {
                "entities": entities.predicted,
                "relations": relations.predicted,
                "clusters": clusters.predicted,
                "mentions": clusters.predicted_mentions,
            },
        }

    def to_json(self) -> dict[str, Any]:
        """The report as nested plain values, the object that ``evaluate --json`` prints."""
        values = asdict(self)
        return {"documents": values.pop("documents"), "counts": self.counts, **values}


def _counts(tally: Tally) -> tuple[int, int, int]:
    return int(tally.gold), int(tally.predicted), int(tally.recall_hits)
