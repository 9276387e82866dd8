"""The statistics of the project: how each page is drawn, and the screen that shows them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import ClassVar

from rich.text import Text
from textual.binding import Binding, BindingType

from sciextract.errors import SciextractError
from sciextract.store import open_project
from sciextract.workflows.agreement import Cancelled, WithSource, agree_with, sides
from sciextract_app.shared.jobs import Job, error_line, start_job
from sciextract_app.shared.view_models import Feedback, Hint, Mode
from sciextract_app.statistics.pages import (
    PAGES,
    STATES,
    AgreementBar,
    LabelBar,
    LabelsPage,
    LayerPlot,
    LearningPage,
    Page,
    ProgressPage,
    agreement_bars,
    gather,
)
from sciextract_app.widgets.bars import FooterBar, TabLine
from sciextract_app.widgets.plots import (
    BarPart,
    BarRow,
    ChartScale,
    Drawing,
    PlotPane,
    PlotScreen,
    bar_lines,
    chart,
    legend,
    spread,
    word_lines,
)

MARK = "mark"
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
        case LabelsPage():
            return state_lines(page.bars, width)
        case LearningPage():
            return learning_lines(page, width, height)


def progress_lines(page: ProgressPage, width: int, height: int) -> list[Text]:
    """Abstracts done so far, and on each day."""
    lines = word_lines(page.summary, width)
    if not page.counts:
        return lines
    rows = min(12, max(4, (height - len(lines) - 8) // 2))
    below = (page.first, page.last if page.last != page.first else "")
    whole = ChartScale(0, max(1, *page.sums))
    each = ChartScale(0, max(1, *page.counts))
    lines += [Text(), Text("done so far", "bold"), *chart(page.sums, whole, width, rows, below)]
    title = Text(f"done each {page.unit}", "bold")
    return [*lines, Text(), title, *chart(page.counts, each, width, rows, below)]


def state_lines(bars: Sequence[LabelBar], width: int) -> list[Text]:
    """Items of each label by state: the longest bar is the most frequent label's."""
    if not bars:
        return word_lines(["there are no items yet"], width)
    parts = [BarPart(name, *_LOOKS[name]) for name in STATES]
    rows = [BarRow(bar.name, bar.counts, bar.after, heading=not bar.counts) for bar in bars]
    most = max(sum(bar.counts) for bar in bars)
    return [*legend(parts, width), Text(), *bar_lines(rows, parts, width, most)]


