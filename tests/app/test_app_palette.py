"""The palette while it is still finding its commands."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.command import CommandList
from textual.widgets.option_list import Option

from sciextract_app.app import Palette
from tests.app.screens_support import made_project, opened, until, until_shown

pytestmark = pytest.mark.asyncio


async def test_a_page_before_there_is_one(tmp_path: Path) -> None:
    async with opened(made_project(tmp_path)) as (app, pilot):
        await pilot.press(":")
        await until(pilot, lambda: isinstance(app.screen, Palette))
        commands = app.screen.query_one(CommandList)
        commands.clear_options().add_option(Option("not laid out yet"))
        commands.highlighted = 0
        commands._index_to_line.clear()
        await app.screen.run_action("command_list('page_down')")
        assert app.failure is None


async def test_it_runs_what_was_found(tmp_path: Path) -> None:
    async with opened(made_project(tmp_path)) as (_, pilot):
        await pilot.press("ctrl+p")
        await pilot.press(*"flag")
        await until_shown(pilot, "set or clear")
        await pilot.press("enter")
        await until_shown(pilot, "⚑")
