"""Bars and panes: they fit their width, say what matters, and read nothing as markup."""

from __future__ import annotations

from dataclasses import replace

import pytest
from rich.style import Style
from textual.geometry import Offset

from sciextract.documents.annotations import State
from sciextract_app.review.view.lower_panes import (
    ClustersPane,
    RelationsPane,
    cluster_lines,
    inspector_lines,
    relation_text,
)
from sciextract_app.shared.view_models import ClusterLine, Feedback, Header, Hint, Inspector, Mode
from sciextract_app.widgets.bars import footer_lines, header_text, message_text
from sciextract_app.widgets.help import help_grid
from tests.app.widgets.tiny_app import CLUSTERS, HEADER, HINTS, INSPECTOR, RELATIONS, TinyDesk


class TestFooter:
    def test_all_where_there_is_room(self) -> None:
        (line,) = footer_lines(HINTS, Mode.REVIEW, 120)
        assert line.plain.startswith(" Enter accept  x reject  1-6 type")
        assert line.plain.endswith("D done  ? keys")

    @pytest.mark.parametrize("width", range(30, 110, 7))
    def test_never_wider_than_the_line(self, width: int) -> None:
        (line,) = footer_lines(HINTS, Mode.REVIEW, width)
        assert line.cell_len <= width
        assert line.plain.startswith(" Enter accept")
        assert line.plain.endswith("? keys")

    def test_a_second_line_takes_what_the_first_has_no_room_for(self) -> None:
        first, second = footer_lines(HINTS, Mode.REVIEW, 60, 2)
        (whole,) = footer_lines(HINTS, Mode.REVIEW, 200)
        assert f"{first.plain} {second.plain}" == whole.plain
        assert max(first.cell_len, second.cell_len) <= 60

    def test_the_mode_comes_first(self) -> None:
        (line,) = footer_lines(HINTS, Mode.RELATE_TYPE, 120)
        assert line.plain.startswith("  RELATE: TYPE  Enter")

    def test_dead_keys_are_dim(self) -> None:
        hints = (Hint("c", "cluster", live=False), Hint("x", "reject"))
        (line,) = footer_lines(hints, Mode.REVIEW, 80)
        assert [str(span.style) for span in line.spans if span.style] == [
            "dim",
            "dim",
            "bold",
            "not bold",
        ]

    def test_seldom_keys_are_dim_on_the_second_line_and_go_first(self) -> None:
        more = [Hint(key, words, seldom=True) for key, words in (("y", "span"), ("?", "keys"))]
        hints = (Hint("x", "reject"), more[0], Hint("e", "grow"), more[1])
        first, second = footer_lines(hints, Mode.REVIEW, 80, 2)
        assert (first.plain, second.plain) == (" x reject  e grow", " y span  ? keys")
        assert {str(span.style) for span in second.spans if span.style} == {"dim"}
        (line,) = footer_lines(hints, Mode.REVIEW, 30)
        assert line.plain == " x reject  …  e grow  ? keys"

    def test_no_keys(self) -> None:
        assert [line.plain for line in footer_lines((), Mode.REVIEW, 80)] == [" "]


class TestHeader:
    def test_everything(self) -> None:
        words = "84 % were right   sci-minilm 1.0   ⟳ predicting 12 of 375"
        assert header_text(HEADER, 120).plain == f" parsing.sciextract   37 of 412 done   {words}"

    @pytest.mark.parametrize("width", range(36, 120, 5))
    def test_progress_stays(self, width: int) -> None:
        line = header_text(HEADER, width)
        assert line.cell_len <= width
        assert "37 of 412 done" in line.plain

    def test_nothing_known(self) -> None:
        assert header_text(Header("p", 0, 0, predicting=(0, 0)), 80).plain == (
            " p   0 of 0 done   ⟳ predicting"
        )


class TestMessage:
    def test_problem_has_a_sign(self) -> None:
        assert message_text(Feedback("no [item]", problem=True), 40).plain == " ! no [item]"

    def test_cut(self) -> None:
        assert message_text(Feedback("undone: accept"), 9).plain == " undone:…"
        assert message_text(Feedback(), 9).plain == ""


