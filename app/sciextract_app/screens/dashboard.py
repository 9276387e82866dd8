"""The statistics of the project, as pages of plots."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import Screen
from textual.worker import Worker, WorkerState, get_current_worker

from sciextract_app.messages import crash_feedback, error_line
from sciextract_app.presenters.dashboard import PAGES, AgreementBar, Page, agreement_bars
from sciextract_app.presenters.view_models import Feedback, Hint, Mode
from sciextract_app.widgets import plot_pages
from sciextract_app.widgets.bars import FooterBar, MessageBar, TabLine, TooSmall
from sciextract_app.widgets.plots import Drawing, PlotPane, word_lines
from sciextract_app.workers import counting

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
        self._read(counting.ChartsJob.gather)

    def action_page(self, place: int) -> None:
        """Show one of the pages."""
        self._place = place % len(PAGES)
        if PAGES[self._place] == "agreement" and self._agreement is None:
            self._agreement = []
            self._note = "comparing…"  # takes seconds, so only once somebody looks at it
            self._read(counting.ChartsJob.agree)
        self._draw()

    def action_turn(self, by: int) -> None:
        """Show the next page, or the one before."""
        self.action_page(self._place + by)

    def action_scroll(self, by: int) -> None:
        """Show what is below or above."""
        self.query_one(PlotPane).scroll_relative(y=by, animate=False)

    @work(thread=True, exit_on_error=False)
    def _read(self, read: Callable[[counting.ChartsJob], None]) -> None:
        worker = get_current_worker()
        read(counting.ChartsJob(self._path, lambda: worker.is_cancelled, self.post_message))

    @on(counting.PageReady)
    def _page_ready(self, event: counting.PageReady) -> None:
        self._pages[event.name] = event.page
        if event.name == PAGES[self._place]:
            self._draw()

    @on(counting.PagesFailed)
    def _pages_failed(self, event: counting.PagesFailed) -> None:
        self._show_message(Feedback(f"no statistics: {error_line(event.error)}", problem=True))

    @on(counting.AgreementProgress)
    def _agreement_progress(self, event: counting.AgreementProgress) -> None:
        self._note = event.words
        self._draw(top=False)

    @on(counting.AgreementReady)
    def _agreement_ready(self, event: counting.AgreementReady) -> None:
        found = self._agreement = self._agreement or []
        if event.found is not None:
            self._agreement = [*found, *agreement_bars(event.found)]
        elif event.error is not None:
            self._note = f"the comparison was stopped: {error_line(event.error)}"
        else:
            self._note = "" if found else "no other source has annotated them yet"
        self._draw(top=False)

    @on(Worker.StateChanged)
    def _worker_changed(self, event: Worker.StateChanged) -> None:
        if event.state is WorkerState.ERROR and event.worker.error is not None:
            self._show_message(crash_feedback("the statistics", event.worker.error))

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
