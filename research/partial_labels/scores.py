"""Thresholds and dev scores per data set: what a set teaches is what it scores; other types are not decoded at all."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from statistics import fmean
from typing import Any

from research.partial_labels.datasets import SetDocument, TaughtSet
from sciextract.documents.annotations import Layer
from sciextract.documents.document import AnnotatedDocument
from sciextract.inference.model_config import ModelConfig
from sciextract.inference.pipeline import Pipeline
from sciextract.inference.results import annotate, annotate_given
from sciextract.inference.settings import DecodeSettings
from sciextract.metrics.counts import Scorable, scorable
from sciextract.metrics.promotion import ScoreDifference, compare_models
from sciextract.metrics.report import PRF, EvaluationReport, Interval
from sciextract.workflows.evaluate import evaluate
from sciextract_trainer.calibration import ENTITY_GRID, RELATION_GRID
from sciextract_trainer.evaluate import classification_of
from sciextract_trainer.network.joint import RememberingNetwork
from sciextract_trainer.package import model_card, parity


@dataclass(frozen=True, slots=True)
class SetScores:
    """What a model scores on a set.

    Attributes:
        documents: Documents.
        entity: Entities of the taught types, exact boundaries and type, micro average.
        labels: F1 (0 to 100) by type.
        interval: 95 % interval of the F1 of entities, documents resampled.
        relation: Relations between predicted entities, boundaries and direction; ``None`` where none are taught.
        given: The same between gold entities.
        given_macro: Mean F1 over relation labels between gold entities.
    """

    documents: int
    entity: PRF
    labels: dict[str, float]
    interval: Interval | None = None
    relation: PRF | None = None
    given: PRF | None = None
    given_macro: float | None = None

    def to_json(self) -> dict[str, Any]:
        """Percentages with two digits, and counts."""
        return {key: _rounded(value) for key, value in asdict(self).items() if value is not None}


def _rounded(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _rounded(item) for key, item in value.items()}
    return round(value, 2) if isinstance(value, float) else value


def set_settings(settings: DecodeSettings, taught: TaughtSet) -> DecodeSettings:
    """The settings with the set's types and overlap rule."""
    only = frozenset(taught.teaches)
    return replace(settings, nesting=taught.nested, candidates=False, only=only)


def score_set(
    pipeline: Pipeline,
    settings: DecodeSettings,
    documents: Sequence[SetDocument],
    taught: TaughtSet,
    *,
    competing: bool = False,
    intervals: bool = False,
) -> SetScores:
    """Scores of a model on a set, types restricted to those it teaches.

    Args:
        pipeline: Network, tokenizer, labels.
        settings: Thresholds.
        documents: Gold documents of the set.
        taught: The set.
        competing: Whether all types are decoded with the settings' overlap rule, as users get them, and those
            that the set does not teach are only left out of the count.
        intervals: Whether documents are resampled for an interval.
    """
    rules = replace(settings, candidates=False) if competing else set_settings(settings, taught)
    gold = [_taught_only(document.annotated, taught) for document in documents]
    found = report_on(
        gold,
        lambda item: _taught_only(annotate(pipeline, item.document, rules), taught),
        intervals=intervals,
    )
    labels = {label: prf.f1 for label, prf in found.ner.labels.items()}
    scores = SetScores(len(gold), found.ner.all, labels, found.intervals.get("ner.all"))
    if not taught.relations:
        return scores
    between = report_on(gold, lambda item: annotate_given(pipeline, item, rules))
    given = classification_of(between)
    return replace(
        scores,
        relation=found.relation.boundaries.directed,
        given=given.micro,
        given_macro=given.macro_f1,
    )


def difference(
    before: tuple[Pipeline, DecodeSettings],
    after: tuple[Pipeline, DecodeSettings],
    documents: Sequence[SetDocument],
    taught: TaughtSet,
) -> Mapping[str, ScoreDifference]:
    """Two models on a set, types restricted to those it teaches: ``entity`` and, where it teaches some, ``relation``.

    The documents are drawn anew for both at once: intervals of 90 % of the difference.
    """
    layers = frozenset(list(Layer)[: 2 if taught.relations else 1])
    return compare_models(
        [scorable(document.annotated, taught.teaches) for document in documents],
        _predicted(*before, documents, taught),
        _predicted(*after, documents, taught),
        frozenset(),
        complete=[layers] * len(documents),
    ).tasks


def _predicted(
    pipeline: Pipeline,
    settings: DecodeSettings,
    documents: Sequence[SetDocument],
    taught: TaughtSet,
) -> list[Scorable]:
    rules = set_settings(settings, taught)
    found = (annotate(pipeline, document.annotated.document, rules) for document in documents)
    return [scorable(document, taught.teaches) for document in found]


def report_on(
    gold: Sequence[AnnotatedDocument],
    predict: Callable[[AnnotatedDocument], AnnotatedDocument],
    *,
    intervals: bool = False,
) -> EvaluationReport:
    """The report of a predictor on gold documents."""
    return evaluate(gold, [predict(item) for item in gold], frozenset(), bootstrap=intervals)


