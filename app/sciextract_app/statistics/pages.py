"""The pages of the statistics, gathered one after the other, what is quick to count first."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from functools import partial
from itertools import accumulate
from statistics import fmean

from sciextract.metrics.report import AgreementReport, F1Agreement
from sciextract.store import Project
from sciextract.store.statistics import done_by_day, label_states
from sciextract.text.english import counted
from sciextract.workflows.agreement import Cancelled, ComparableSource, agree_with, sides
from sciextract.workflows.learning_curve import LearningCurve, learning_curve, sure_words
from sciextract_app.shared.actions import key_of
from sciextract_app.shared.session import totals
from sciextract_app.shared.view_models import BarRow, Plot


def agreement_bars(source: ComparableSource, report: AgreementReport | None) -> list[BarRow]:
    """A source's name and its figures."""
    kind, _, rest = source.name.partition(":")
    # A model's name without the number of its run: model:sci@1f0c2a9b/01M7Y is model sci@1f0c2a9b.
    name = f"model {rest.partition('/')[0]}" if kind == "model" else f"file {rest}"
    if report is None:
        return [BarRow(f"{name}: no abstract that both have decided")]
    many, comparable = f"{report.documents:,}", len(source.numbers)
    if comparable > report.documents:
        many += f" of {comparable:,}"
    word = "abstract" if many == "1" else "abstracts"
    return [BarRow(f"{name}: {many} {word}"), *_figures(report)]


def _figures(report: AgreementReport) -> Iterator[BarRow]:
    yield _f1("entities, exact", report.spans.exact)
    yield _f1("entities, overlapping", report.spans.overlap)
    kappa = report.tokens.all
    if kappa.kappa is not None:
        spread = kappa.interval
        around = f" [{spread.low:.2f} to {spread.high:.2f}]" if spread else ""
        share = max(0.0, kappa.kappa)
        yield BarRow("tokens, Cohen's kappa", (share,), f"{kappa.kappa:.2f}{around}")
    yield _f1("relations", report.relations.strict)
    yield _f1("relations, shared spans", report.relations.shared_spans)
    yield _f1("coreference (CoNLL)", report.coreference.conll)


def _f1(name: str, found: F1Agreement) -> BarRow:
    if found.f1 is None:
        return BarRow(name, (0.0,), "none")
    around = f" [{found.interval.low:.1f} to {found.interval.high:.1f}]" if found.interval else ""
    return BarRow(name, (found.f1 / 100,), f"{found.f1:.1f}{around}")


KINDS = {"entity": "Entities", "relation": "Relations", "link": "Coreference"}
STATES = ("accepted", "edited", "added", "imported", "undecided", "rejected")


def state_bars(by_label: Mapping[tuple[str, str], Mapping[str, int]]) -> list[BarRow]:
    """Per label the items in each state, in the order of :data:`STATES`."""
    found: list[BarRow] = []
    for kind, heading in KINDS.items():
        of_kind = {name[1]: states for name, states in by_label.items() if name[0] == kind}
        found += [BarRow(heading)] if of_kind else []
        for label, states in of_kind.items():
            counts = tuple(states.get(state, 0) for state in STATES)
            after = f"{sum(counts):,}, {states.get('undecided', 0):,} undecided"
            found.append(BarRow(label or "links", counts, after))
    return found


_MOST_DAYS = 60
"""A longer time is shown in weeks."""
_RECENT = 10


