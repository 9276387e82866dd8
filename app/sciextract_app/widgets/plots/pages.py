"""The pages of the statistics as lines of so many cells."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.text import Text

from sciextract_app.presenter.dashboard.agreement import AgreementBar
from sciextract_app.presenter.dashboard.labels import OUTCOMES, STATES, LabelBar
from sciextract_app.presenter.dashboard.pages import (
    AcceptancePage,
    CalibrationPage,
    LabelsPage,
    Page,
)
from sciextract_app.presenter.dashboard.progress import ProgressPage
from sciextract_app.presenter.dashboard.time import TimePage, duration
from sciextract_app.widgets.plots.axes import Scale, chart
from sciextract_app.widgets.plots.bars import BarRow, Part, bar_lines, legend
from sciextract_app.widgets.plots.reliability import Column, reliability_lines
from sciextract_app.widgets.plots.words import word_lines

_LOOKS = {
    "accepted": ("█", "good"),
    "edited": ("▓", "middle"),
    "added": ("+", "bar"),
    "imported": ("▒", "bar"),
    "undecided": ("·", "quiet"),
    "rejected": ("░", "bad"),
}


def page_lines(page: Page, width: int, height: int) -> list[Text]:
    """A page in so many cells; what needs more lines scrolls."""
    match page:
        case ProgressPage():
            return progress_lines(page, width, height)
        case CalibrationPage():
            return calibration_lines(page, width, height)
        case TimePage():
            return time_lines(page, width, height)
        case AcceptancePage():
            return acceptance_lines(page.bars, width)
        case LabelsPage():
            return state_lines(page.bars, width)


def progress_lines(page: ProgressPage, width: int, height: int) -> list[Text]:
    """Abstracts done so far, and on each day."""
    lines = word_lines(page.summary, width)
    if not page.counts:
        return lines
    rows = min(12, max(4, (height - len(lines) - 8) // 2))
    below = (page.first, page.last if page.last != page.first else "")
    whole = Scale(0, max(1, *page.sums))
    each = Scale(0, max(1, *page.counts))
    lines += [Text(), Text("done so far", "bold"), *chart(page.sums, whole, width, rows, below)]
    title = Text(f"done each {page.unit}", "bold")
    return [*lines, Text(), title, *chart(page.counts, each, width, rows, below)]


def acceptance_lines(bars: Sequence[LabelBar], width: int) -> list[Text]:
    """What became of the model's items, per label: every bar is a whole."""
    if not bars:
        return word_lines(
            ["no model has predicted anything here; F6 at the desk lets one predict"], width
        )
    words = "share of the model's items that were right as they stood; missed: added by a person"
    parts = _parts(OUTCOMES)
    return [
        *word_lines([words], width),
        *legend(parts, width),
        Text(),
        *_label_lines(bars, parts, width, 0),
    ]


def state_lines(bars: Sequence[LabelBar], width: int) -> list[Text]:
    """Items of each label by state: the longest bar is the most frequent label's."""
    if not bars:
        return word_lines(["there are no items yet"], width)
    parts = _parts(STATES)
    most = max(sum(bar.counts) for bar in bars)
    return [*legend(parts, width), Text(), *_label_lines(bars, parts, width, most)]


def calibration_lines(page: CalibrationPage, width: int, height: int) -> list[Text]:
    """The reliability diagram with its error."""
    error = page.error
    if error is None:
        return word_lines(
            ["no decision on an item of a model yet: nothing to hold its scores against"], width
        )
    columns = [
        Column(each.low, each.high, each.count, each.mean_score, each.accepted)
        for each in page.bins
    ]
    items = sum(each.count for each in columns)
    words = [
        f"expected calibration error {error:.3f} over {items:,} decided items",
        "columns: share accepted as it stood; ━ what the scores claim (a column that ends there is honest)",
    ]
    lines = word_lines(words, width)
    rows = max(5, min(16, height - len(lines) - 4))
    return [*lines, Text(), *reliability_lines(columns, width, rows)]


def time_lines(page: TimePage, width: int, height: int) -> list[Text]:
    """How many abstracts took how long."""
    lines = word_lines(page.summary, width)
    if not page.counts:
        return lines
    rows = max(5, min(14, height - len(lines) - 4))
    last = duration((len(page.counts) - 1) * page.width_s)
    below = ("0 s", f"{last} and more")
    drawn = chart(page.counts, Scale(0, max(page.counts)), width, rows, below)
    return [*lines, Text(), Text(f"abstracts per {duration(page.width_s)}", "bold"), *drawn]


def agreement_lines(bars: Sequence[AgreementBar], note: str, width: int) -> list[Text]:
    """Figures of each source; F1 from 0 to 100, kappa to 1, with 95 % intervals over abstracts."""
    words = (
        "what holds here, on abstracts whose entities are done, against what others said of them"
    )
    lines = word_lines([words, *([note] if note else [])], width)
    rows = [
        BarRow(bar.name, heading=True)
        if bar.share is None
        else BarRow(bar.name, (bar.share,), bar.after)
        for bar in bars
    ]
    drawn = bar_lines(rows, (Part("", "█", "bar"),), width, 1)
    return [*lines, *([Text()] if drawn else []), *drawn]


def _label_lines(
    bars: Iterable[LabelBar], parts: Sequence[Part], width: int, whole: float
) -> list[Text]:
    rows = [BarRow(bar.name, bar.counts, bar.after, heading=not bar.counts) for bar in bars]
    return bar_lines(rows, parts, width, whole)


def _parts(names: Iterable[str]) -> list[Part]:
    return [Part(name, *_LOOKS[name]) for name in names]
