"""The F-keys of the desk do what the palette says; keys are counted."""

from __future__ import annotations

from pathlib import Path

import pytest

from sciextract.store import open_project
from sciextract.store.finished import finished_abstracts
from sciextract.store.undo import describe
from sciextract_app.settings import SHELL
from sciextract_app.statistics.screen import DashboardScreen
from sciextract_app.training.screen import RetrainingScreen
from sciextract_app.widgets.dialogs import PathDialog
from tests.app.screens_support import desk_of, made_project, opened, until_shown
from tests.cli.fakes import RuleExtractor

pytestmark = pytest.mark.asyncio


@pytest.mark.parametrize(
    ("key", "screen"), [("f5", PathDialog), ("f7", DashboardScreen), ("f8", RetrainingScreen)]
)
async def test_a_key_opens_its_screen(tmp_path: Path, key: str, screen: type) -> None:
    async with opened(made_project(tmp_path)) as (app, pilot):
        await pilot.press(key)
        assert isinstance(app.screen, screen)
        await pilot.press("escape")
        assert app.screen is desk_of(app)


async def test_f6_lets_the_model_predict(tmp_path: Path) -> None:
    async with opened(made_project(tmp_path), load=RuleExtractor) as (app, pilot):
        project = desk_of(app).project
        prediction = next(event for event in project.log() if event.kind == "predict")
        project.undo(prediction.id)
        await pilot.press("f6")
        await until_shown(pilot, "3 abstracts predicted")


async def test_every_key_has_an_action_where_it_is_bound(tmp_path: Path) -> None:
    async with opened(made_project(tmp_path)) as (app, _):
        for binding in SHELL:
            where, _, name = binding.action.rpartition(".")
            owner = app if where == "app" else desk_of(app)
            assert hasattr(owner, f"action_{name.partition('(')[0]}"), binding.action


async def test_keys_to_decide_and_keys_to_move_are_recorded_apart(tmp_path: Path) -> None:
    path = made_project(tmp_path)
    async with opened(path) as (app, pilot):
        desk = desk_of(app).desk
        decided, before = 0, len(desk.state.project.log())
        await pilot.press("j", "k", "M", "j", "escape", "l")
        assert len(desk.state.project.log()) == before, "movement makes no event"
        while desk.waiting:
            await pilot.press("enter")
            decided += 1
        await pilot.press("n", "j", "p")  # keys in another abstract count for that one
        await pilot.press("D")
    with open_project(path, read=True) as project:
        [found] = finished_abstracts(project)
        assert "pressed" not in describe(project.log()[0])
    # j k M j l, then n; p was pressed in the other abstract.
    assert (found.keys, found.travel) == (decided + 1, 6)