@dataclass(frozen=True, slots=True)
class ProgressPage:
    """How the work continues.

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
    summary = [f"{done:,} of {counted(documents, 'abstract')} done"]
    left, recent = documents - done, [by_day[day] for day in sorted(by_day)][-_RECENT:]
    if recent and left > 0:
        rate = fmean(recent)
        pace = f"{rate:,.0f} on a day of work" if rate >= 1 else "fewer than one a day"
        # Rounded up: a day that is begun is a day of work.
        to_go = counted(-(-left // max(1, round(rate))), "more day")
        summary.append(f"{pace} lately: {to_go} of work to go")
    if not by_day:
        summary.append(f"{key_of('done')} marks an abstract as done; the days appear here")
        return ProgressPage(tuple(summary), "day", "", "", (), (), documents)
    days = sorted(date.fromisoformat(day) for day in by_day)
    # More bars than that find no room in a terminal of 80 columns.
    step, unit = (1, "day") if (days[-1] - days[0]).days < _MOST_DAYS else (7, "week")
    counts = [0] * ((days[-1] - days[0]).days // step + 1)
    for day in days:
        counts[(day - days[0]).days // step] += by_day[day.isoformat()]
    before = max(0, done - sum(counts))
    sums = tuple(min(documents, before + total) for total in accumulate(counts))
    ends = (days[0].isoformat(), (days[0] + timedelta(step * (len(counts) - 1))).isoformat())
    return ProgressPage(tuple(summary), unit, *ends, tuple(counts), sums, documents)


PAGES = ("progress", "labels", "agreement", "learning")


@dataclass(frozen=True, slots=True)
class LabelsPage:
    """Per label the items in each state."""

    bars: tuple[BarRow, ...]


@dataclass(frozen=True, slots=True)
class AgreementPage:
    """Figures of each source; F1 from 0 to 100, kappa to 1, with 95 % intervals over abstracts."""

    bars: tuple[BarRow, ...]


@dataclass(frozen=True, slots=True)
class LearningPage:
    """How well abstracts were suggested before they were corrected.

    Attributes:
        summary: Lines of words.
        plots: F1 of each layer with a finished abstract, and what each abstract took, as far as it was recorded.
    """

    summary: tuple[str, ...]
    plots: tuple[Plot, ...] = ()


def learning_page(curve: LearningCurve) -> LearningPage:
    """The page from the running score."""
    points = curve.abstracts
    if not points:
        return LearningPage(("no abstract is finished yet at the desk; imports do not count",))
    plots = []
    for layer, running in curve.layers.items():
        if running.shown:
            score = f"{layer}: {running.shown[-1]:.1f}"
            if running.adapter:
                score += f"; adapter {running.adapter[-1]:.1f}, without it {running.other[-1]:.1f}"
            score += f"; adapter {'on' if running.use.on else 'off'}: {running.use.reason}"
            plots.append(Plot(score, running.shown, 100))
    taken = [
        Plot("keys to decide, per abstract", [point.keys for point in points]),
        Plot("keys to move, per abstract", [point.travel for point in points]),
        Plot("seconds per abstract", [point.seconds for point in points]),
    ]
    words = (
        f"F1 of suggestions as they stood before you touched them, latest {curve.window} abstracts"
    )
    accepts = (f"{key_of('accept-above')} accepts {line}" for line in sure_words(curve.sure))
    return LearningPage((words, *accepts), (*plots, *(plot for plot in taken if any(plot.values))))


Page = ProgressPage | LabelsPage | AgreementPage | LearningPage


def gather(
    project: Project, share: float, on_progress: Callable[[str, int, int], bool]
) -> Iterator[tuple[str, Page]]:
    """Names and pages; in a large project some take seconds, so they are gathered in the background.

    Args:
        project: The project.
        share: The precision to promise of suggestions.
        on_progress: Told which source is compared, on how many abstracts so far and of how many; says whether to go on.
    """
    known = totals(project)
    yield "progress", progress_page(known.done, known.documents, done_by_day(project))
    yield "labels", LabelsPage(tuple(state_bars(label_states(project))))
    yield "learning", learning_page(learning_curve(project, share=share))
    bars: list[BarRow] = []
    for side in sides(project):
        try:
            found = agree_with(project, side, partial(on_progress, side.name))
        except Cancelled:
            return
        bars += agreement_bars(side, found)
        yield "agreement", AgreementPage(tuple(bars))
    if not bars:
        yield "agreement", AgreementPage((BarRow("no other source has annotated them yet"),))
