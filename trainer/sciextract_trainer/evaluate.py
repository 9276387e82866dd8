"""Dev scores during training: the core's decoder and scorer over a torch network."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass

from sciextract.documents.document import AnnotatedDocument, Document
from sciextract.inference.pipeline import Pipeline
from sciextract.inference.results import annotate
from sciextract.inference.settings import DecodeSettings, PerTask
from sciextract.metrics.report import EvaluationReport
from sciextract.store.state.rows import Layer
from sciextract.workflows.evaluate import evaluate

DEV_SETTINGS = DecodeSettings(thresholds=PerTask(0.45, 0.4, 0.5))

Predictor = Callable[[Document], AnnotatedDocument]
"""Anything that annotates a document: a pipeline with its settings, or a network with its own decoder."""


@dataclass(frozen=True, slots=True)
class DevScores:
    """F1 (0 to 100) of the three tasks; ``None`` where no document is complete in the layer."""

    entity: float | None
    relation: float | None
    strict: float | None
    coreference: float | None

    @property
    def mean(self) -> float:
        """Mean of entities, relations (boundaries) and coreference, as far as known: what selection goes by."""
        known = [
            each for each in (self.entity, self.relation, self.coreference) if each is not None
        ]
        return sum(known) / len(known) if known else 0.0


def served(pipeline: Pipeline, settings: DecodeSettings) -> Predictor:
    """The core's pipeline with settings, as it serves users."""
    return lambda document: annotate(pipeline, document, settings)


def dev_report(
    predict: Predictor, gold: Sequence[AnnotatedDocument], symmetric: Iterable[str]
) -> EvaluationReport:
    """The full report on gold documents, without confidence intervals."""
    predicted = [predict(item.document) for item in gold]
    return evaluate(gold, predicted, frozenset(symmetric), bootstrap=False)


def dev_scores(
    predict: Predictor,
    gold: Sequence[AnnotatedDocument],
    symmetric: Iterable[str],
    complete: Sequence[Collection[Layer]] | None = None,
) -> DevScores:
    """The headline scores, each on the documents that are complete in its layer.

    Args:
        predict: What annotates the documents.
        gold: Gold documents.
        symmetric: Relation labels without direction.
        complete: Complete layers of each document; all of them when ``None``.
    """
    layers = complete or [frozenset(Layer)] * len(gold)
    predicted = [predict(item.document) for item in gold]
    chosen = {
        layer: tuple(row for row, done in enumerate(layers) if layer in done) for layer in Layer
    }
    by_rows: dict[tuple[int, ...], DevScores] = {}
    for rows in {rows for rows in chosen.values() if rows}:
        sides = [gold[row] for row in rows], [predicted[row] for row in rows]
        by_rows[rows] = headline(evaluate(*sides, frozenset(symmetric), bootstrap=False))
    nothing = DevScores(None, None, None, None)
    entity, relation, coreference = (by_rows.get(chosen[layer], nothing) for layer in Layer)
    return DevScores(entity.entity, relation.relation, relation.strict, coreference.coreference)


def headline(report: EvaluationReport) -> DevScores:
    """The four figures that a log line shows."""
    values = report.to_json()
    return DevScores(
        entity=values["ner"]["all"]["f1"],
        relation=values["relation"]["boundaries"]["ordered"]["f1"],
        strict=values["relation"]["strict"]["ordered"]["f1"],
        coreference=values["coreference"]["conll"]["f1"],
    )
