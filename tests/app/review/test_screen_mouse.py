"""Clicks and drags on the desk, and the queries of the search line."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.events import MouseScrollDown

from sciextract.errors import UsageError
from sciextract.store import EntityRef, RelationRef
from sciextract.store.search import Query
from sciextract_app.review.view.prompts import parse_query
from sciextract_app.shared.view_models import Mode
from sciextract_app.widgets.bars import LegendBar
from sciextract_app.widgets.dialogs import ChoiceDialog
from sciextract_app.widgets.passage_view import PassageView
from tests.app.screens_support import desk_of, made_project, opened, states, until


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return made_project(tmp_path)


@pytest.mark.asyncio
class TestMouse:
    async def test_a_click_on_a_mention_makes_it_the_focus(self, project: Path) -> None:
        async with opened(project) as (app, pilot):
            desk = desk_of(app).desk
            before = desk.focus
            await pilot.click("#passage", offset=(14, 0))
            await until(pilot, lambda: desk.focus != before)
            assert isinstance(desk.focus, EntityRef)

    async def test_a_drag_selects(self, project: Path) -> None:
        async with opened(project) as (app, pilot):
            await pilot.mouse_down("#passage", offset=(2, 0))
            await pilot.hover("#passage", offset=(20, 0))
            await pilot.mouse_up("#passage", offset=(20, 0))
            await until(pilot, lambda: desk_of(app).desk.mode is Mode.SELECT)

    async def test_a_click_in_the_list_opens(self, project: Path) -> None:
        async with opened(project) as (app, pilot):
            await pilot.click("#list", offset=(5, 2))
            await until(pilot, lambda: desk_of(app).desk.number == 3)

    async def test_the_menu_does_what_is_chosen(self, project: Path) -> None:
        async with opened(project) as (app, pilot):
            await pilot.click("#passage", offset=(5, 0), button=3)
            await until(pilot, lambda: isinstance(app.screen, ChoiceDialog))
            await pilot.press("enter")
            await until(pilot, lambda: app.screen is desk_of(app))
        assert "accepted" in states(project)

    async def test_the_menu_labels_a_word_and_a_relation(self, project: Path) -> None:
        async with opened(project, size=(150, 40)) as (app, pilot):
            desk = desk_of(app).desk
            mentions = len(desk.state.open_view.entities)
            free = next(
                span.char_start
                for span in desk.state.open_view.tokens.spans
                if not desk.state.open_view.covering(span.char_start)
            )
            y, x = app.screen.query_one(PassageView).current_layout.cell_of(free)
            await pilot.click("#passage", offset=(x + 1, y), button=3)
            await until(pilot, lambda: isinstance(app.screen, ChoiceDialog))
            await pilot.press("enter")
            await until(pilot, lambda: len(desk.state.open_view.entities) == mentions + 1)
            await pilot.click("#relations", offset=(8, 1), button=3)
            await until(pilot, lambda: isinstance(app.screen, ChoiceDialog))
            relation = desk.focus
            assert isinstance(relation, RelationRef)
            await pilot.press("end", "enter")
            last = desk.state.open_view.schema.relation_labels[-1]
            key = relation.id
            await until(pilot, lambda: desk.state.open_view.relation_by_id[key].label == last)

    async def test_a_click_on_the_legend_gives_the_type(self, project: Path) -> None:
        async with opened(project) as (app, pilot):
            desk = desk_of(app).desk
            focus = desk.focus
            assert isinstance(focus, EntityRef)
            wanted = desk.legend()[-1].words
            line = str(app.screen.query_one(LegendBar).lines(120, 1)[0])
            await pilot.click("#legend", offset=(line.index(wanted), 0))
            await until(pilot, lambda: desk.state.open_view.by_id[focus.id].label == wanted)

    async def test_the_wheel_scrolls_a_long_text_and_the_focus_stays(self, project: Path) -> None:
        (project.parent / "long.txt").write_text("Parsers learn long grammars. " * 80)
        async with opened(project, size=(80, 24)) as (app, pilot):
            desk_of(app).imports.import_files([str(project.parent / "long.txt")])
            await until(pilot, lambda: desk_of(app).listing.count() == 4)
            await pilot.press(">")
            passage, focus = app.screen.query_one(PassageView), desk_of(app).desk.focus
            await pilot._post_mouse_events([MouseScrollDown], passage, (5, 2), button=0)
            await until(pilot, lambda: passage.scroll_offset.y > 0)
            assert desk_of(app).desk.focus == focus


class TestQueryWords:
    LABELS = ("Method", "USED-FOR")

    def test_words_and_filters(self) -> None:
        found = parse_query(
            '"a parser" in:TITLE label:method state:undecided is:flagged', self.LABELS
        )
        expected = Query('"a parser"', "title", "Method", "undecided", flagged=True)
        assert found == expected

    def test_scores_and_disputes(self) -> None:
        expected = Query(score_below=0.5, disagreement=True)
        assert parse_query("below:0.5 is:disputed", self.LABELS) == expected

    def test_a_label_with_a_blank_is_quoted(self) -> None:
        found = parse_query('two label:"shape memory alloy" words', ("Shape memory alloy",))
        assert found == Query("two words", label="Shape memory alloy")

    @pytest.mark.parametrize("text", ["", "   ", "a:b c", "https://x", "label:", ":"])
    def test_everything_else_is_a_word(self, text: str) -> None:
        assert parse_query(text, self.LABELS) == Query(" ".join(text.split()))

    @pytest.mark.parametrize(
        ("text", "words"),
        [("label:Methd", "Method"), ("below:x", "0.5"), ("is:x", "flagged"), ("in:x", "mentions")],
    )
    def test_what_is_not_allowed_is_told_with_what_is(self, text: str, words: str) -> None:
        with pytest.raises(UsageError) as caught:
            parse_query(text, self.LABELS)
        assert words in caught.value.hint
