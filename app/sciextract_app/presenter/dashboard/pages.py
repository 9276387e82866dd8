"""The pages of the statistics, gathered one after the other, what is quick to count first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sciextract.store import Project
from sciextract.store.looking.distributions import label_states, seconds_of_done
from sciextract.store.looking.stats import (
    ReliabilityBin,
    calibration_error,
    done_by_day,
    labels_of,
    reliability_of,
)
from sciextract_app.presenter.dashboard.labels import LabelBar, acceptance_bars, state_bars
from sciextract_app.presenter.dashboard.progress import ProgressPage, progress_page
from sciextract_app.presenter.dashboard.time import TimePage, time_page
from sciextract_app.presenter.totals import totals

PAGES = ("progress", "acceptance", "calibration", "time", "labels", "agreement")


@dataclass(frozen=True, slots=True)
class CalibrationPage:
    """How honest the model's scores are.

    Attributes:
        bins: Decided items by score.
        error: Expected calibration error, 0 to 1; ``None`` without decisions.
    """

    bins: tuple[ReliabilityBin, ...]
    error: float | None


@dataclass(frozen=True, slots=True)
class AcceptancePage:
    """Per label what became of the models' items."""

    bars: tuple[LabelBar, ...]


@dataclass(frozen=True, slots=True)
class LabelsPage:
    """Per label the items in each state."""

    bars: tuple[LabelBar, ...]


Page = ProgressPage | AcceptancePage | CalibrationPage | TimePage | LabelsPage


def gather(project: Project) -> Iterator[tuple[str, Page]]:
    """Names and pages; in a large project some take seconds, so they are gathered beside the keys."""
    known = totals(project.connection)
    yield "progress", progress_page(known.done, known.documents, done_by_day(project))
    yield "time", time_page(seconds_of_done(project))
    bins = reliability_of(project)
    yield "calibration", CalibrationPage(tuple(bins), calibration_error(bins))
    yield "labels", LabelsPage(tuple(state_bars(label_states(project))))
    yield "acceptance", AcceptancePage(tuple(acceptance_bars(labels_of(project))))
