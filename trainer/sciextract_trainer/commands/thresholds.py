"""``sciextract-trainer thresholds``: a model that draws its lines elsewhere."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sciextract_trainer.commands.extra import needs_extra
from sciextract_trainer.commands.options import ModelArgument, ModelOutputOption, SchemaOption


def thresholds(
    model: ModelArgument,
    dev: Annotated[Path, typer.Option(metavar="FILE", help="Gold that it was not trained on.")],
    output: ModelOutputOption,
    schema: SchemaOption = None,
) -> None:
    """Fit a model's thresholds on gold; its weights stay the same.

    For texts of another kind, or gold of your own: thresholds of the three tasks, whether entities may lie
    inside others, and which entities below the threshold a sure relation rescues. The scale of the scores is
    fitted with them. F1 before and after is printed as JSON lines.

    Example:

        sciextract-trainer thresholds sci --dev dev.jsonl --output my-sci
    """
    module = needs_extra("sciextract_trainer.calibration.refitting")
    from sciextract.workflows.events import json_report
    from sciextract_trainer.compression.opened import open_measured

    module.refit(open_measured(model, dev, schema), output, json_report)
    json_report({"event": "done", "model": str(output)})
