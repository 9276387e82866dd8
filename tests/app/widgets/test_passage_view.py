"""The passage in an app: clicks give the right offsets, focus moves repaint little, scrolling follows."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest
from textual.geometry import Offset
from textual.pilot import Pilot

from sciextract_app.shared.view_models import Passage
from sciextract_app.widgets.passage_view import PassageView
from tests.app.widgets.passages import RICH, TEXT, long_passage, with_focus
from tests.app.widgets.tiny_app import TinyDesk

pytestmark = pytest.mark.asyncio
Shown = tuple[TinyDesk, Pilot[None], PassageView]


@asynccontextmanager
async def shown(passage: Passage = RICH, size: tuple[int, int] = (120, 40)) -> AsyncIterator[Shown]:
    app = TinyDesk(passage)
    async with app.run_test(size=size) as pilot:
        await pilot.pause()
        yield app, pilot, app.query_one(PassageView)


def lines(view: PassageView) -> list[str]:
    """What is written on the widget's lines."""
    return [view.render_line(y).text for y in range(view.size.height)]


def offset_of(view: PassageView, char: int) -> Offset:
    """Where in the widget a character is drawn."""
    y, column = view.current_layout.cell_of(char)
    return Offset(column + view.gutter.left, y - view.scroll_offset.y)


class TestMouse:
    async def test_a_click_on_text_gives_its_character(self) -> None:
        async with shown() as (app, pilot, view):
            for words in ("We study", "reads", "and a stray", "stays text"):
                await pilot.click(view, offset_of(view, TEXT.index(words)))
                assert app.heard.pop() == PassageView.Clicked("", TEXT.index(words))

    async def test_a_click_on_a_mention_gives_it(self) -> None:
        async with shown() as (app, pilot, view):
            char = TEXT.index("中文") + 1
            where = offset_of(view, char)
            await pilot.click(view, where + Offset(1, 0))
            assert app.heard == [PassageView.Clicked("中文", char)]

    async def test_a_click_on_a_bracket_or_a_letter_gives_the_mention(self) -> None:
        async with shown() as (app, pilot, view):
            start = TEXT.index("news corpus")
            await pilot.click(view, offset_of(view, start) - Offset(1, 0))
            await pilot.click(view, offset_of(view, start + len("news corpus") - 1) + Offset(2, 0))
            assert [event.item_id for event in app.heard] == ["news corpus"] * 2  # type: ignore[attr-defined]

    async def test_nested_ones_from_inside_out(self) -> None:
        async with shown() as (app, pilot, view):
            char = TEXT.index("trees")
            await pilot.click(view, offset_of(view, char))
            inner = next(i for i, mark in enumerate(RICH.marks) if mark.item_id == "parse trees")
            view.show(with_focus(RICH, inner))
            await pilot.click(view, offset_of(view, char))
            outer = "features extracted from parse trees"
            assert [event.item_id for event in app.heard] == ["parse trees", outer]  # type: ignore[attr-defined]

    async def test_drawing_over_text_selects_it(self) -> None:
        async with shown() as (app, pilot, view):
            start, last = TEXT.index("impact"), TEXT.index("features") + 7
            await pilot.mouse_down(view, offset_of(view, start))
            await pilot.hover(view, offset_of(view, last))
            assert view.current_passage.selection == (start, last + 1)
            await pilot.mouse_up(view, offset_of(view, last))
            assert app.heard == [PassageView.SpanDragged(start, last + 1)]

    async def test_backwards_too_and_emoji_are_whole(self) -> None:
        async with shown() as (app, pilot, view):
            first, emoji = TEXT.index("reads"), TEXT.index("👩‍🔬")
            await pilot.mouse_down(view, offset_of(view, emoji))
            await pilot.hover(view, offset_of(view, first))
            await pilot.mouse_up(view, offset_of(view, first))
            assert app.heard == [PassageView.SpanDragged(first, emoji + len("👩‍🔬"))]

    async def test_the_menu(self) -> None:
        async with shown() as (app, pilot, view):
            where = offset_of(view, TEXT.index("news"))
            await pilot.mouse_down(view, where, button=3)
            await pilot.mouse_down(view, offset_of(view, TEXT.index("study")), shift=True)
            assert app.heard[0] == PassageView.MenuWanted("news corpus", TEXT.index("news"))
            assert isinstance(app.heard[1], PassageView.MenuWanted)
            assert app.heard[1].item_id == ""

    async def test_an_empty_text_hears_nothing(self) -> None:
        async with shown(Passage("", 0, (), (0, 0))) as (app, pilot, view):
            await pilot.click(view, Offset(5, 0))
            assert app.heard == []


class TestDrawing:
    async def test_focus_moves_change_brackets_and_nothing_else(self) -> None:
        passage = long_passage()
        async with shown(with_focus(passage, 0)) as (_, pilot, view):
            before = lines(view)
            view.show(with_focus(passage, 2))
            await pilot.pause()
            table = str.maketrans("⟦⟧", "‹›")
            assert [line.translate(table) for line in lines(view)] == [
                line.translate(table) for line in before
            ]

    async def test_only_changed_lines_are_painted_again(self) -> None:
        passage = long_passage()
        async with shown(with_focus(passage, 0)) as (_, pilot, view):
            kept = [view.render_line(y) for y in range(view.size.height)]
            view.show(with_focus(passage, 1))
            await pilot.pause()
            same = [old is view.render_line(y) for y, old in enumerate(kept)]
            assert same.count(False) <= 4

    async def test_the_focus_is_scrolled_into_sight(self) -> None:
        passage = long_passage()
        async with shown(with_focus(passage, 0), (80, 24)) as (_, pilot, view):
            for focus in (59, 30, 0):
                view.show(with_focus(passage, focus))
                await pilot.pause()
                assert "⟦" in "".join(lines(view))

    async def test_news_without_a_new_focus_do_not_scroll(self) -> None:
        passage = with_focus(long_passage(), 0)
        async with shown(passage, (80, 24)) as (_, pilot, view):
            view.scroll_to(y=7, animate=False, force=True)
            top = lines(view)[0]
            view.show(replace(passage, marks=passage.marks[:40]))
            await pilot.pause()
            assert lines(view)[0] == top

    async def test_resizing_keeps_the_focus_in_the_text(self) -> None:
        async with shown() as (_, pilot, view):
            await pilot.resize_terminal(70, 40)
            await pilot.pause()
            width = view.scrollable_content_region.width
            assert all(view.render_line(y).cell_length == width for y in range(view.size.height))
            assert "⟦" in "".join(lines(view))

    async def test_another_theme_has_other_colours(self) -> None:
        async with shown() as (app, pilot, view):
            before = view.render_line(1)
            app.theme = "desk-light"
            await pilot.pause()
            await pilot.pause()
            after = view.render_line(1)
            assert after.text == before.text
            assert after != before


async def test_what_was_laid_out_beforehand_is_not_laid_out_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with shown() as (_, pilot, view):
        coming = long_passage(2_000, 60)
        view.prepare(coming)
        monkeypatch.setattr("sciextract_app.widgets.paragraphs.wrap", None)
        view.show(with_focus(coming, 3))
        await pilot.pause()
        assert coming.text.split()[0] in lines(view)[0]
