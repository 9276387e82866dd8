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
from sciextract_app.shared.jobs import Job, error_line, start_job
from sciextract_app.shared.view_models import BarRow, Feedback, Hint, Mode, Plot
from sciextract_app.statistics.pages import (
    PAGES,
    STATES,
    AgreementPage,
    LabelsPage,
    LearningPage,
    Page,
    ProgressPage,
    gather,
)
from sciextract_app.widgets.bars import FooterBar, TabLine
from sciextract_app.widgets.cells import bar, word_lines
from sciextract_app.widgets.plots import (
    BAR,
    BarPart,
    Drawing,
    PlotPane,
    PlotScreen,
    bar_lines,
    charts,
    legend,
)

_COMPARED = (
    "annotations of this project, on abstracts whose entities are done, compared with other sources"
)
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
            return progress_lines(page, width)
        case LabelsPage():
            return state_lines(page.bars, width)
        case LearningPage():
            below = "first abstract", "latest"
            return [*word_lines(page.summary, width), *charts(page.plots, below, width)]
        case AgreementPage():
            lines = word_lines([_COMPARED], width)
            return [*lines, Text(), *bar_lines(page.bars, (BarPart("", "█", "bar"),), width, 1)]


def progress_lines(page: ProgressPage, width: int) -> list[Text]:
    """Abstracts done so far, and on each day."""
    lines = word_lines(page.summary, width)
    if len(page.counts) < 2:  # one column would say no more than the words
        share = page.sums[-1] / page.documents if page.sums else 0.0
        return [*lines, Text("▕").append(bar(share, width - 2), BAR).append("▏")]
    plots = Plot("done so far", page.sums), Plot(f"done each {page.unit}", page.counts)
    return [*lines, *charts(plots, (page.first, page.last), width)]


def state_lines(bars: Sequence[BarRow], width: int) -> list[Text]:
    """Items of each label by state: the longest bar is the most frequent label's."""
    if not bars:
        return word_lines(["there are no items yet"], width)
    parts = [BarPart(name, *_LOOKS[name]) for name in STATES]
    most = max(sum(bar.counts) for bar in bars)
    return [*legend(parts, width), Text(), *bar_lines(bars, parts, width, most)]


_HINTS = (Hint("Tab", "next page"), Hint("↑ ↓", "scroll"), Hint("Esc", "back to the desk"))


class DashboardScreen(PlotScreen):
    """Four pages; everything is read in the background.

    Args:
        path: The project.
        share: How often what is accepted as sure shall be right.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,f7", "app.pop_screen", "back", id="statistics.leave"),
        Binding("tab,right,l", "turn(1)", "next page", id="statistics.next"),
        Binding("shift+tab,left,h", "turn(-1)", "page before", id="statistics.previous"),
    ]

    def __init__(self, path: Path, share: float) -> None:
        super().__init__(f"{path.name}: statistics", PAGES)
        self._path, self._share = path, share
        self._place = 0
        self._pages: dict[str, Page] = {}

    def on_mount(self) -> None:
        """Begin to read."""
        self.query_one(FooterBar).show((_HINTS, Mode.REVIEW))
        self._draw()
        self._gather()

    def action_turn(self, by: int) -> None:
        """Show the next page, or the one before."""
        self._place = (self._place + by) % len(PAGES)
        self._draw()

    def _gather(self) -> None:
        def work(job: Job) -> None:
            def progress(name: str, done: int, of: int) -> bool:
                words = f"comparing with {name}: {done:,} of {of:,} abstracts"
                job.progress(self.show_message, Feedback(words))
                return not job.is_cancelled

            with open_project(self._path, read=True) as project:
                for name, page in gather(project, self._share, progress):
                    job.call(self._show_page, name, page)
                    if job.is_cancelled:
                        return
            job.call(self.show_message, Feedback())

        def show_error(error: SciextractError) -> None:
            self.show_message(Feedback(f"statistics ended: {error_line(error)}", problem=True))

        start_job(self, "the statistics", work, show_error)

    def _show_page(self, name: str, page: Page) -> None:
        self._pages[name] = page
        if name == PAGES[self._place]:
            self._draw(top=False)

    def _draw(self, top: bool = True) -> None:
        page = self._pages.get(PAGES[self._place])
        draw: Drawing = lambda width, _: word_lines(["counting…"], width)
        self.query_one(TabLine).show(self._place)
        self.query_one(PlotPane).show(partial(page_lines, page) if page else draw, top)