def _taught_only(item: AnnotatedDocument, taught: TaughtSet) -> AnnotatedDocument:
    kept = tuple(entity for entity in item.annotations.entities if entity.label in taught.teaches)
    ids = {entity.id for entity in kept}
    relations = tuple(
        relation
        for relation in item.annotations.relations
        if relation.head in ids and relation.tail in ids
    )
    return replace(
        item, annotations=replace(item.annotations, entities=kept, relations=relations, clusters=())
    )


Samples = Mapping[str, Sequence[SetDocument]]
"""Dev documents by set."""


def fit_set_settings(pipeline: Pipeline, samples: Samples, start: DecodeSettings) -> DecodeSettings:
    """The thresholds with the best mean F1 over the sets; relations between predicted entities.

    Args:
        pipeline: The graph that is served.
        samples: Some documents of each set.
        start: Everything but the thresholds.
    """
    known = replace(pipeline, network=RememberingNetwork(pipeline.network))

    def mean(settings: DecodeSettings, value: Callable[[SetScores], float | None]) -> float:
        scores = (
            score_set(known, settings, documents, documents[0].taught)
            for documents in samples.values()
            if documents
        )
        return fmean([found for score in scores if (found := value(score)) is not None] or [0.0])

    def best(task: str, grid: Sequence[float], value: Callable[[SetScores], float | None]) -> float:
        tried = {
            threshold: mean(start.with_thresholds({task: threshold}), value) for threshold in grid
        }
        return max(tried, key=lambda threshold: tried[threshold])

    start = start.with_thresholds({"entity": best("entity", ENTITY_GRID, _entity_f1)})
    return start.with_thresholds({"relation": best("relation", RELATION_GRID, _relation_f1)})


def _entity_f1(scores: SetScores) -> float:
    return scores.entity.f1


def _relation_f1(scores: SetScores) -> float | None:
    return None if scores.relation is None else scores.relation.f1


def card_of(config: ModelConfig) -> str:
    """The card of a model of one set or of several ones."""
    several = "sets" in config.scores
    return model_card(config, _scores_by_set(config.scores) if several else None)


def _edges(about: dict[str, Any]) -> Iterator[str]:
    """What of a model's relations a graph draws."""
    held, goal = about["held_out"], f"{100 * about['precision']:.0f} %"
    yield from (
        f"Relations between predicted mentions of chemprot, all types competing, with a score of {about['least_score']} and more:",
        "",
        "| relation | predicted | precision | recall | edge of a graph |",
        "|---|---|---|---|---|",
    )
    for label, entry in about["labels"].items():
        drawn = "yes" if label in about["drawn"] else "no"
        yield f"| {label} | {entry['predicted']} | {entry['precision']} | {entry['recall']} | {drawn} |"
    yield ""
    yield f"Right are those of the gold, with both boundaries, direction and type. The score is the highest that any four fifths of the abstracts need for {goal};"
    yield f"of {held['predicted']} edges of the remaining fifths, each at the score of the others, {held['precision']:.1f} % are right."
    yield ""


def _scores_by_set(scores: dict[str, Any]) -> Iterator[str]:
    """The scores of a model of several sets."""
    sets: dict[str, Any] = scores["sets"]
    yield from (
        "## Scores on the dev parts, set by set",
        "",
        "Documents as distributed (for bc5cdr, ncbi-disease, bc2gm and linnaeus a sentence each). Only the types for",
        "which a set was annotated are predicted. Entities count by exact boundaries and type, micro average. Thresholds",
        "were fitted on some of the same documents. int8.",
        "",
        "| set | documents | entities P | R | F1 | 95 % interval | trained on |",
        "|---|---|---|---|---|---|---|",
    )
    for name, scored in sets.items():
        numbers = " | ".join(
            f"{scored['entity'][key]:.1f}" for key in ("precision", "recall", "f1")
        )
        interval = f"{scored['interval']['low']:.1f} to {scored['interval']['high']:.1f}"
        trained = "yes" if scored["trained"] else "no"
        yield f"| {name} | {scored['documents']} | {numbers} | {interval} | {trained} |"
    yield ""
    for name, scored in sets.items():
        if len(scored["labels"]) > 1:
            parts = (f"{label} {f1:.1f}" for label, f1 in scored["labels"].items())
            yield f"F1 by type, {name}: {', '.join(parts)}."
    yield ""
    for name, scored in sets.items():
        if "relation" in scored:
            yield (
                f"Relations of {name}, boundaries and direction, micro F1: {scored['relation']['f1']:.1f} between "
                f"predicted entities, {scored['given']['f1']:.1f} between given ones (macro F1 "
                f"{scored['given_macro']:.1f})."
            )
            yield ""
    if about := scores.get("graph"):
        yield from _edges(about)
    yield from parity(scores)
    lost = (
        f"{name} {scored['sample']['fp32'] - scored['sample']['int8']:+.1f}"
        for name, scored in sets.items()
    )
    yield f"F1 lost by int8 at the same thresholds, on some documents of each set: {', '.join(lost)}."
    yield ""
