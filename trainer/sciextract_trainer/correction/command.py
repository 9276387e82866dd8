"""What ``sciextract retrain --project`` calls."""

from __future__ import annotations

from pathlib import Path

from sciextract.workflows.correction.beginning import (
    opened_snapshot,
    start_model,
    take_snapshot,
)
from sciextract.workflows.correction.ending import Ending
from sciextract.workflows.correction.judging import judge
from sciextract.workflows.correction.narrator import Narrator
from sciextract.workflows.correction.order import Order, open_run
from sciextract.workflows.events import Report
from sciextract_trainer.correction.round import Round
from sciextract_trainer.hardware.device import choose_device


def retrain_project(order: Order, folder: Path | None, device: str, report: Report) -> Ending:
    """Trains on a project's decisions, or takes up a run that was stopped.

    Args:
        order: What is wanted.
        folder: The run folder; a new one when ``None``.
        device: ``auto``, ``cpu``, ``cuda`` or ``mps``.
        report: Gets every event.

    Raises:
        DeviceMissingError: The device is not there; nothing was done.
        TrainingDataError: There is nothing to train on.
        SciextractError: Something else cannot be done; what is finished is kept.
    """
    chosen = choose_device(device)
    run, agreed = open_run(folder, order)
    narrator = Narrator(run, report)
    with narrator.telling():
        start = start_model(run, agreed)
        take_snapshot(run, agreed, narrator)
        Round(run, agreed, chosen, narrator).learn(start)
        _, snapshot = opened_snapshot(run)
        return judge(run, agreed, narrator, start.path, snapshot)
