"""The events of a grid, beside those of its trainings."""

from __future__ import annotations

from collections.abc import Mapping

from sciextract.retraining.events import TrainingEvent


class CellEvent(TrainingEvent, kind="grid"):
    """Something that happened to a cell of a grid: its name, its number, and how many cells there are."""

    cell: str
    number: int
    of: int


class CellStarted(CellEvent, kind="cell"):
    """The training of a cell begins, or continues."""

    epochs: int


class CellTaken(CellEvent, kind="taken"):
    """Another process trains the cell."""


class CellFailed(CellEvent, kind="failed"):
    """The loss of a cell is not a number; the others go on."""

    message: str


class CellScored(CellEvent, kind="scored"):
    """A cell is finished, now or earlier: its scores (F1, 0 to 100), and the seconds spent on it."""

    scores: Mapping[str, float]
    seconds: float
