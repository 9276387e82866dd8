"""Dev scores during training: the core's decoder and scorer over a torch network."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sciextract.documents.document import AnnotatedDocument
from sciextract.inference.pipeline import Pipeline
from sciextract.inference.results import annotate
from sciextract.inference.settings import DecodeSettings
from sciextract.metrics.report import EvaluationReport
from sciextract.workflows.evaluate import evaluate


@dataclass(frozen=True, slots=True)
class DevScores:
    """F1 (0 to 100) of the three tasks."""

    entity: float
    relation: float
    strict: float
    coreference: float

    @property
    def mean(self) -> float:
        """Mean of entities, relations (boundaries) and coreference: what selection goes by."""
        return (self.entity + self.relation + self.coreference) / 3


def dev_report(
    pipeline: Pipeline,
    gold: Sequence[AnnotatedDocument],
    settings: DecodeSettings,
    symmetric: Iterable[str],
) -> EvaluationReport:
    """The full report of a network on gold documents."""
    predicted = [annotate(pipeline, item.document, settings) for item in gold]
    return evaluate(gold, predicted, frozenset(symmetric))


def headline(report: EvaluationReport) -> DevScores:
    """The four figures that a log line shows."""
    values = report.to_json()
    return DevScores(
        entity=values["ner"]["all"]["f1"],
        relation=values["relation"]["boundaries"]["ordered"]["f1"],
        strict=values["relation"]["strict"]["ordered"]["f1"],
        coreference=values["coreference"]["conll"]["f1"],
    )
