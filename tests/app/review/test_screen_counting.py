"""Large projects: the share of accepted items is counted beside the keys."""

from __future__ import annotations

from pathlib import Path

import pytest

from sciextract_app.review import background as project
from sciextract_app.shared import session
from tests.app.screens_support import desk_of, made_project, opened, until, until_shown

pytestmark = pytest.mark.asyncio


@pytest.fixture
def large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project that counts as a large one."""
    monkeypatch.setattr(session, "MANY", 2)
    monkeypatch.setattr(project, "MANY", 2)
    monkeypatch.setattr(project, "REST_SECONDS", 0.0)
    return made_project(tmp_path)


async def test_the_share_comes_from_a_worker(large: Path) -> None:
    async with opened(large) as (app, pilot):
        desk = desk_of(app).desk
        assert desk.totals.acceptance is None
        while desk.waiting:
            await pilot.press("enter")
        await pilot.press("D")
        await until(pilot, lambda: desk.totals.acceptance == 1.0)
        await until_shown(pilot, "accepted 100 %")


async def test_nothing_is_counted_while_nothing_changes(
    large: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(large) as (app, pilot):
        screen = desk_of(app)
        await pilot.press("D", "D")
        await until(pilot, lambda: screen.desk.totals.acceptance == 0.0)
        counter = screen.acceptance
        before = counter._counted
        for _ in range(3):
            screen.poll_changes()
        assert (counter._counted, counter._is_counting) == (before, False)


async def test_small_projects_know_it_at_once(tmp_path: Path) -> None:
    async with opened(made_project(tmp_path)) as (app, pilot):
        await pilot.press("D", "D")
        assert desk_of(app).desk.totals.acceptance == 0.0
