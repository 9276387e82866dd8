"""Dev scores during training: the core's decoder and scorer over a torch network."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean

from sciextract.documents.annotations import Layer
from sciextract.documents.document import AnnotatedDocument, Document
from sciextract.inference.pipeline import Pipeline
from sciextract.inference.results import annotate, annotate_given
from sciextract.inference.settings import DecodeSettings, PerTask
from sciextract.metrics.report import PRF, EvaluationReport
from sciextract.workflows.evaluate import evaluate
from sciextract_trainer.config import TrainConfig

DEV_SETTINGS = DecodeSettings(thresholds=PerTask(0.45, 0.4, 0.5))

LAYER_OF = {"entity": Layer.ENTITIES, "relation": Layer.RELATIONS, "coreference": Layer.COREFERENCE}
"""The layer of each task."""

Predictor = Callable[[Document], AnnotatedDocument]
"""Anything that annotates a document: a pipeline with its settings, or a network with its own decoder."""


@dataclass(frozen=True, slots=True)
class DevScores:
    """F1 (0 to 100) of the three tasks; ``None`` where no document is complete in the layer.

    Attributes:
        entity: Entities.
        relation: Relations by boundaries, each with its direction, as published scores count.
        strict: The same, with the labels of head and tail.
        coreference: Mean of MUC, B3 and CEAFe.
        unordered: Relations by boundaries, those of symmetric labels without direction, as the gate counts.
    """

    entity: float | None
    relation: float | None
    strict: float | None
    coreference: float | None
    unordered: float | None = None

    @property
    def mean(self) -> float:
        """Mean of entities, relations (boundaries) and coreference, as far as known: what selection goes by."""
        known = [
            score for score in (self.entity, self.relation, self.coreference) if score is not None
        ]
        return sum(known) / len(known) if known else 0.0

    def stated(self) -> dict[str, float | None]:
        """The headline F1 scores as a model's configuration has them, two digits; ``None`` where nothing tells."""
        named = {
            "ner": self.entity,
            "relation": self.relation,
            "relation_strict": self.strict,
            "coreference": self.coreference,
        }
        return {name: None if value is None else round(value, 2) for name, value in named.items()}


def learned_tasks(config: TrainConfig) -> list[str]:
    """The tasks that a recipe learns; what the heads of the others say is not worth a score."""
    return [task for task in LAYER_OF if getattr(config, f"{task}_weight") > 0]


def learned_layers(config: TrainConfig) -> frozenset[Layer]:
    """The layers of the tasks that a recipe learns."""
    return frozenset(LAYER_OF[task] for task in learned_tasks(config))


def scored_layers(
    config: TrainConfig,
    dev: Sequence[AnnotatedDocument],
    complete: Sequence[Collection[Layer]] | None,
) -> list[frozenset[Layer]]:
    """Per dev document the layers to score: complete ones that the recipe learns.

    Args:
        config: The recipe.
        dev: Gold documents.
        complete: Complete layers of each; all of them when ``None``.
    """
    learned = learned_layers(config)
    return [learned.intersection(layers) for layers in complete or [learned] * len(dev)]


def dev_settings(config: TrainConfig) -> DecodeSettings:
    """Settings to begin with: a task that was not learned predicts nothing."""
    learned = learned_tasks(config)
    return DEV_SETTINGS.with_thresholds({task: 1.0 for task in LAYER_OF if task not in learned})


Serve = Callable[[Pipeline, DecodeSettings], Predictor]
"""Makes a pipeline with settings to something that annotates documents."""


def serve_pipeline(pipeline: Pipeline, settings: DecodeSettings) -> Predictor:
    """The core's pipeline with settings, as it serves users."""
    return lambda document: annotate(pipeline, document, settings)


@dataclass(frozen=True, slots=True)
class GivenPredictor:
    """The joint network between given entities: relations only.

    Attributes:
        pipeline: Network, tokenizer and labels.
        settings: Thresholds.
    """

    pipeline: Pipeline
    settings: DecodeSettings

    def __call__(self, document: Document) -> AnnotatedDocument:
        """Nothing is given, so there is nothing to relate."""
        return self.of(AnnotatedDocument(document))

    def of(self, gold: AnnotatedDocument) -> AnnotatedDocument:
        """Relations between the entities of a gold document; its relations are not looked at."""
        return annotate_given(self.pipeline, gold, self.settings)


def predictions(predict: Predictor, gold: Sequence[AnnotatedDocument]) -> list[AnnotatedDocument]:
    """What is predicted for gold documents, of which a predictor sees the entities only if it needs them."""
    if isinstance(predict, GivenPredictor):
        return [predict.of(item) for item in gold]
    return [predict(item.document) for item in gold]


def dev_report(
    predict: Predictor, gold: Sequence[AnnotatedDocument], symmetric: Iterable[str]
) -> EvaluationReport:
    """The full report on gold documents, without confidence intervals."""
    return evaluate(gold, predictions(predict, gold), frozenset(symmetric), bootstrap=False)


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
    if isinstance(predict, GivenPredictor):
        layers = [frozenset(named) & {Layer.RELATIONS} for named in layers]
    predicted = predictions(predict, gold)
    chosen = {
        layer: tuple(row for row, done in enumerate(layers) if layer in done) for layer in Layer
    }
    # Most often all layers are done in the same documents; these are then scored once.
    by_rows: dict[tuple[int, ...], DevScores] = {}
    for rows in {rows for rows in chosen.values() if rows}:
        sides = [gold[row] for row in rows], [predicted[row] for row in rows]
        by_rows[rows] = headline(evaluate(*sides, frozenset(symmetric), bootstrap=False))
    nothing = DevScores(None, None, None, None)
    entity, relation, coreference = (by_rows.get(chosen[layer], nothing) for layer in Layer)
    return DevScores(
        entity.entity,
        relation.relation,
        relation.strict,
        coreference.coreference,
        relation.unordered,
    )


def headline(report: EvaluationReport) -> DevScores:
    """The figures that a log line shows."""
    values = report.to_json()
    return DevScores(
        entity=values["ner"]["all"]["f1"],
        relation=values["relation"]["boundaries"]["directed"]["f1"],
        strict=values["relation"]["strict"]["directed"]["f1"],
        coreference=values["coreference"]["conll"]["f1"],
        unordered=values["relation"]["boundaries"]["unordered"]["f1"],
    )


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
    macro = fmean([score.f1 for score in labels.values()]) if labels else 0.0
    return RelationClassification(report.relation.boundaries.ordered, macro, labels)
