"""Projects that cannot be opened or written, and what ends the app from outside."""

from __future__ import annotations

import os
import shutil
import sqlite3
from pathlib import Path

import pytest

import sciextract.store.opening as store_opening
from sciextract.errors import ProjectReplacedError
from sciextract_app.review.view.screen import ReviewScreen
from sciextract_app.start import StartScreen
from sciextract_app.widgets.dialogs import ErrorDialog
from tests.app.screens_support import (
    desk_of,
    made_project,
    opened,
    shown,
    states,
    until,
    until_shown,
)
from tests.unit.store.released import SCRIPT, load

pytestmark = pytest.mark.asyncio


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return made_project(tmp_path)


class TestBrokenProjects:
    async def test_a_damaged_one_shows_error_and_hint(self, project: Path) -> None:
        project.write_bytes(project.read_bytes()[:5000])
        async with opened(project) as (app, pilot):
            assert isinstance(app.screen, ErrorDialog)
            await until_shown(pilot, "doctor")
            await pilot.press("enter")
            assert isinstance(app.screen, StartScreen)

    async def test_a_file_that_is_none(self, tmp_path: Path) -> None:
        (tmp_path / "p.sciextract").write_text("plain text")
        async with opened(tmp_path / "p.sciextract") as (app, pilot):
            assert isinstance(app.screen, ErrorDialog)
            assert "not an SQLite file" in " ".join(shown(pilot).replace("│", " ").split())

    async def test_one_of_a_newer_version(self, project: Path) -> None:
        with sqlite3.connect(project) as connection:
            connection.execute("PRAGMA user_version = 99")
        async with opened(project) as (app, pilot):
            assert isinstance(app.screen, ErrorDialog)
            # How the dialog breaks its lines depends on the folder's name.
            assert "project version 99" in " ".join(shown(pilot).replace("│", " ").split())

    async def test_one_of_an_earlier_version_is_converted_and_the_backup_named(
        self, tmp_path: Path
    ) -> None:
        old = load(tmp_path / "p.sciextract", SCRIPT.with_name("version_2.sql"))
        async with opened(old) as (app, pilot):
            assert isinstance(app.screen, ReviewScreen)
            await until_shown(pilot, "converted from project version 2")


class TestReadOnly:
    @pytest.fixture(autouse=True)
    def sealed(self, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(store_opening, "mode_for", lambda path: "read")

    async def test_it_is_opened_for_reading_and_says_so(self, project: Path) -> None:
        async with opened(project) as (_, pilot):
            await until_shown(pilot, "is read-only here")
            assert "grammars" in shown(pilot)

    async def test_a_decision_is_refused_with_a_reason(self, project: Path) -> None:
        async with opened(project) as (app, pilot):
            await pilot.press("enter")
            assert "accepted" not in states(project)
            assert app.is_running

    async def test_nothing_is_predicted_or_imported(self, project: Path, tmp_path: Path) -> None:
        (tmp_path / "new.txt").write_text("New.")
        called: list[int] = []
        load = lambda: called.append(1)
        async with opened(project, tmp_path / "new.txt", load=load) as (app, pilot):  # type: ignore[arg-type]
            await until_shown(pilot, "nothing imported")
            desk_of(app).action_predict()
            await pilot.pause()
        assert not called


class TestReplacedFile:
    """What a sync client, git or a copy does: another file gets the name of the open one."""

    async def test_it_goes_on_in_a_file_beside(self, project: Path) -> None:
        other = Path(shutil.copy(project, project.with_name("other")))
        async with opened(project) as (app, pilot):
            await pilot.press("enter")
            os.replace(other, project)
            await pilot.press("enter")
            await until_shown(pilot, "Enter saves it next to")
            await pilot.press("enter")
            await until_shown(pilot, "p.replaced.sciextract")
            await until(pilot, lambda: app.project and "replaced" in app.project.path.name)
            await pilot.press("enter")
        assert "accepted" not in states(project)
        assert states(project.with_name("p.replaced.sciextract")).count("accepted") == 2

    async def test_who_does_not_want_that_is_refused_and_told_at_the_end(
        self, project: Path
    ) -> None:
        other = Path(shutil.copy(project, project.with_name("other")))
        with pytest.raises(ProjectReplacedError, match="saved as"):
            async with opened(project) as (_, pilot):
                await pilot.press("enter")
                os.replace(other, project)
                await pilot.press("enter")
                await until_shown(pilot, "Enter saves it next to")
                await pilot.press("escape", "enter")
                await until_shown(pilot, "it was replaced by another file")
                await until_shown(pilot, "Enter saves it next to")
                await pilot.press("escape")
        assert "accepted" not in states(project)
        assert states(project.with_name("p.replaced.sciextract")).count("accepted") == 1


class TestCrash:
    async def test_the_app_ends_and_the_project_is_whole(
        self, project: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def broken(self: ReviewScreen) -> None:
            raise RuntimeError("secret text of the person")

        with pytest.raises(RuntimeError):
            async with opened(project) as (app, pilot):
                await pilot.press("enter")
                monkeypatch.setattr(ReviewScreen, "draw_header", broken)
                await pilot.press("enter")
                await until(pilot, lambda: not app.is_running)
        assert isinstance(app.failure, RuntimeError)
        assert "accepted" in states(project)

    async def test_a_signal_leaves_with_its_code(self, project: Path) -> None:
        async with opened(project) as (app, pilot):
            app.leave(128 + 15)
            await until(pilot, lambda: not app.is_running)
        assert app.return_code == 143
