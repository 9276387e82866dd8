"""What the pages say, and how bars and columns are drawn."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sciextract_app.shared.view_models import BarRow, Plot
from sciextract_app.statistics import screen
from sciextract_app.statistics.pages import PAGES, progress_page, state_bars
from sciextract_app.training import plots as training_plots
from sciextract_app.widgets.bars import tab_text
from sciextract_app.widgets.cells import bar
from sciextract_app.widgets.plots import (
    ROWS,
    BarPart,
    bar_lines,
    chart,
    charts,
    column_rows,
    spread,
    stacked,
)
from tests.app.statistics.plots import DRAWN, STATES
from tests.app.statistics.test_plots_snapshots import LIVE

SHARES = st.lists(st.none() | st.floats(-1, 2), max_size=50)


class TestProgress:
    def test_days_without_work_have_a_place(self) -> None:
        page = progress_page(10, 100, {"2026-03-02": 4, "2026-03-05": 6})
        assert page.counts == (4, 0, 0, 6)
        assert page.sums == (4, 4, 4, 10)
        assert page.summary[1] == "5 on a day of work lately: 18 more days of work to go"

    def test_a_long_time_is_shown_in_weeks(self) -> None:
        page = progress_page(9, 9, {"2026-01-01": 4, "2026-06-01": 5})
        assert (page.unit, len(page.counts), sum(page.counts)) == ("week", 22, 9)
        assert len(page.summary) == 1

    def test_marks_that_were_taken_back_do_not_exceed_all(self) -> None:
        assert max(progress_page(1, 3, {"2026-03-02": 7}).sums) == 3


class TestLabels:
    def test_states_are_those_of_the_current_view(self) -> None:
        assert state_bars(STATES)[1].after == "461, 120 undecided"


class TestBlocks:
    @given(st.floats(-1, 2), st.integers(1, 80))
    def test_a_bar_has_its_width(self, share: float, cells: int) -> None:
        assert len(bar(share, cells)) == cells

    @given(SHARES, st.integers(1, 12))
    def test_columns_have_their_height(self, shares: list[float | None], rows: int) -> None:
        lines = column_rows(shares, rows)
        assert [len(line) for line in lines] == [len(shares)] * rows

    @given(SHARES, st.integers(1, 90))
    def test_values_never_need_more_cells_than_there_are(
        self, values: list[float | None], cells: int
    ) -> None:
        assert len(spread(values, cells)) <= cells

    @given(st.lists(st.floats(0, 1), min_size=1, max_size=6), st.integers(1, 80))
    def test_parts_never_exceed_the_whole(self, sizes: list[float], cells: int) -> None:
        total = sum(sizes) or 1
        assert 0 <= sum(stacked([size / total for size in sizes], cells)) <= cells

    def test_little_is_not_nothing(self) -> None:
        assert bar(0.0001, 10).strip()
        assert column_rows([0.0001], 3)[-1].strip()


WIDE = pytest.mark.parametrize("width", [58, 78, 118, 198])


@WIDE
@pytest.mark.parametrize("name", list(DRAWN))
def test_no_line_is_wider_than_the_pane(name: str, width: int) -> None:
    lines = screen.page_lines(DRAWN[name], width, 20)
    assert max(line.cell_len for line in lines) <= width


@WIDE
def test_trainings_fit_too(width: int) -> None:
    lines = training_plots.live_lines(LIVE, width, 20)
    assert max(line.cell_len for line in lines) <= width


def test_what_a_terminal_would_obey_is_shown() -> None:
    lines = screen.page_lines(DRAWN["agreement"], 80, 20)
    assert not any("\x1b" in line.plain for line in lines)


def test_bars_of_nothing() -> None:
    assert bar_lines([BarRow("x", (0,))], [BarPart("all", "█", "bar")], 40, 0)[0].plain[0] == "x"
    assert len(chart(Plot("", ()), 40, ("", ""))) == ROWS + 3


def test_the_lowest_value_stands_at_the_axis() -> None:
    _, *rows, axis, _ = (line.plain for line in chart(Plot("", [0, 4]), 20, ("", "")))
    assert [line[:3] for line in (rows[0], rows[ROWS // 2], axis)] == [" 4┤", " 2┤", " 0└"]
    assert "┤" not in rows[-1]


def test_tabs_fit_in_80_columns() -> None:
    assert tab_text("a very long name of a project", PAGES, 2, 80).cell_len <= 80


def test_charts_stand_beside_each_other_where_there_is_room() -> None:
    plots = [Plot(name, (1, 2)) for name in "abc"]
    assert not [line for line in charts(plots, ("", ""), 120) if line.cell_len > 120]
    assert charts(plots, ("", ""), 120)[1].plain.split() == ["a", "b"]
    alone = len(chart(plots[0], 80, ("", "")))
    assert len(charts(plots, ("", ""), 80)) == 3 * (1 + alone), "one below the other"
