"""One question at a time: items of all abstracts in their sentences, the most uncertain first."""

from __future__ import annotations

from pathlib import Path

import pytest

from sciextract.documents.annotations import State
from sciextract.store import EntityRef
from sciextract_app.review.view.questions import AnswersPane, QuestionsScreen
from tests.app.screens_support import desk_of, made_project, opened, shown, states

pytestmark = pytest.mark.asyncio


async def test_every_item_is_answered_in_its_sentence(tmp_path: Path) -> None:
    path = made_project(tmp_path)
    async with opened(path) as (app, pilot):
        desk = desk_of(app).desk
        await pilot.press("Q")
        assert isinstance(app.screen, QuestionsScreen)
        distances, numbers = [], set()
        for place in range(60):
            if "no question is left" in shown(pilot):
                break
            row = desk.state.open_view.row(desk.focus)
            assert row is not None and row.state is State.UNDECIDED
            distances.append(abs((row.score or 0) - 0.5))
            numbers.add(desk.number)
            mention = desk.state.open_view.mention_of(desk.focus) or ""
            assert desk.state.open_view.surface(mention).split()[0] in shown(pilot)
            await pilot.press("x" if place == 2 else "enter")
        assert "no question is left" in shown(pilot)
        assert distances == sorted(distances), "the most uncertain first, across abstracts"
        assert len(numbers) > 1
        await pilot.press("enter")
        assert "No question is left" in shown(pilot)
        await pilot.press("escape")
        assert "undecided" not in states(path)


async def test_a_type_an_edge_and_a_step_back(tmp_path: Path) -> None:
    path = made_project(tmp_path)
    async with opened(path) as (app, pilot):
        desk = desk_of(app).desk
        await pilot.press("Q")
        first = desk.focus
        await pilot.press("D")
        assert "D does nothing here" in shown(pilot)
        await pilot.press("tab")
        assert desk.focus != first
        assert "question 2 of" in shown(pilot)
        await pilot.press("shift+tab")
        assert (desk.focus, "question 1 of" in shown(pilot)) == (first, True)
        await pilot.press("1")
        assert desk.focus != first
        assert "1 answered" in shown(pilot)
        await pilot.press("u")
        assert (desk.focus, "0 answered" in shown(pilot)) == (first, True)


async def test_enter_after_an_edge_goes_on_and_what_follows_keeps_the_item(tmp_path: Path) -> None:
    async with opened(made_project(tmp_path)) as (app, pilot):
        desk = desk_of(app).desk
        await pilot.press("Q")
        while not isinstance(desk.focus, EntityRef):
            await pilot.press("tab")
        number, corrected = desk.number, desk.focus
        await pilot.press("e", "enter")
        assert desk.focus != corrected
        assert "1 answered" in shown(pilot)
        await pilot.press("x")
        desk.open(number)
        row = desk.state.open_view.row(corrected)
        assert row is not None and row.state is State.EDITED


async def test_any_of_the_last_answers_is_opened_again(tmp_path: Path) -> None:
    async with opened(made_project(tmp_path)) as (app, pilot):
        desk = desk_of(app).desk
        await pilot.press("Q", "f")
        assert "Nothing is answered yet" in shown(pilot)
        asked = []
        for key in ("enter", "x", "enter"):
            asked.append((desk.number, desk.focus))
            await pilot.press(key)
        assert "3 answered" in shown(pilot)
        answers = app.screen.query_one(AnswersPane)
        assert [answers.line(y, 60).plain[:3] for y in range(3)] == ["a ✓", "s ✗", "d ✓"]
        await pilot.press("f", "s")  # the second last: the one that was rejected
        assert (desk.number, desk.focus) == asked[1]
        assert desk.state.is_undecided(asked[1][1])
        assert "2 answered" in shown(pilot)
        await pilot.press("enter", "u")
        assert (desk.number, desk.focus) == asked[1], "and like any answer it is taken back"
        desk.open(asked[2][0])
        assert not desk.state.is_undecided(asked[2][1]), "what was answered later stays"
