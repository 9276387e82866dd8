"""Thresholds of a model of several sets: one for entities that suits all of them, one for relations."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from statistics import fmean

from sciextract.inference.pipeline import Pipeline
from sciextract.inference.settings import DecodeSettings
from sciextract_trainer.calibration.fitting import ENTITY_GRID, RELATION_GRID
from sciextract_trainer.network.joint import RememberingNetwork
from sciextract_trainer.partial.documents import SetDocument
from sciextract_trainer.partial.scores import SetScores, score_set

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
        return fmean([found for each in scores if (found := value(each)) is not None] or [0.0])

    def best(task: str, grid: Sequence[float], value: Callable[[SetScores], float | None]) -> float:
        tried = {each: mean(start.with_thresholds({task: each}), value) for each in grid}
        return max(tried, key=lambda each: tried[each])

    start = start.with_thresholds({"entity": best("entity", ENTITY_GRID, _entity_f1)})
    return start.with_thresholds({"relation": best("relation", RELATION_GRID, _relation_f1)})


def _entity_f1(scores: SetScores) -> float:
    return scores.entity.f1


def _relation_f1(scores: SetScores) -> float | None:
    return None if scores.relation is None else scores.relation.f1