class TestRelations:
    @pytest.mark.parametrize("width", [30, 44, 60, 90])
    def test_width(self, width: int) -> None:
        for row in RELATIONS:
            line = relation_text(row, (8, 12), width, Style())
            assert line.cell_len <= max(width, 40)

    def test_words(self) -> None:
        line = relation_text(RELATIONS[0], (35, 8), 90, Style()).plain
        certain = replace(RELATIONS[0], sure=True, score=1.0)
        assert relation_text(certain, (35, 8), 90, Style()).plain.endswith("«1.0»?")
        assert line.startswith("▸ features extracted from parse trees USED-FOR ─▶ a coreference")
        assert line.endswith(".91 ?")
        other = relation_text(RELATIONS[2], (4, 11), 50, Style()).plain
        assert other.startswith("  中文 CONJUNCTION ── emoji 👩‍🔬")
        assert other.endswith("+")

    @pytest.mark.asyncio
    async def test_clicks(self) -> None:
        app = TinyDesk()
        async with app.run_test(size=(120, 40)) as pilot:
            pane = app.query_one(RelationsPane)
            await pilot.click(pane, Offset(9, 2))
            await pilot.click(pane, Offset(9, 0))
            assert app.heard == [RelationsPane.RowClicked("r2")]

    @pytest.mark.asyncio
    async def test_the_focused_one_is_in_sight_among_many(self) -> None:
        many = tuple(replace(RELATIONS[1], item_id=f"r{i}", focused=i == 70) for i in range(90))
        app = TinyDesk()
        async with app.run_test(size=(120, 40)) as pilot:
            pane = app.query_one(RelationsPane)
            pane.show(many)
            await pilot.pause()
            assert "▸" in "".join(pane.render_line(y).text for y in range(pane.size.height))
            pane.show(())
            await pilot.pause()
            assert pane.render_line(0).text.strip() == "none"


class TestClusters:
    def test_words(self) -> None:
        ((line, columns),) = cluster_lines(CLUSTERS[1], 60)
        assert line.plain == "  b  features ?, [bold] ?"
        assert [line.plain[span.start : span.stop] for span in columns.values()] == [
            "features ?",
            "[bold] ?",
        ]

    @pytest.mark.parametrize("width", [20, 44, 200])
    def test_every_mention_is_seen(self, width: int) -> None:
        mentions = tuple(f"mention {index}" for index in range(12))
        row = ClusterLine("c", "a", mentions, (State.ACCEPTED,) * 12, 7)
        lines = cluster_lines(row, width)
        for index in range(12):
            (line,) = (line for line, columns in lines if index in columns)
            assert f"mention {index} ✓" in line.plain
        assert all(line.cell_len <= width for line, _ in lines)
        assert (len(lines) == 1) == (width == 200)

    @pytest.mark.asyncio
    async def test_clicks(self) -> None:
        app = TinyDesk()
        async with app.run_test(size=(120, 40)) as pilot:
            pane = app.query_one(ClustersPane)
            await pilot.click(pane, Offset(1 + 17, 3))  # the first cluster takes two lines
            assert app.heard == [ClustersPane.LinkClicked("c2", 1)]

    @pytest.mark.asyncio
    async def test_a_line_that_was_counted_at_a_smaller_width_is_none(self) -> None:
        async with TinyDesk().run_test(size=(120, 40)) as pilot:
            pane = pilot.app.query_one(ClustersPane)
            assert pane.count(20) > pane.count(100)
            assert pane._text(pane.count(20) - 1, 100) is None


class TestInspector:
    def test_values_wrap_below_themselves(self) -> None:
        lines = [line.plain for line in inspector_lines(INSPECTOR, 40)]
        assert lines[:2] == ["coreference resolution · Task", "score    0.83"]
        assert lines[-1].startswith(" " * 9)
        assert "\x1b" not in "".join(lines)
        assert all(line.cell_len <= 40 for line in inspector_lines(INSPECTOR, 40))

    def test_empty(self) -> None:
        assert inspector_lines(Inspector("", ()), 40) == []
        assert [x.plain for x in inspector_lines(Inspector("", (("", "no mention"),)), 40)] == [
            "no mention"
        ]


def test_help_lists_groups_once() -> None:
    rows = [
        ("Enter", "accept", "anywhere"),
        ("x", "[reject]", "anywhere"),
        ("i", "invert", "relations"),
    ]
    grid = help_grid(rows)
    keys = [str(cell) for cell in grid.columns[0].cells]
    words = [str(cell) for cell in grid.columns[1].cells]
    assert keys == ["", "Enter", "x", "", "", "i"]
    assert words == ["Anywhere", "accept", "[reject]", "", "Relations", "invert"]
