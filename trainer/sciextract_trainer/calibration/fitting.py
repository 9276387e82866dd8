"""Thresholds of a model, and the scale of its scores, fitted on dev one task after the other."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

from sciextract.documents.annotations import Layer
from sciextract.documents.document import AnnotatedDocument
from sciextract.inference.pipeline import Pipeline
from sciextract.inference.settings import TASKS, DecodeSettings, Rescue, calibrated_score
from sciextract_trainer.calibration.scaling import TaskCalibration, calibrate_task, items_of, joined
from sciextract_trainer.evaluate import LAYER_OF, DevScores, Serve, dev_scores, served

ENTITY_GRID = (0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.55)
RELATION_GRID = (0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5)
COREFERENCE_GRID = (0.3, 0.4, 0.5, 0.6, 0.7)
RESCUED_ENTITY_GRID = (0.15, 0.2, 0.25)
RESCUING_RELATION_GRID = (0.4, 0.5, 0.6)
ABOUT = 1.0
"""F1 by which settings of entities may be worse than the best: less than fifty documents can tell."""

LEAST_NESTED = 0.02
"""Share of gold entities inside others from which on predictions may overlap: below it, overlaps are clutter that gains by chance."""

LEAST_GAIN = 0.2
"""F1, mean of the tasks, that rescued entities have to bring: else there are none."""

GRIDS = {"entity": ENTITY_GRID, "relation": RELATION_GRID, "coreference": COREFERENCE_GRID}


def fit_settings(
    pipeline: Pipeline,
    dev: Sequence[AnnotatedDocument],
    start: DecodeSettings,
    complete: Sequence[Collection[Layer]] | None = None,
    serve: Serve = served,
) -> DecodeSettings:
    """The settings with the best dev F1: overlap rule and entities with relations, then coreference.

    A lower threshold of entities costs few of them and gives relations their ends. So of all settings of entities
    that are about as good as the best, the one is taken that has the best mean of the three tasks, with a threshold of
    relations fitted for each. Then entities below the threshold may be rescued by relations, where that raises the
    mean. Grids are coarse on purpose: fifty documents do not tell 0.42 from 0.44. Where no document is complete in
    a layer, its settings stay.
    """
    fit = _Fit(pipeline, dev, complete, serve)
    with_relations = [fit.task("relation", each) for each in fit.about_best("entity", start)]
    best = max(with_relations, key=lambda each: fit.scores(each).mean)
    return fit.rescue(fit.task("coreference", best))


@dataclass(frozen=True, slots=True)
class _Fit:
    """What settings are tried on: a pipeline, dev documents and their complete layers."""

    pipeline: Pipeline
    dev: Sequence[AnnotatedDocument]
    complete: Sequence[Collection[Layer]] | None
    serve: Serve

    def scores(self, settings: DecodeSettings) -> DevScores:
        """Dev F1 of all tasks."""
        symmetric = self.pipeline.labels.relations.symmetric
        return dev_scores(self.serve(self.pipeline, settings), self.dev, symmetric, self.complete)

    def task(self, task: str, start: DecodeSettings) -> DecodeSettings:
        """The settings with the best F1 of a task."""
        return max(self._tried(task, start), key=lambda pair: pair[0])[1]

    def about_best(self, task: str, start: DecodeSettings) -> list[DecodeSettings]:
        """The settings whose F1 of a task is as good as the best one, as far as dev can tell; the best first."""
        tried = sorted(self._tried(task, start), key=lambda pair: -pair[0])
        return [settings for value, settings in tried if value >= tried[0][0] - ABOUT]

    def rescue(self, start: DecodeSettings) -> DecodeSettings:
        """The settings with the rescue that has the best mean; those to start with where none is worth it."""
        before = self.scores(start)
        if before.relation is None or before.entity is None:
            return start
        # Less likely entities by surer relations than the thresholds ask for.
        least = start.thresholds
        tried = []
        for entity, relation in product(RESCUED_ENTITY_GRID, RESCUING_RELATION_GRID):
            if entity < least.entity and relation > least.relation:
                each = replace(start, rescue=Rescue(entity, relation))
                tried.append((self.scores(each).mean, each))
        best, found = max(tried, key=lambda pair: pair[0], default=(0.0, start))
        return found if best >= before.mean + LEAST_GAIN else start

    def _tried(self, task: str, start: DecodeSettings) -> list[tuple[float, DecodeSettings]]:
        """F1 of a task by settings; those to start with alone where no document is complete in its layer."""
        found: list[tuple[float, DecodeSettings]] = []
        candidates = [start.with_thresholds({task: value}) for value in GRIDS[task]]
        if task == "entity":
            rules = (False, True) if _nests(self.dev) else (False,)
            candidates = [
                replace(each, nesting=nesting) for nesting in rules for each in candidates
            ]
        for each in candidates:
            value: float | None = getattr(self.scores(each), task)
            if value is None:
                return [(0.0, start)]
            found.append((value, each))
        return found


def _nests(documents: Sequence[AnnotatedDocument]) -> bool:
    """Whether enough of the gold entities lie inside others."""
    inside = count = 0
    for item in documents:
        spans = {(e.span.char_start, e.span.char_end) for e in item.annotations.entities}
        count += len(spans)
        inside += sum(
            any(a <= start and end <= b and (a, b) != (start, end) for a, b in spans)
            for start, end in spans
        )
    return inside >= LEAST_NESTED * count > 0


Calibrations = dict[str, TaskCalibration]
"""By task; tasks without any item are left out."""


@dataclass(frozen=True, slots=True)
class Dev:
    """What settings are fitted on.

    Attributes:
        documents: Gold documents.
        complete: Complete layers of each; all of them when ``None``.
        given: Whether entities are given instead of predicted.
        serve: Makes a pipeline with settings to something that annotates documents.
        taught: Entity labels that each was annotated for, where a model learns from sets that each know some
            labels only; ``None`` where all were annotated for all.
    """

    documents: Sequence[AnnotatedDocument]
    complete: Sequence[Collection[Layer]] | None = None
    given: bool = False
    serve: Serve = served
    taught: Sequence[frozenset[str]] | None = None

    def complete_in(self, task: str) -> dict[frozenset[str], list[AnnotatedDocument]]:
        """The documents that are complete in the layer of a task, by the labels that they were annotated for.

        No labels stand for all of them.
        """
        found: dict[frozenset[str], list[AnnotatedDocument]] = {}
        if self.given and task != "relation":
            return found
        layers = self.complete or [frozenset(Layer)] * len(self.documents)
        labels = self.taught or [frozenset()] * len(self.documents)
        for item, done, known in zip(self.documents, layers, labels, strict=True):
            if LAYER_OF[task] in done:
                found.setdefault(known, []).append(item)
        return found


def fit_calibrated(
    pipeline: Pipeline, dev: Dev, start: DecodeSettings
) -> tuple[DecodeSettings, Calibrations]:
    """Thresholds with the best F1, then the scale; what is predicted depends on the thresholds alone."""
    settings = fit_settings(pipeline, dev.documents, start.plain, dev.complete, dev.serve)
    return calibrated_settings(pipeline, dev, settings)


def calibrated_settings(
    pipeline: Pipeline, dev: Dev, settings: DecodeSettings
) -> tuple[DecodeSettings, Calibrations]:
    """Settings that predict the same, with scores that say how often predictions are right.

    A task with too few dev documents keeps the network's own probabilities. So do entities with groups of labels
    where it is not said which labels each document was annotated for.
    """
    found: Calibrations = {}
    for task in TASKS:
        unknown = task == "entity" and pipeline.labels.groups and dev.taught is None
        parts = [
            items_of(task, pipeline, documents, replace(settings, only=labels), dev.given)
            for labels, documents in ({} if unknown else dev.complete_in(task)).items()
        ]
        calibration = calibrate_task(joined(parts))
        if calibration is not None:
            found[task] = calibration
    return scaled(settings.plain, found), found


def scaled(plain: DecodeSettings, calibrations: Calibrations) -> DecodeSettings:
    """Settings of the network's own probabilities with the scales of some tasks; thresholds move along."""

    def calibrated(task: str, probability: float) -> float:
        each = calibrations.get(task)
        return calibrated_score(probability, each.temperature, each.shift) if each else probability

    moved = {task: calibrated(task, getattr(plain.thresholds, task)) for task in TASKS}
    rescue = plain.rescue
    if rescue is not None:
        rescue = Rescue(
            calibrated("entity", rescue.entity), calibrated("relation", rescue.relation)
        )
    warm = {task: each.temperature for task, each in calibrations.items()}
    shifts = {task: each.shift for task, each in calibrations.items()}
    return replace(
        plain.with_thresholds(moved),
        temperatures=replace(plain.temperatures, **warm),
        shifts=replace(plain.shifts, **shifts),
        rescue=rescue,
    )


def stated(calibrations: Calibrations) -> dict[str, Any]:
    """What a model's configuration states of its calibration."""
    return {task: each.to_json() for task, each in calibrations.items()}
