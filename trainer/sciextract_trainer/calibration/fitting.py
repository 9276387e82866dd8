"""Thresholds of a model, and the scale of its scores, fitted on dev one task after the other."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sciextract.documents.document import AnnotatedDocument
from sciextract.inference.pipeline import Pipeline
from sciextract.inference.settings import TASKS, DecodeSettings, Rescue, calibrated_score
from sciextract.store.state.rows import Layer
from sciextract_trainer.calibration.items import items_of, joined
from sciextract_trainer.calibration.platt import TaskCalibration, calibrate_task
from sciextract_trainer.evaluate import LAYER_OF, Serve, served
from sciextract_trainer.thresholds import fit_settings

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

    def telling(self, task: str) -> dict[frozenset[str], list[AnnotatedDocument]]:
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
            for labels, documents in ({} if unknown else dev.telling(task)).items()
        ]
        calibration = calibrate_task(joined(parts))
        if calibration is not None:
            found[task] = calibration
    return scaled(settings.plain, found), found


def scaled(plain: DecodeSettings, calibrations: Calibrations) -> DecodeSettings:
    """Settings of the network's own probabilities with the scales of some tasks; thresholds move along."""

    def shown(task: str, probability: float) -> float:
        each = calibrations.get(task)
        return calibrated_score(probability, each.temperature, each.shift) if each else probability

    moved = {task: shown(task, getattr(plain.thresholds, task)) for task in TASKS}
    rescue = plain.rescue
    if rescue is not None:
        rescue = Rescue(shown("entity", rescue.entity), shown("relation", rescue.relation))
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
