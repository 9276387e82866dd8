"""Stages that count steps: how much time they have, and whether they are through."""

from __future__ import annotations

import json
import time
from pathlib import Path

from safetensors import safe_open

from sciextract_trainer.checkpoint import WEIGHTS
from sciextract_trainer.sessions import TimeIsUp


def minutes_left(until: float) -> float:
    """Minutes until ``time.monotonic()`` is ``until``."""
    return max(0.0, (until - time.monotonic()) / 60)


def require_last_step(folder: Path, steps: int) -> None:
    """Tells a training that was stopped from a finished one.

    Raises:
        TimeIsUp: Its checkpoint is not that of the last step.
    """
    with safe_open(folder / WEIGHTS, framework="pt") as file:
        state = json.loads(file.metadata()["state"])
    if int(state["schedule_step"]) < steps:
        raise TimeIsUp
