"""Dev scores during training: the core's decoder and scorer over a torch network."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from sciextract.documents.document import AnnotatedDocument, Document
from sciextract.inference.pipeline import Pipeline
from sciextract.inference.results import annotate
from sciextract.inference.settings import DecodeSettings, PerTask
from sciextract.metrics.report import EvaluationReport
from sciextract.workflows.evaluate import evaluate

DEV_SETTINGS = DecodeSettings(thresholds=PerTask(0.45, 0.4, 0.5))

Predictor = Callable[[Document], AnnotatedDocument]
"""Anything that annotates a document: a pipeline with its settings, or a network with its own decoder."""


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


def served(pipeline: Pipeline, settings: DecodeSettings) -> Predictor:
    """The core's pipeline with settings, as it serves users."""
    return lambda document: annotate(pipeline, document, settings)


def dev_report(
    predict: Predictor, gold: Sequence[AnnotatedDocument], symmetric: Iterable[str]
) -> EvaluationReport:
    """The full report on gold documents, without confidence intervals."""
    predicted = [predict(item.document) for item in gold]
    return evaluate(gold, predicted, frozenset(symmetric), bootstrap=False)


def headline(report: EvaluationReport) -> DevScores:
    """The four figures that a log line shows."""
    values = report.to_json()
    return DevScores(
        entity=values["ner"]["all"]["f1"],
        relation=values["relation"]["boundaries"]["ordered"]["f1"],
        strict=values["relation"]["strict"]["ordered"]["f1"],
        coreference=values["coreference"]["conll"]["f1"],
    )
