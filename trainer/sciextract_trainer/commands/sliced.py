"""Long commands in slices of time: what they say at their end."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sciextract.workflows.events import Report, json_report

if TYPE_CHECKING:
    from sciextract.inference.model_config import ModelConfig


def sliced(minutes: float, work: Callable[[Report, float], Mapping[str, Any]]) -> None:
    """Works for so many minutes; the last line says whether it is finished.

    Args:
        minutes: After them the work stops where it can go on.
        work: Gets a report and the ``time.monotonic()`` at which to stop; gives what the last line says.
    """
    from sciextract_trainer.slices import TimeIsUp, deadline

    try:
        made = work(json_report, deadline(minutes))
    except TimeIsUp:
        told = "the time is over; the same command goes on from here"
        json_report({"event": "stopped", "message": told})
        return
    json_report({"event": "done", **made})


def done_model(folder: Path, config: ModelConfig) -> dict[str, Any]:
    """What the last line says of a finished model."""
    return {"model": str(folder), "scores": config.scores}
