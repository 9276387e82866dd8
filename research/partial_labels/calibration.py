"""The scale of scores of a model that learns from sets which each know some labels only."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from research.partial_labels.datasets import SetDocument
from sciextract.documents.document import AnnotatedDocument
from sciextract.inference.pipeline import Pipeline
from sciextract.inference.settings import DecodeSettings
from sciextract_trainer.calibration import (
    Calibrations,
    Items,
    calibrate_task,
    items_of,
    scale_settings,
)


def calibrate_sets(
    pipeline: Pipeline, documents: Sequence[SetDocument], settings: DecodeSettings
) -> tuple[DecodeSettings, Calibrations]:
    """Settings that predict the same, with scores that say how often predictions are right.

    Each document counts for the entity labels of its set only, and for relations where its set has them.
    """
    found: Calibrations = {}
    for task in ("entity", "relation"):
        by_labels: dict[frozenset[str], list[AnnotatedDocument]] = {}
        for item in documents:
            if task == "entity" or item.taught.relations:
                by_labels.setdefault(frozenset(item.taught.teaches), []).append(item.annotated)
        parts = [
            items_of(task, pipeline, gold, replace(settings, only=labels))
            for labels, gold in by_labels.items()
        ]
        calibration = calibrate_task(join_items(parts))
        if calibration is not None:
            found[task] = calibration
    return scale_settings(settings.plain, found), found


def join_items(parts: Sequence[Items]) -> Items:
    """The items of several lists of documents, one behind the other.

    Documents keep different owners: those of a list are numbered on from the list before.
    """
    if not parts:
        return Items(np.zeros(0), np.zeros(0, dtype=np.bool_), np.zeros(0, dtype=np.int64))
    owners, first = [], 0
    for part in parts:
        owners.append(part.owners + first)
        first = int(owners[-1].max(initial=first - 1)) + 1
    return Items(
        np.concatenate([part.plain for part in parts]),
        np.concatenate([part.hits for part in parts]),
        np.concatenate(owners),
    )
