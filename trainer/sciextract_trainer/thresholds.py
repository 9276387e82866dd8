"""Thresholds and the overlap rule, fitted on dev one after the other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from sciextract.documents.document import AnnotatedDocument
from sciextract.inference.pipeline import Pipeline
from sciextract.inference.settings import DecodeSettings
from sciextract_trainer.evaluate import DevScores, dev_report, headline, served

ENTITY_GRID = (0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.55)
RELATION_GRID = (0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5)
COREFERENCE_GRID = (0.3, 0.4, 0.5, 0.6, 0.7)


def fit_settings(
    pipeline: Pipeline, dev: Sequence[AnnotatedDocument], start: DecodeSettings
) -> DecodeSettings:
    """The settings with the best dev F1: overlap rule and entities, then relations, then coreference.

    Grids are coarse on purpose: fifty documents do not tell 0.42 from 0.44.
    """
    symmetric = pipeline.labels.relations.symmetric

    def scores(settings: DecodeSettings) -> DevScores:
        return headline(dev_report(served(pipeline, settings), dev, symmetric))

    entities = [
        replace(_at(start, "entity", value), nesting=nesting)
        for nesting in (False, True)
        for value in ENTITY_GRID
    ]
    best = _best(entities, lambda s: scores(s).entity)
    best = _best([_at(best, "relation", v) for v in RELATION_GRID], lambda s: scores(s).relation)
    return _best(
        [_at(best, "coreference", v) for v in COREFERENCE_GRID], lambda s: scores(s).coreference
    )


def _at(settings: DecodeSettings, task: str, value: float) -> DecodeSettings:
    return settings.with_thresholds({task: value})


def _best(
    candidates: Sequence[DecodeSettings], score: Callable[[DecodeSettings], float]
) -> DecodeSettings:
    return max(candidates, key=score)
