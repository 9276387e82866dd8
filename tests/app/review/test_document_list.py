"""The list in an app: only pages in sight are fetched, keys and mouse open rows."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from rich.cells import cell_len
from textual.geometry import Offset
from textual.pilot import Pilot

from sciextract_app.review.view.document_list import PAGE_ROWS, DocumentList, row_parts
from tests.app.widgets.tiny_app import Rows, TinyDesk

pytestmark = pytest.mark.asyncio
Shown = tuple[TinyDesk, Pilot[None], DocumentList]


@asynccontextmanager
async def shown(rows: int = 100_000) -> AsyncIterator[Shown]:
    app = TinyDesk(rows=rows)
    async with app.run_test(size=(80, 24)) as pilot:
        found = app.query_one(DocumentList)
        found.focus()
        await pilot.pause()
        yield app, pilot, found


async def test_only_pages_in_sight_are_fetched() -> None:
    async with shown() as (app, pilot, found):
        assert {offset for offset, _ in app.rows.asked} == {0}
        app.rows.asked.clear()
        await pilot.press("end")
        assert found.cursor == 99_999
        assert {offset for offset, _ in app.rows.asked} == {100_000 - PAGE_ROWS}
        found.scroll_to(y=50_000, animate=False, force=True)
        await pilot.pause()
        assert {offset for offset, _ in app.rows.asked} == {100_000 - PAGE_ROWS, 50_000}


async def test_pages_in_sight_are_fetched_once() -> None:
    async with shown() as (app, pilot, _):
        app.rows.asked.clear()
        await pilot.press("down", "down", "up", "down")
        assert app.rows.asked == []


async def test_keys() -> None:
    async with shown() as (app, pilot, found):
        await pilot.press("home")
        assert found.cursor == 0
        await pilot.press("up", "down", "down", "pagedown", "pageup")
        assert found.cursor == 2
        await pilot.press("enter")
        assert app.heard == [DocumentList.Opened(3)]


async def test_a_click_opens() -> None:
    async with shown() as (app, pilot, found):
        await pilot.click(found, Offset(8, 5))
        assert app.heard == [DocumentList.Opened(6)]


async def test_another_open_abstract_is_scrolled_into_sight() -> None:
    async with shown() as (_, pilot, found):
        found.reload(70_000)
        await pilot.pause()
        text = "".join(found.render_line(y).text for y in range(found.size.height))
        assert "▸" in text
        assert "Abstract 70000" in text


async def test_fewer_rows_and_none() -> None:
    async with shown(500) as (app, pilot, found):
        await pilot.press("end")
        for size in (3, 0):
            app.rows.size = size
            found.reload()
            await pilot.pause()
            await pilot.press("down", "end")
            assert found.cursor == max(0, size - 1)
            assert found.virtual_size.height == max(size, found.size.height)
        await pilot.press("enter")
        assert app.heard == []


async def test_a_page_that_lost_rows_has_blank_lines() -> None:
    async with shown(10) as (app, pilot, found):
        app.rows.page = lambda offset, limit: []  # type: ignore[method-assign]
        found.reload()
        await pilot.pause()
        assert not found.render_line(0).text.strip()


@pytest.mark.parametrize("width", [34, 44, 52, 64, 90, 8])
async def test_rows_fill_the_width(width: int) -> None:
    for index in range(12):
        words = "".join(row_parts(Rows(20).row(index), width, current=index == 3))
        assert cell_len(words) == max(width, 9)


async def test_signs() -> None:
    rows = [row_parts(Rows(9).row(index), 34, current=False) for index in range(4)]
    assert [row[0][1:3] for row in rows] == [" ●", " ◐", " ○", "⚑●"]
    rows = [row_parts(Rows(9).row(index), 58, current=False) for index in range(4)]
    assert [row[1] for row in rows] == ["████", "███▊", "███▋", "███▍"], "of 20 items 0 to 3 wait"
    title, _, behind = row_parts(Rows(9).row(1), 64, current=True)
    assert title.startswith("▸ ●◐○ [b]Abstract 2") and title.endswith("2001 ")
    assert behind.endswith("0.31    1")
