"""The events of a grid, beside those of its trainings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sciextract.retraining.events import TrainingEvent


@dataclass(frozen=True, slots=True, kw_only=True)
class CellEvent(TrainingEvent):
    """Something that happened to a cell of a grid: its name, its number, and how many cells there are."""

    cell: str
    number: int
    of: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CellStarted(CellEvent):
    """The training of a cell begins, or continues."""

    kind = "cell"

    epochs: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CellTaken(CellEvent):
    """Another process trains the cell."""

    kind = "taken"


@dataclass(frozen=True, slots=True, kw_only=True)
class CellFailed(CellEvent):
    """The loss of a cell is not a number; the others go on."""

    kind = "failed"

    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CellScored(CellEvent):
    """A cell is finished, now or earlier: its scores (F1, 0 to 100), and the seconds spent on it."""

    kind = "scored"

    scores: Mapping[str, float]
    seconds: float
