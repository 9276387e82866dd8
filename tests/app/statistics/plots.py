"""An app of one plot with invented values, and the values."""

from __future__ import annotations

from collections.abc import Sequence

from textual.app import App, ComposeResult

from sciextract_app.shared.view_models import BarRow, Hint, Mode, Plot
from sciextract_app.statistics.pages import (
    PAGES,
    AgreementPage,
    LabelsPage,
    LearningPage,
    Page,
    progress_page,
    state_bars,
)
from sciextract_app.themes import THEMES
from sciextract_app.widgets.bars import FooterBar, TabLine
from sciextract_app.widgets.plots import Drawing, PlotPane

STATES = {
    ("entity", "Method"): {"accepted": 310, "added": 31, "undecided": 120},
    ("entity", "Task"): {"imported": 80, "rejected": 40, "edited": 12},
    ("relation", "USED-FOR"): {"undecided": 33},
}
PROGRESS = progress_page(
    61, 412, {"2026-03-02": 8, "2026-03-03": 21, "2026-03-06": 14, "2026-03-09": 18}
)
AGREEMENT = (
    BarRow("file maria\x1b[31m.sciextract: 120 of 300 abstracts"),
    BarRow("entities, exact", (0.71,), "71.0 [66.2 to 75.0]"),
    BarRow("tokens, Cohen's kappa", (0.65,), "0.65 [0.60 to 0.70]"),
    BarRow("relations", (0.0,), "none"),
)
DRAWN: dict[str, Page] = {
    "progress": PROGRESS,
    "labels": LabelsPage(tuple(state_bars(STATES))),
    "agreement": AgreementPage(AGREEMENT),
    "learning": LearningPage(
        ("F1 of what was suggested before you touched an abstract",),
        (
            Plot(
                "entities: 62.0; adapter on",
                [62 - 50 / (1 + place / 3) for place in range(24)],
                100,
            ),
            Plot("relations: 20.0; adapter off", (10.0, 20.0), 100),
            Plot("keys to decide, per abstract", [30.0 - place for place in range(24)]),
            Plot("keys to move, per abstract", (None, *(90.0 - place for place in range(23)))),
        ),
    ),
}


class PlotApp(App[None]):
    """One plot between the tabs and the keys."""

    def __init__(
        self, draw: Drawing, place: int = 0, names: Sequence[str] = PAGES, theme: str = "desk-dark"
    ) -> None:
        super().__init__()
        self._draw = draw
        self._place = place
        self._names = names
        for known in THEMES:
            self.register_theme(known)
        self.theme = theme

    def compose(self) -> ComposeResult:
        yield TabLine("parsing.sciextract", self._names)
        yield PlotPane()
        yield FooterBar()

    def on_mount(self) -> None:
        self.query_one(TabLine).show(self._place)
        self.query_one(PlotPane).show(self._draw)
        self.query_one(FooterBar).show(((Hint("Esc", "back to the desk"),), Mode.REVIEW))
