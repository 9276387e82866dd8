"""Long commands in slices of time: what they say at their end."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from sciextract_trainer.progress import Report, json_report

if TYPE_CHECKING:
    from sciextract.inference.model_config import ModelConfig


def sliced(minutes: float, work: Callable[[Report, float], ModelConfig], output: Path) -> None:
    """Runs what makes a model for so many minutes; the last line says whether it is finished.

    Args:
        minutes: After them the work stops where it can go on.
        work: Gets a report and the ``time.monotonic()`` at which to stop.
        output: Where the model is then.
    """
    from sciextract_trainer.slices import TimeIsUp, deadline

    try:
        config = work(json_report, deadline(minutes))
    except TimeIsUp:
        told = "the time is over; the same command goes on from here"
        json_report({"event": "stopped", "message": told})
        return
    json_report({"event": "done", "model": str(output), "scores": config.scores})
