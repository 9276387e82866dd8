"""Long work in slices of time: a call stops where it can go on; what each process took is kept in ``run.json``."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

from sciextract.retraining.run import environment
from sciextract.retraining.run_folder import Run, WorkSession, now
from sciextract_trainer.checkpoint import TrainingState, save_checkpoint
from sciextract_trainer.hardware.device import describe
from sciextract_trainer.hardware.distributed import Group

CHECKPOINT_SECONDS = 300.0
"""Within an epoch a checkpoint is written this often: what a killed process loses at most."""


class TimeIsUp(Exception):
    """The time of a call is over; what is finished is kept, and the same call continues."""


def deadline(minutes: float) -> float:
    """``time.monotonic()`` in so many minutes."""
    return time.monotonic() + 60 * minutes


def require_time(until: float) -> None:
    """Stops a call whose time is over.

    Raises:
        TimeIsUp: It is later than ``until``.
    """
    if time.monotonic() >= until:
        raise TimeIsUp


@dataclass(slots=True)
class Slice:
    """The part of an epoch that one call may take.

    Attributes:
        folder: Where the checkpoint goes.
        until: ``time.monotonic()`` at which the call is over.
        saved: When a checkpoint was written last.
    """

    folder: Path
    until: float
    saved: float = field(default_factory=time.monotonic)

    def after_step(self, state: TrainingState, group: Group) -> None:
        """Writes a checkpoint now and then, and when time is up.

        Raises:
            TimeIsUp: The call is over.
        """
        now = time.monotonic()
        # Several processes would have to agree on the step to stop at: they stop after an epoch.
        if group.size > 1 or now < min(self.until, self.saved + CHECKPOINT_SECONDS):
            return
        save_checkpoint(self.folder, state)
        self.saved = time.monotonic()
        require_time(self.until)


def note_environment(run: Run, **values: Any) -> None:
    """Write values, the machine and the versions into ``run.json``."""
    found = environment()
    found["versions"]["torch"] = torch.__version__
    run.note(**values, **found)


@contextmanager
def recorded(run: Run, device: torch.device, processes: int = 1) -> Iterator[None]:
    """Measures the time of a block, also of one that is stopped, and adds it to ``run.json``.

    Args:
        run: The run folder; the block makes it if need be.
        device: Where the block trains.
        processes: How many processes train together.
    """
    began, since = now(), time.monotonic()
    try:
        yield
    finally:
        spent = round(time.monotonic() - since, 1)
        run.folder.mkdir(parents=True, exist_ok=True)
        sessions = (*run.record().sessions, WorkSession(began, spent, describe(device), processes))
        run.note(sessions=sessions, seconds=round(sum(each.seconds for each in sessions), 1))
