"""The start screen has room for its keys, whatever it lists."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.widgets import OptionList

from sciextract_app.start import StartScreen
from tests.app.screens_support import made_project, opened, shown, until_shown


@pytest.mark.asyncio
async def test_many_projects_leave_room_for_the_keys(tmp_path: Path) -> None:
    path = made_project(tmp_path)
    async with opened(path, size=(80, 24)) as (app, pilot):
        app.push_screen(StartScreen([path] * 9, "Esc: back to p.sciextract"))
        await until_shown(pilot, "the review desk")
        await pilot.press("j")
        assert app.screen.query_one(OptionList).highlighted == 1
        assert "q quit" in shown(pilot) and "At the desk:" in shown(pilot)
        first = next(line for line in shown(pilot).splitlines() if "0 of 3 done" in line)
        assert "20" in first.partition("done")[2], "the day stands in the same line"
