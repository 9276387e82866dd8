"""Thresholds and the overlap rule, fitted on dev one after the other."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace

from sciextract.documents.document import AnnotatedDocument
from sciextract.inference.pipeline import Pipeline
from sciextract.inference.settings import TASKS, DecodeSettings
from sciextract.store.state.rows import Layer
from sciextract_trainer.evaluate import Serve, dev_scores, served

ENTITY_GRID = (0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.55)
RELATION_GRID = (0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5)
COREFERENCE_GRID = (0.3, 0.4, 0.5, 0.6, 0.7)
GRIDS = {"entity": ENTITY_GRID, "relation": RELATION_GRID, "coreference": COREFERENCE_GRID}


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
    settings = start
    for task in TASKS:
        settings = fit_task(task, pipeline, dev, settings, complete, serve)
    return settings


def fit_task(
    task: str,
    pipeline: Pipeline,
    dev: Sequence[AnnotatedDocument],
    start: DecodeSettings,
    complete: Sequence[Collection[Layer]] | None = None,
    serve: Serve = served,
) -> DecodeSettings:
    """The settings with the best dev F1 of one task: its threshold, for entities the overlap rule too."""
    symmetric = pipeline.labels.relations.symmetric

    def score(settings: DecodeSettings) -> float | None:
        scores = dev_scores(serve(pipeline, settings), dev, symmetric, complete)
        value: float | None = getattr(scores, task)
        return value

    candidates = [_at(start, task, value) for value in GRIDS[task]]
    if task == "entity":
        candidates = [
            replace(each, nesting=nesting) for nesting in (False, True) for each in candidates
        ]
    return _best(start, candidates, score)


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