def learning_lines(page: LearningPage, width: int, height: int) -> list[Text]:
    """F1 of each layer before the abstracts were touched, and what correcting them took."""
    lines = word_lines(page.summary, width)
    named: list[tuple[str, Sequence[float | None]]] = [
        ("keys to decide, per abstract", page.keys),
        ("keys to move, per abstract", page.travel),
        ("seconds per abstract", page.seconds),
    ]
    effort = [(name, values) for name, values in named if any(values)]
    count = len(page.layers) + len(effort)
    rows = min(8, max(3, height // count - 4)) if count else 0
    below = ("first abstract", "latest")
    for layer in page.layers:
        drawn = chart(layer.f1, ChartScale(0, 100), width, rows, below)
        _mark(drawn[:rows], layer, rows)
        lines += [Text(), *word_lines([layer.words], width, "bold"), *drawn]
    for name, values in effort:
        scale = ChartScale(0, max(1.0, *(each for each in values if each is not None)))
        drawn = chart(values, scale, width, rows, below)
        lines += [Text(), Text(name, "bold"), *drawn]
    return lines


def _mark(drawn: Sequence[Text], layer: LayerPlot, rows: int) -> None:
    """Draw the score without the adapter into the lines of a chart."""
    missing = len(layer.f1) - len(layer.other)
    margin = drawn[0].plain.index("┤") + 1
    width = drawn[0].cell_len - margin
    values: list[float | None] = [*([None] * missing), *layer.other]
    for cell, value in enumerate(spread(values, width)):
        if value is None:
            continue
        line = drawn[rows - 1 - min(rows - 1, int(value / 100 * rows))]
        before, after = line[: margin + cell], line[margin + cell + 1 :]
        line.plain, line.spans = "", []
        line.append_text(before).append("━", MARK).append_text(after)


def agreement_lines(bars: Sequence[AgreementBar], note: str, width: int) -> list[Text]:
    """Figures of each source; F1 from 0 to 100, kappa to 1, with 95 % intervals over abstracts."""
    words = "annotations of this project, on abstracts whose entities are done, compared with other sources"
    lines = word_lines([words, *([note] if note else [])], width)
    rows = [
        BarRow(bar.name, heading=True)
        if bar.share is None
        else BarRow(bar.name, (bar.share,), bar.after)
        for bar in bars
    ]
    drawn = bar_lines(rows, (BarPart("", "█", "bar"),), width, 1)
    return [*lines, *([Text()] if drawn else []), *drawn]


_HINTS = (
    Hint("Tab", "next page"),
    Hint("↑ ↓", "scroll"),
    Hint("Esc", "back to the desk"),
)


class DashboardScreen(PlotScreen):
    """Four pages; everything is read in the background.

    Args:
        path: The project.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,f7", "app.pop_screen", "back", id="statistics.leave"),
        Binding("tab,right,l", "turn(1)", "next page", id="statistics.next"),
        Binding("shift+tab,left,h", "turn(-1)", "page before", id="statistics.previous"),
    ]

    def __init__(self, path: Path) -> None:
        super().__init__(f"{path.name}: statistics", PAGES)
        self._path = path
        self._place = 0
        self._pages: dict[str, Page] = {}
        self._agreement: list[AgreementBar] | None = None
        self._note = ""

    def on_mount(self) -> None:
        """Begin to read."""
        self.query_one(FooterBar).show(_HINTS, Mode.REVIEW)
        self._draw()
        self._gather()

    def action_turn(self, by: int) -> None:
        """Show the next page, or the one before."""
        self._place = (self._place + by) % len(PAGES)
        if PAGES[self._place] == "agreement" and self._agreement is None:
            self._agreement = []
            self._note = "comparing…"  # takes seconds, so only once somebody looks at it
            self._agree()
        self._draw()

    def _gather(self) -> None:
        def work(job: Job) -> None:
            with open_project(self._path, read=True) as project:
                for name, page in gather(project):
                    job.call(self._show_page, name, page)
                    if job.is_cancelled:
                        return

        def failed(error: SciextractError) -> None:
            self.show_message(Feedback(f"no statistics: {error_line(error)}", problem=True))

        start_job(self, "the statistics", work, failed, self.show_message)

    def _show_page(self, name: str, page: Page) -> None:
        self._pages[name] = page
        if name == PAGES[self._place]:
            self._draw()

    def _agree(self) -> None:
        """Compare with all other sources, one after the other."""

        def work(job: Job) -> None:
            with open_project(self._path, read=True) as project:
                for side in sides(project):

                    def progress(done: int, of: int, name: str = side.name) -> bool:
                        words = f"comparing with {name}: {done:,} of {of:,} abstracts"
                        job.progress(self._show_note, words)
                        return not job.is_cancelled

                    try:
                        job.call(self._show_agreement, agree_with(project, side, progress))
                    except Cancelled:
                        return
            job.call(self._end_agreement)

        def failed(error: SciextractError) -> None:
            self._show_note(f"the comparison was stopped: {error_line(error)}")

        start_job(self, "the statistics", work, failed, self.show_message)

    def _show_note(self, words: str) -> None:
        self._note = words
        self._draw(top=False)

    def _show_agreement(self, found: WithSource) -> None:
        self._agreement = [*(self._agreement or []), *agreement_bars(found)]
        self._draw(top=False)

    def _end_agreement(self) -> None:
        self._show_note("" if self._agreement else "no other source has annotated them yet")

    def _draw(self, top: bool = True) -> None:
        name = PAGES[self._place]
        draw: Drawing
        if name == "agreement":
            bars, note = self._agreement or [], self._note
            draw = lambda width, _: agreement_lines(bars, note, width)
        elif name in self._pages:
            draw = partial(page_lines, self._pages[name])
        else:
            draw = lambda width, _: word_lines(["counting…"], width)
        self.query_one(TabLine).show(self._place)
        self.query_one(PlotPane).show(draw, top)
