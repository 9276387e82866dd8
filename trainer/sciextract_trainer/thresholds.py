"""Thresholds and the overlap rule, fitted on dev one after the other."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace

from sciextract.documents.document import AnnotatedDocument
from sciextract.inference.pipeline import Pipeline
from sciextract.inference.settings import DecodeSettings
from sciextract.store.state.rows import Layer
from sciextract_trainer.evaluate import DevScores, Serve, dev_scores, served

ENTITY_GRID = (0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.55)
RELATION_GRID = (0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5)
COREFERENCE_GRID = (0.3, 0.4, 0.5, 0.6, 0.7)


def fit_settings(
    pipeline: Pipeline,
    dev: Sequence[AnnotatedDocument],
    start: DecodeSettings,
    complete: Sequence[Collection[Layer]] | None = None,
    serve: Serve = served,
) -> DecodeSettings:
    """The settings with the best dev F1: overlap rule and entities, then relations, then coreference.

    Grids are coarse on purpose: fifty documents do not tell 0.42 from 0.44. Where no document is complete
    in a layer, its settings stay.
    """
    symmetric = pipeline.labels.relations.symmetric

    def scores(settings: DecodeSettings) -> DevScores:
        return dev_scores(serve(pipeline, settings), dev, symmetric, complete)

    entities = [
        replace(_at(start, "entity", value), nesting=nesting)
        for nesting in (False, True)
        for value in ENTITY_GRID
    ]
    best = _best(start, entities, lambda s: scores(s).entity)
    relations = [_at(best, "relation", value) for value in RELATION_GRID]
    best = _best(best, relations, lambda s: scores(s).relation)
    coreference = [_at(best, "coreference", value) for value in COREFERENCE_GRID]
    return _best(best, coreference, lambda s: scores(s).coreference)


def _at(settings: DecodeSettings, task: str, value: float) -> DecodeSettings:
    return settings.with_thresholds({task: value})


def _best(
    current: DecodeSettings,
    candidates: Sequence[DecodeSettings],
    score: Callable[[DecodeSettings], float | None],
) -> DecodeSettings:
    found: list[tuple[float, DecodeSettings]] = []
    for each in candidates:
        value = score(each)
        if value is None:  # no document is complete in the layer, whatever the settings
            return current
        found.append((value, each))
    return max(found, key=lambda pair: pair[0])[1]
