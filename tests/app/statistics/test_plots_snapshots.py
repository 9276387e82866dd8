"""Pictures of the statistics and of a training, with invented values."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from sciextract.retraining.run_folder import RunStatus
from sciextract_app.statistics import screen
from sciextract_app.statistics.pages import PAGES
from sciextract_app.training import plots as training_plots
from sciextract_app.training.progress import RunProgress, training_result
from tests.app.statistics.plots import DRAWN, PlotApp
from tests.app.training.children import ended_run

Compare = Callable[..., bool]
SIZES = [(80, 24), (120, 40)]
BOTH = pytest.mark.parametrize("size", SIZES, ids=["80x24", "120x40"])
LIVE = RunProgress(
    "training", RunStatus("training", 1, "", epoch=5, epochs=8, share=0.52, remaining_seconds=184.0),
    "sci-7f5d368b", "cpu, 2 threads", 12.34,
    {
        "entity": tuple(2 / (1 + place / 9) for place in range(40)),
        "relation": tuple(3 / (1 + place / 14) for place in range(40)),
        "coreference": tuple(1 / (1 + place / 20) for place in range(40)),
    },
    {"entity": (55.0, 61.2, 64.0, 63.5), "relation": (20.0, 28.4, 33.0, 36.1), "coreference": (None,) * 4},
    "training on cpu", "", ("the start model does not know Dataset; it is learned from the beginning",),
)  # fmt: skip


@BOTH
@pytest.mark.parametrize("name", ["progress"])
def test_pages(snap_compare: Compare, name: str, size: tuple[int, int]) -> None:
    app = PlotApp(partial(screen.page_lines, DRAWN[name]), PAGES.index(name))
    assert snap_compare(app, terminal_size=size)


@pytest.mark.parametrize("name", ["labels", "learning"])
def test_other_pages(snap_compare: Compare, name: str) -> None:
    app = PlotApp(partial(screen.page_lines, DRAWN[name]), PAGES.index(name))
    assert snap_compare(app, terminal_size=(80, 24))


def test_agreement(snap_compare: Compare) -> None:
    app = PlotApp(partial(screen.page_lines, DRAWN["agreement"]), 2)
    assert snap_compare(app, terminal_size=(80, 24))


def test_without_colours(snap_compare: Compare, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    app = PlotApp(partial(screen.page_lines, DRAWN["labels"]), 1, theme="desk-16-colours-dark")
    assert snap_compare(app, terminal_size=(80, 24))


@BOTH
def test_training(snap_compare: Compare, size: tuple[int, int]) -> None:
    assert snap_compare(
        PlotApp(partial(training_plots.live_lines, LIVE), names=()), terminal_size=size
    )


@BOTH
def test_outcome(snap_compare: Compare, tmp_path: Path, size: tuple[int, int]) -> None:
    found = training_result(ended_run(tmp_path, "keep"))
    assert found is not None
    app = PlotApp(lambda width, _: training_plots.outcome_lines(found, width), names=())
    assert snap_compare(app, terminal_size=size)
