"""``sciextract-trainer calibrate``: a model whose scores say how often its predictions are right."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from sciextract.inference.model_config import ModelConfig
from sciextract.workflows.events import Report
from sciextract_trainer.calibration.fitting import Calibrations, calibrated_settings, stated
from sciextract_trainer.compression.opened import MeasuredModel
from sciextract_trainer.compression.rewriting import new_folder, write_like


def calibrate(model: MeasuredModel, output: Path, report: Report) -> ModelConfig:
    """Writes the model with calibrated scores; its predictions are the same.

    Args:
        model: The model and the gold documents that the scale of its scores is fitted on.
        output: The new model folder.
        report: Told the scale and the calibration errors of each task.

    Raises:
        OutputError: There is something at ``output`` already, or the disk is full.
    """
    with new_folder(output) as work:
        old = model.folder.config
        settings, found = calibrated_settings(model.pipeline(), model.fitted_on, old.settings.plain)
        for event in events(found):
            report(event)
        scores = old.scores | {"calibration": stated(found)}
        origin = old.origin | {"calibration data": model.dev_origin}
        settings = replace(settings, candidate_score=old.settings.candidate_score)
        config = replace(old, settings=settings, scores=scores, origin=origin)
        write_like(model.folder, work, config, without=())
    return config


def events(calibrations: Calibrations) -> list[dict[str, Any]]:
    """One line per task: its scale and errors, without the bins."""
    return [
        {"event": "calibration", "task": task}
        | {key: value for key, value in each.to_json().items() if key not in ("before", "after")}
        for task, each in calibrations.items()
    ]
