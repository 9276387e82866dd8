"""``sciextract-trainer calibrate``: scores that say how often predictions are right."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sciextract_trainer.commands.extra import needs_extra
from sciextract_trainer.commands.options import ModelArgument, ModelOutputOption, SchemaOption


def calibrate(
    model: ModelArgument,
    dev: Annotated[Path, typer.Option(metavar="FILE", help="Gold that it was not trained on.")],
    output: ModelOutputOption,
    schema: SchemaOption = None,
) -> None:
    """Fit the scale of a model's scores on gold; what it predicts stays the same.

    A score of 0.8 then says that eight of ten such predictions are right: entities, relations and coreference
    get a temperature and a shift each, and thresholds move along. Errors before and after, and on halves that
    the scale was not fitted on, are printed as JSON lines and stand in the model's card.

    Example:

        sciextract-trainer calibrate sci --dev dev.jsonl --output sci-calibrated
    """
    module = needs_extra("sciextract_trainer.calibration.command")
    from sciextract.workflows.events import json_report
    from sciextract_trainer.compression.opened import open_measured

    module.calibrate(open_measured(model, dev, schema), output, json_report)
    json_report({"event": "done", "model": str(output)})
