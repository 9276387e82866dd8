"""Relation classification over given entities: what is scored, and how."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import fmean

from sciextract.metrics.report import PRF, EvaluationReport


@dataclass(frozen=True, slots=True)
class RelationClassification:
    """Scores of relations between given entities.

    Attributes:
        micro: All relations together; with one label, the F1 of the positive class.
        macro_f1: Mean F1 of the labels, those that neither side has left out.
        labels: By label.
    """

    micro: PRF
    macro_f1: float
    labels: dict[str, PRF]


def classification_of(report: EvaluationReport) -> RelationClassification:
    """The part of a report that says something when entities are given: relations, ordered."""
    labels = dict(report.relation.labels)
    macro = fmean([each.f1 for each in labels.values()]) if labels else 0.0
    return RelationClassification(report.relation.boundaries.ordered, macro, labels)
