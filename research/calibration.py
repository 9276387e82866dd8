"""``python -m research calibrate``: a model whose scores say how often its predictions are right."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from research.compression.opened import MeasuredModel, new_folder, write_like
from research.reporting import Report
from sciextract.inference.model_config import ModelConfig
from sciextract.inference.model_folder import GRAPHS
from sciextract.inference.settings import DecodeSettings
from sciextract_trainer.calibration import (
    Calibrations,
    calibrated_settings,
    calibrations_to_json,
    fit_calibrated,
)


def calibrate(model: MeasuredModel, output: Path, report: Report) -> ModelConfig:
    """Writes the model with calibrated scores; its predictions are the same.

    Args:
        model: The model and the gold documents that the scale of its scores is fitted on.
        output: The new model folder.
        report: Gets the scale and the calibration errors of each task.

    Raises:
        OutputError: There is something at ``output`` already, or the disk is full.
    """
    with new_folder(output) as work:
        old = model.folder.config
        settings, found = calibrated_settings(model.pipeline(), model.fitted_on, old.settings.plain)
        for event in events(found):
            report(event)
        scores = old.scores | {"calibration": calibrations_to_json(found)}
        origin = old.origin | {"calibration data": model.dev_origin}
        settings = replace(settings, candidate_score=old.settings.candidate_score)
        config = replace(old, settings=settings, scores=scores, origin=origin)
        write_like(model.folder, work, config, without=())
    return config


def events(calibrations: Calibrations) -> list[dict[str, Any]]:
    """One line per task: its scale and errors, without the bins."""
    return [
        {"event": "calibration", "task": task}
        | {
            key: value
            for key, value in calibration.to_json().items()
            if key not in ("before", "after")
        }
        for task, calibration in calibrations.items()
    ]


def refit(model: MeasuredModel, output: Path, report: Report) -> ModelConfig:
    """Writes the model with thresholds, rescue, overlap rule and scale of scores fitted anew.

    Args:
        model: The model and the gold documents to fit them on; its preferred graph decides.
        output: The new model folder.
        report: Gets F1 before and after.

    Raises:
        OutputError: There is something at ``output`` already, or the disk is full.
    """
    old = model.folder.config
    with new_folder(output) as work:
        pipeline = model.pipeline()
        before = model.scores(pipeline, old.settings)
        settings, found = fit_calibrated(pipeline, model.fitted_on, old.settings)
        settings = replace(settings, candidate_score=old.settings.candidate_score)
        graphs = _by_precision(model, settings)
        after = next(iter(graphs.values()))
        for name, curve in (("before", before), ("after", after)):
            report({"event": "thresholds", "fit": name, "scores": curve})
        scores = {
            "split": "dev", "documents": len(model.dev), **_keep(old), **graphs,
            "calibration": calibrations_to_json(found),
        }  # fmt: skip
        origin = old.origin | {"dev data": model.dev_origin}
        config = replace(old, settings=settings, scores=scores, origin=origin)
        write_like(model.folder, work, config, without=())
    return config


def _keep(old: ModelConfig) -> dict[str, Any]:
    """What thresholds have nothing to do with: how far the graphs are from torch."""
    return {key: old.scores[key] for key in ("parity",) if key in old.scores}


def _by_precision(model: MeasuredModel, settings: DecodeSettings) -> dict[str, Any]:
    """Dev F1 of each graph that the folder has, the preferred one first."""
    paths = {name: model.folder.path / file for name, file in GRAPHS.items()}
    return {
        name: model.scores(model.pipeline(path), settings)
        for name, path in paths.items()
        if path.is_file()
    }
