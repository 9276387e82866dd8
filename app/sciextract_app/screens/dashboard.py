"""The statistics of the project, as pages of plots."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import Screen

from sciextract.errors import SciextractError
from sciextract.store import open_project
from sciextract.workflows.agreement import Cancelled, WithSource, agree_with, sides
from sciextract_app.presenters.dashboard import PAGES, AgreementBar, Page, agreement_bars, gather
from sciextract_app.presenters.view_models import Feedback, Hint, Mode
from sciextract_app.widgets import plot_pages
from sciextract_app.widgets.bars import FooterBar, MessageBar, TabLine, TooSmall
from sciextract_app.widgets.plots import Drawing, PlotPane, word_lines
from sciextract_app.workers.jobs import Job, error_line, start_job

_HINTS = (
    Hint("1-4", "page"),
    Hint("Tab", "next page"),
    Hint("↑ ↓", "scroll"),
    Hint("Esc", "back to the desk"),
)


class DashboardScreen(Screen[None]):
    """Four pages; everything is read in the background.

    Args:
        path: The project.
    """

    AUTO_FOCUS = ""
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,f7", "app.pop_screen", "back", id="statistics.leave"),
        Binding("tab,right,l", "turn(1)", "next page", id="statistics.next"),
        Binding("shift+tab,left,h", "turn(-1)", "page before", id="statistics.previous"),
        Binding("down,j", "scroll(1)", "down", id="statistics.down"),
        Binding("up,k", "scroll(-1)", "up", id="statistics.up"),
        Binding("pagedown,space", "scroll(10)", "down", id="statistics.page-down"),
        Binding("pageup", "scroll(-10)", "up", id="statistics.page-up"),
        *(
            Binding(str(place), f"page({place - 1})", name, id=f"statistics.{name}")
            for place, name in enumerate(PAGES, start=1)
        ),
    ]

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._path = path
        self._place = 0
        self._pages: dict[str, Page] = {}
        self._agreement: list[AgreementBar] | None = None
        self._note = ""

    def compose(self) -> ComposeResult:
        """Tabs, the plot, and the keys."""
        yield TabLine(f"{self._path.name}: statistics", PAGES, id="tabs")
        yield PlotPane(id="plot")
        yield MessageBar(id="message")
        yield FooterBar(id="footer")
        yield TooSmall()

    def on_mount(self) -> None:
        """Begin to read."""
        self.query_one(FooterBar).show(_HINTS, Mode.REVIEW)
        self._draw()
        self._gather()

    def action_page(self, place: int) -> None:
        """Show one of the pages."""
        self._place = place % len(PAGES)
        if PAGES[self._place] == "agreement" and self._agreement is None:
            self._agreement = []
            self._note = "comparing…"  # takes seconds, so only once somebody looks at it
            self._agree()
        self._draw()

    def action_turn(self, by: int) -> None:
        """Show the next page, or the one before."""
        self.action_page(self._place + by)

    def action_scroll(self, by: int) -> None:
        """Show what is below or above."""
        self.query_one(PlotPane).scroll_relative(y=by, animate=False)

    def _gather(self) -> None:
        def work(job: Job) -> None:
            with open_project(self._path, read=True) as project:
                for name, page in gather(project):
                    job.call(self._show_page, name, page)
                    if job.is_cancelled:
                        return

        def failed(error: SciextractError) -> None:
            self._show_message(Feedback(f"no statistics: {error_line(error)}", problem=True))

        start_job(self, "the statistics", work, failed, self._show_message)

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

        start_job(self, "the statistics", work, failed, self._show_message)

    def _show_note(self, words: str) -> None:
        self._note = words
        self._draw(top=False)

    def _show_agreement(self, found: WithSource) -> None:
        self._agreement = [*(self._agreement or []), *agreement_bars(found)]
        self._draw(top=False)

    def _end_agreement(self) -> None:
        self._show_note("" if self._agreement else "no other source has annotated them yet")

    def _show_message(self, feedback: Feedback) -> None:
        self.query_one(MessageBar).show(feedback)

    def _draw(self, top: bool = True) -> None:
        name = PAGES[self._place]
        draw: Drawing
        if name == "agreement":
            bars, note = self._agreement or [], self._note
            draw = lambda width, _: plot_pages.agreement_lines(bars, note, width)
        elif name in self._pages:
            draw = partial(plot_pages.page_lines, self._pages[name])
        else:
            draw = lambda width, _: word_lines(["counting…"], width)
        self.query_one(TabLine).show(self._place)
        self.query_one(PlotPane).show(draw, top)
