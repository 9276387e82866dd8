"""Abstracts done, day by day."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import accumulate
from statistics import fmean

from sciextract_app.presenter.words import counted_many

_MOST_DAYS = 60
"""A longer time is shown in weeks."""
_RECENT = 10


@dataclass(frozen=True, slots=True)
class ProgressPage:
    """How the work goes on.

    Attributes:
        summary: Lines of words.
        unit: ``day`` or ``week``.
        first: The first day, empty without any.
        last: The last day.
        counts: Abstracts marked as done, per unit without gaps.
        sums: Abstracts that were done at the end of each.
        documents: All abstracts.
    """

    summary: tuple[str, ...]
    unit: str
    first: str
    last: str
    counts: tuple[int, ...]
    sums: tuple[int, ...]
    documents: int


def progress_page(done: int, documents: int, by_day: Mapping[str, int]) -> ProgressPage:
    """The page from abstracts done by UTC day (``YYYY-MM-DD``)."""
    summary = [
        f"{done:,} of {counted_many(documents, 'abstract')} done",
        *_pace(done, documents, by_day),
    ]
    if not by_day:
        summary.append("D marks an abstract as done; the days appear here")
        return ProgressPage(tuple(summary), "day", "", "", (), (), documents)
    days = sorted(date.fromisoformat(each) for each in by_day)
    step, unit = (1, "day") if (days[-1] - days[0]).days < _MOST_DAYS else (7, "week")
    counts = [0] * ((days[-1] - days[0]).days // step + 1)
    for day in days:
        counts[(day - days[0]).days // step] += by_day[day.isoformat()]
    before = max(0, done - sum(counts))
    sums = tuple(min(documents, before + each) for each in accumulate(counts))
    ends = (days[0].isoformat(), (days[0] + timedelta(step * (len(counts) - 1))).isoformat())
    return ProgressPage(tuple(summary), unit, *ends, tuple(counts), sums, documents)


def _pace(done: int, documents: int, by_day: Mapping[str, int]) -> list[str]:
    left = documents - done
    recent = [by_day[day] for day in sorted(by_day)][-_RECENT:]
    if not recent or left <= 0:
        return []
    rate = fmean(recent)
    words = f"{rate:,.0f} on a day of work lately" if rate >= 1 else "fewer than one a day lately"
    return [f"{words}: {counted_many(-(-left // max(1, round(rate))), 'more day')} of work to go"]
