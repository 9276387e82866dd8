"""Two sides in a terminal: keys, sizes, what the desk shows afterwards, and pictures."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.app import App
from textual.pilot import Pilot

from sciextract.store import EntityRef, open_project
from sciextract_app.adjudication.screen import AdjudicationScreen, DifferencesPane
from sciextract_app.widgets.bars import TooSmall
from sciextract_app.widgets.dialogs import ChoiceDialog
from sciextract_app.widgets.help import GuidelineDialog, KeysDialog
from tests.app.adjudication.merged import merged_project
from tests.app.review.abstracts import TEXT, gold, project_with
from tests.app.screens_support import desk_of, opened, shown, until, until_shown

pytestmark = pytest.mark.asyncio
BOTH = pytest.mark.parametrize("size", [(120, 40), (80, 24)], ids=["120x40", "80x24"])


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = merged_project(tmp_path)
    with open_project(path, "ann") as project:
        project.actions.reject(1, EntityRef("task"))
    return path


async def _first(pilot: Pilot[None]) -> None:
    """To the first abstract, which has most differences."""
    await pilot.press("<")
    await pilot.press("W")
    await until(pilot, lambda: isinstance(pilot.app.screen, AdjudicationScreen))


def _left(path: Path) -> int:
    with open_project(path, read=True) as project:
        row = project.connection.execute("SELECT sum(disagreements) FROM summary").fetchone()
    return int(row[0])


def _screen(app: App[None]) -> AdjudicationScreen:
    assert isinstance(app.screen, AdjudicationScreen)
    return app.screen


@BOTH
async def test_both_sides_and_what_is_left(path: Path, size: tuple[int, int]) -> None:
    async with opened(path, size=size) as (_, pilot):
        await until_shown(pilot, "to resolve with other sources: W")
        await _first(pilot)
        await until_shown(pilot, "left in 2 abstracts")
        screen = shown(pilot)
        assert "⟦" in screen and "ben.sciextract" in screen
        assert "noun chunking" in screen and "rejected here" in screen
        assert "Enter take theirs" in screen and "x keep nothing" in screen


async def test_a_decision_is_in_the_file_at_once(path: Path) -> None:
    async with opened(path) as (app, pilot):
        await _first(pilot)
        before = _screen(app).adjudication.backlog.total
        await pilot.press("enter")
        assert _left(path) < before
        await pilot.press("u")
        assert _left(path) == before
        await pilot.click(DifferencesPane, offset=(5, 3))
        lines = _screen(app).adjudication.view().lines
        assert [line.focused for line in lines].index(True) == 2


async def test_leaving_puts_the_focus_on_the_difference(path: Path) -> None:
    async with opened(path) as (app, pilot):
        await _first(pilot)
        while "label lexicon" not in str(_screen(app).adjudication.view().here.summary):
            await pilot.press("tab")
        await pilot.press("escape")
        assert desk_of(app).desk.focus == EntityRef("lexicon")


async def test_the_desk_shows_what_was_decided(path: Path) -> None:
    async with opened(path) as (app, pilot):
        await _first(pilot)
        await pilot.press("A", "o", "enter", "escape")
        desk = desk_of(app)
        await until(pilot, lambda: app.screen is desk)
        assert desk.desk.number == 1
        assert "⌊error study⌋" in shown(pilot)
        await pilot.press("u")
        assert "adjudicate taken back" in shown(pilot)
        assert "⌊error study⌋" not in shown(pilot)


async def test_another_process(path: Path) -> None:
    async with opened(path) as (app, pilot):
        await _first(pilot)
        with open_project(path, "ann") as project:
            project.actions.reject(1, EntityRef("clauses"))
        await until(pilot, lambda: "nested clauses" in str(_screen(app).adjudication.view().lines))
        await until_shown(pilot, "only there")


async def test_help_guideline_and_another_side(path: Path) -> None:
    async with opened(path) as (app, pilot):
        await _first(pilot)
        await pilot.press("?")
        await until(pilot, lambda: isinstance(app.screen, KeysDialog))
        assert "accept the side in focus" in shown(pilot)
        await pilot.press("escape", "g")
        await until(pilot, lambda: isinstance(app.screen, GuidelineDialog))
        await pilot.press("escape", "W")
        await until(pilot, lambda: isinstance(app.screen, ChoiceDialog))
        await pilot.press("down", "enter")
        await until_shown(pilot, "p.sciextract ⇄ model first@aaaaaaaa")


async def test_small_terminals_take_no_keys_and_quitting_is_clean(path: Path) -> None:
    async with opened(path) as (app, pilot):
        await _first(pilot)
        before = _left(path)
        await pilot.resize_terminal(50, 12)
        await until(pilot, lambda: app.screen.query_one(TooSmall).display)
        await pilot.press("enter")
        assert _left(path) == before
        await pilot.press("ctrl+q")
        await until(pilot, lambda: not app.is_running)
    assert not path.with_name(f"{path.name}-wal").exists()


async def test_a_model_alone_is_asked_for(tmp_path: Path) -> None:
    with project_with(tmp_path, gold(), (TEXT,)) as project:
        project.actions.reject(1, EntityRef("task"))
    async with opened(tmp_path / "p.sciextract") as (app, pilot):
        await pilot.press("W")
        await until(pilot, lambda: isinstance(app.screen, ChoiceDialog))
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, AdjudicationScreen))


async def test_nobody_else_is_there(tmp_path: Path) -> None:
    with project_with(tmp_path, None, (TEXT,)):
        pass
    async with opened(tmp_path / "p.sciextract") as (app, pilot):
        await pilot.press("W")
        await until_shown(pilot, "Nobody else has annotations here")
        await pilot.press("d")
        await until_shown(pilot, "No predictions for this abstract")
        assert app.screen is desk_of(app)


async def test_d_compares_with_the_newest_model(path: Path) -> None:
    async with opened(path, size=(80, 24)) as (app, pilot):
        await pilot.press("<", "d")
        await until(pilot, lambda: isinstance(app.screen, AdjudicationScreen))
        assert "p.sciextract ⇄ model first@aaaaaaaa" in shown(pilot)
        assert [line.here for line in _screen(app).adjudication.view().lines] == ["nothing"] * 2
        assert "noun chunking" in shown(pilot) and "rejected here" in shown(pilot)
        await pilot.press("d")
        await until(pilot, lambda: app.screen is desk_of(app))
        await pilot.press("u", "d")
        await until_shown(pilot, "The newest model and the annotations of this abstract agree")
        assert app.screen is desk_of(app)
