"""The statistics above real projects."""

from __future__ import annotations

from pathlib import Path

import pytest

from sciextract.errors import ProjectDamagedError
from sciextract.store import create_project, open_project
from sciextract.workflows.divide import merge_projects
from sciextract.workflows.predict_project import predict_project
from sciextract_app.statistics import screen as dashboard
from sciextract_app.statistics.screen import DashboardScreen
from tests.app.review.many import fill
from tests.app.screens_support import desk_of, made_project, opened, shown, until_shown
from tests.cli.fakes import RuleExtractor

pytestmark = pytest.mark.asyncio

SIZES = pytest.mark.parametrize("size", [(80, 24), (120, 40)], ids=["80x24", "120x40"])


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return made_project(tmp_path)


@SIZES
async def test_every_page_of_a_project_with_work_in_it(
    project: Path, size: tuple[int, int]
) -> None:
    async with opened(project, size=size) as (app, pilot):
        await pilot.press("enter", "x", "3", "D", "D", "f7")
        expected = ("of 3 abstracts done", "undecided", "entities, exact")
        for words in expected:
            await until_shown(pilot, words)
            await pilot.press("tab")
        await pilot.press("h")
        await until_shown(pilot, "model fake@ffffffff: 1 abstract")
        await pilot.press("l")
        await until_shown(pilot, "adapter off: compared from")
        await pilot.press("escape")
        assert not isinstance(app.screen, DashboardScreen)


async def test_learning_promises_the_share_that_the_person_set(project: Path) -> None:
    async with opened(project) as (app, pilot):
        await pilot.press("Z", "end", "enter", "enter", "D", "D")
        desk_of(app).accept_from(0.9, 0.75)
        await pilot.press("f7", "h")
        await until_shown(pilot, "at least 0.9 are right")


async def test_pages_follow_each_other_both_ways(project: Path) -> None:
    async with opened(project) as (_, pilot):
        await pilot.press("f7", "tab")
        assert "[labels]" in shown(pilot)
        await pilot.press("left", "shift+tab")
        assert "[learning]" in shown(pilot)
        await pilot.press("right", "pagedown", "up", "f7")
        assert "[progress]" not in shown(pilot)


async def test_nothing_decided_yet_is_said_on_every_page(tmp_path: Path) -> None:
    project = made_project(tmp_path, predicted=False)
    async with opened(project) as (_, pilot):
        await pilot.press("f7")
        expected = (
            "D marks an abstract as done", "there are no items yet",
            "no other source has annotated", "no abstract is finished yet",
        )  # fmt: skip
        for words in expected:
            await until_shown(pilot, words)
            await pilot.press("tab")


async def test_a_merged_colleague_is_compared(tmp_path: Path, project: Path) -> None:
    other = made_project(tmp_path, name="maria")
    for path, key in ((other, "enter"), (project, "x")):
        async with opened(path) as (_, pilot):
            await pilot.press(key, "enter", "D", "D")
    with open_project(project, "ann") as mine:
        merge_projects(mine, other)
    async with opened(project) as (_, pilot):
        await pilot.press("f7", "tab", "tab")
        await until_shown(pilot, "file maria.sciextract: 1 abstract")


async def test_a_project_of_another_process_that_grows(project: Path) -> None:
    async with opened(project) as (_, pilot):
        with open_project(project, "ben") as elsewhere:
            predict_project(elsewhere, RuleExtractor())
            await pilot.press("f7", "tab")
            await until_shown(pilot, "Method")


async def test_a_file_that_cannot_be_read_is_told(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ProjectDamagedError("p.sciextract is damaged", "sciextract doctor p.sciextract")

    async with opened(project) as (_, pilot):
        monkeypatch.setattr(dashboard, "open_project", broken)
        await pilot.press("f7")
        await until_shown(pilot, "statistics ended: p.sciextract is damaged; sciextract doctor")


async def test_many_abstracts_keep_no_key_waiting(tmp_path: Path) -> None:
    from sciextract.documents.schema_file import load_schema

    path = tmp_path / "many.sciextract"
    with create_project(path, load_schema("scierc")) as made:
        fill(made, 5_000)
    async with opened(path) as (_, pilot):
        await pilot.press("f7", "tab", "tab", "h", "h")
        await until_shown(pilot, "of 5,000 abstracts done")
