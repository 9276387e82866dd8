"""The gate: two models predict held-out documents, and the second one replaces the first only if it may."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import TypeVar

from sciextract.documents.annotations import Annotations, Cluster, Entity, Relation
from sciextract.documents.document import AnnotatedDocument
from sciextract.metrics.gate import TOLERANCES, compare_models
from sciextract.metrics.gate_report import GateReport
from sciextract.metrics.scorable import Scorable, scorable
from sciextract.workflows.annotate import Predictor
from sciextract.workflows.snapshot.suggested import NOT_REJECTED, suggesting_models
from sciextract.workflows.snapshot.types import ALL_LAYERS, TrainingDocument
from sciextract.workflows.snapshot.verdicts import Verdict, Verdicts, verdicts_of

Item = TypeVar("Item", Entity, Relation)


def gate(
    documents: Sequence[TrainingDocument],
    before: Predictor,
    after: Predictor,
    *,
    samples: int = 1000,
    seed: int = 0,
    tolerances: Mapping[str, float] = TOLERANCES,
    blind: bool = False,
) -> GateReport:
    """Judge whether one model may replace another, on the gate documents of a snapshot.

    Gold is what is positive in a layer that is done. Documents with gold that a model had proposed are
    reported as corrected from suggestions.

    Args:
        documents: The held-out documents with their complete layers.
        before: The model that predicts now.
        after: The model that wants to.
        samples: How many times documents are drawn.
        seed: Of the draws.
        tolerances: F1 that each task may lose at the lower end of its interval.
        blind: Whether to report the scores on documents without such gold, too; the verdict is not by them.
    """
    gold = [_true_part(each) for each in documents]
    return compare_models(
        [scorable(each) for each in gold],
        _predicted(before, gold),
        _predicted(after, gold),
        _symmetric(before, after),
        complete=[frozenset(map(str, each.complete)) for each in documents],
        samples=samples,
        seed=seed,
        tolerances=tolerances,
        suggested=[bool(suggesting_models(each.annotated.annotations)) for each in documents],
        blind=blind,
    )


def gate_gold(
    documents: Sequence[AnnotatedDocument],
    before: Predictor,
    after: Predictor,
    *,
    blind: bool = False,
) -> GateReport:
    """The same for plain gold, as ``evaluate`` reads it: every layer is complete, all but rejected items count.

    Only formats that tell who proposed an item, such as our own, tell of suggestions.
    """
    return compare_models(
        [scorable(each) for each in documents],
        _predicted(before, documents),
        _predicted(after, documents),
        _symmetric(before, after),
        complete=[frozenset(map(str, ALL_LAYERS))] * len(documents),
        suggested=[bool(suggesting_models(each.annotations, NOT_REJECTED)) for each in documents],
        blind=blind,
    )


def _predicted(model: Predictor, gold: Sequence[AnnotatedDocument]) -> list[Scorable]:
    return [scorable(each) for each in model.stream([each.document for each in gold])]


def _symmetric(*models: Predictor) -> frozenset[str]:
    return frozenset(chain(*[each.config.labels.relations.symmetric for each in models]))


def _true_part(document: TrainingDocument) -> AnnotatedDocument:
    """The document with its positive items only."""
    annotations, verdicts = document.annotated.annotations, verdicts_of(document)
    kept = Annotations(
        _positive(annotations.entities, verdicts.entities),
        _positive(annotations.relations, verdicts.relations),
        tuple([_with_positive_mentions(each, verdicts) for each in annotations.clusters]),
    )
    return replace(document.annotated, annotations=kept)


def _positive(items: Iterable[Item], verdicts: Mapping[str, Verdict]) -> tuple[Item, ...]:
    return tuple([each for each in items if verdicts[each.id] is Verdict.POSITIVE])


def _with_positive_mentions(cluster: Cluster, verdicts: Verdicts) -> Cluster:
    found = verdicts.mentions
    kept = [each for each in cluster.mentions if found[cluster.id, each] is Verdict.POSITIVE]
    return replace(cluster, mentions=tuple(kept), mention_scores=(), mention_states=())
