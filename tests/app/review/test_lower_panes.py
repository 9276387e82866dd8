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
from sciextract_app.shared.view_models import ClusterLine, Inspector
from tests.app.widgets.tiny_app import CLUSTERS, INSPECTOR, RELATIONS, TinyDesk


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
