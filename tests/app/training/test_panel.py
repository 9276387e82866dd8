"""The panel and the desk above a real process that writes a run folder."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from sciextract.documents.document import ModelId
from sciextract.errors import ModelNotFoundError, install_command
from sciextract.workflows.models import choice
from sciextract_app.suggesting import predicting
from sciextract_app.training import screen as retraining
from sciextract_app.training import work as training
from sciextract_app.training.screen import RetrainingScreen
from tests.app.screens_support import desk_of, opened, shown, until, until_shown
from tests.app.training.children import Use, newest
from tests.cli.fakes import RuleExtractor

pytestmark = pytest.mark.asyncio

SIZES = pytest.mark.parametrize("size", [(80, 24), (120, 40)], ids=["80x24", "120x40"])
LATER = ModelId("later", "a" * 64)


@pytest.fixture
def used(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of models that were taken; the model that is loaded by such a name is another rule."""
    taken: list[str] = []
    monkeypatch.setattr(choice, "use", lambda name, project: taken.append(name))

    class Choice:
        def __init__(self, model: str, candidates: bool) -> None:
            self.model = model

        def load(self) -> RuleExtractor:
            return RuleExtractor(LATER, candidates=True)

    monkeypatch.setattr(predicting, "ModelChoice", Choice)
    return taken


async def start(pilot: Pilot[None]) -> None:
    """Decide something, open the panel and begin."""
    await pilot.press("enter", "enter", "x")
    await pilot.press("f8")
    await until_shown(pilot, "Enter start")
    await until_shown(pilot, "trained on")
    await pilot.press("enter")


async def finish(pilot: Pilot[None], count: int) -> None:
    """Mark abstracts as done until so many are."""
    while f", {count} done" not in shown(pilot):
        await pilot.press("D")


def go_on(project: Path) -> None:
    (newest(project).folder / "go").touch()


@SIZES
class TestPanel:
    async def test_it_says_first_what_would_be_done(
        self, project: Path, child: Use, size: tuple[int, int]
    ) -> None:
        async with opened(project, size=size) as (_, pilot):
            await pilot.press("enter", "f8")
            await until_shown(pilot, "trained on")
            told = shown(pilot)
            for words in (
                "1 decision",
                "starts from",
                "options",
                "takes",
                "held out",
                "too few",
                "--gate",
            ):
                assert words in told

    async def test_a_training_is_watched_to_its_end(
        self, project: Path, child: Use, used: list[str], size: tuple[int, int]
    ) -> None:
        async with opened(project, load=RuleExtractor, size=size) as (app, pilot):
            await start(pilot)
            await until_shown(pilot, "training: epoch 3 of 8")
            told = shown(pilot)
            for words in ("12.3 documents/s", "34 %", "4 min 32 s left", "loss", "0.667", "63.0"):
                assert words in told
            assert "nothing to score" in told
            go_on(project)
            await until_shown(pilot, "too few")
            assert "[+0.6 to +4.1]" in shown(pilot)
            await pilot.press("enter")
            await until_shown(pilot, "sci-p-2 is in use now")
            assert used == ["sci-p-2"]
            await pilot.press("escape")
            await until(pilot, lambda: desk_of(app).desk.header().model.startswith("later"))


@SIZES
class TestSetup:
    async def test_options_are_those_of_the_command(
        self, project: Path, child: Use, size: tuple[int, int], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(retraining, "known_hosts", lambda: ["gpubox"])
        async with opened(project, size=size) as (_, pilot):
            await pilot.press("enter", "f8")
            await until_shown(pilot, "trained on")
            await pilot.press("o")
            await until_shown(pilot, "Options of the training")
            await pilot.press(*"--base 'a", "enter")
            await until_shown(pilot, "No closing quotation")
            await pilot.press(*" b'", "enter")
            await until_shown(pilot, "--base 'a b'")
            await pilot.press("o", "down", "enter")
            await until_shown(pilot, "--remote gpubox")
            await pilot.press("escape", "f8")
            await until_shown(pilot, "--remote gpubox")  # the desk keeps it
            assert list(project.parent.glob("home/runs/*")) == []


class TestLeaving:
    async def test_closing_the_panel_leaves_it_running(self, project: Path, child: Use) -> None:
        async with opened(project) as (_, pilot):
            await start(pilot)
            await until_shown(pilot, "epoch 3 of 8")
            await pilot.press("escape")
            await until_shown(pilot, "⟳ training 3/8")
            await pilot.press("f8")
            await until_shown(pilot, "epoch 3 of 8")
            await pilot.press("escape")
            go_on(project)
            await until_shown(pilot, "New model: entities 66.1 to 68.4, relations 40.2 to 41.0")
            assert "⟳" not in shown(pilot)

    async def test_leaving_the_desk_leaves_it_running(self, project: Path, child: Use) -> None:
        async with opened(project) as (_, pilot):
            await start(pilot)
            await until_shown(pilot, "epoch 3 of 8")
            await pilot.press("ctrl+q")
        assert newest(project).is_alive()
        async with opened(project) as (_, pilot):
            await until_shown(pilot, "⟳ training 3/8")
            await pilot.press("f8", "x")
            await until_shown(pilot, "Stop the training?")
            await pilot.press("enter")
            await until_shown(pilot, "stopped")

    async def test_it_stops_after_a_question_and_goes_on(self, project: Path, child: Use) -> None:
        async with opened(project) as (_, pilot):
            await start(pilot)
            await until_shown(pilot, "epoch 3 of 8")
            await pilot.press("x", "escape")
            assert newest(project).is_alive()
            await pilot.press("x", "enter")
            await until_shown(pilot, "g continue it")
            await pilot.press("enter")
            await until_shown(pilot, "stopped in epoch 3 of 8")
            await pilot.press("g")
            await until_shown(pilot, "too few")
            assert len(list(newest(project).folder.parent.iterdir())) == 1

    async def test_keys_of_the_desk_are_answered_meanwhile(self, project: Path, child: Use) -> None:
        async with opened(project) as (app, pilot):
            await start(pilot)
            await until_shown(pilot, "epoch 3 of 8")
            await pilot.press("escape", "n")
            assert desk_of(app).desk.number == 2


class TestEnds:
    async def test_a_promoted_model_predicts_at_once(
        self, project: Path, child: Use, used: list[str]
    ) -> None:
        child("promote")
        async with opened(project, load=RuleExtractor) as (app, pilot):
            await start(pilot)
            await until_shown(pilot, "sci-p-2 is better and predicts")
            assert "Enter" not in shown(pilot).splitlines()[-1]
            await until(pilot, lambda: desk_of(app).desk.header().model.startswith("later"))
            assert used == []  # the training did it

    async def test_the_last_outcome_can_be_seen_again(self, project: Path, child: Use) -> None:
        child("keep")
        async with opened(project) as (_, pilot):
            await start(pilot)
            await until_shown(pilot, "not clearly better")
        async with opened(project) as (_, pilot):
            await pilot.press("f8")
            await until_shown(pilot, "l shows the result of the last one")
            assert "about 7 min" in shown(pilot)
            await pilot.press("l")
            await until_shown(pilot, "not clearly better")
            await pilot.press("n")
            await until_shown(pilot, "trained on")

    @pytest.mark.parametrize(
        ("kind", "words"),
        [("die", "libtorch"), ("fail", "decide some items first"), ("silent", "Killed")],
    )
    async def test_a_training_that_fails_says_why(
        self, project: Path, child: Use, kind: str, words: str
    ) -> None:
        child(kind)
        async with opened(project) as (_, pilot):
            await start(pilot)
            await until_shown(pilot, words)
            await pilot.press("escape")
            await until_shown(pilot, "F8 shows it")

    async def test_a_model_that_cannot_be_taken_is_told(
        self, project: Path, child: Use, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def use(name: str, project: Any) -> None:
            raise ModelNotFoundError(f"no model is called {name}", "sciextract models list")

        monkeypatch.setattr(choice, "use", use)
        child("keep")
        async with opened(project) as (_, pilot):
            await start(pilot)
            await until_shown(pilot, "not clearly better")
            await pilot.press("enter")
            await until_shown(pilot, "no model is called sci-p-2")


class TestObstacles:
    async def test_nothing_to_learn_from(self, project: Path, child: Use) -> None:
        async with opened(project) as (_, pilot):
            await pilot.press("f8")
            await until_shown(pilot, "no training data yet")
            await pilot.press("enter", "g", "l", "x")
            assert list(project.parent.glob("home/runs/*")) == []

    async def test_packages_that_are_missing(
        self, project: Path, child: Use, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(training, "NEEDED", ("no_such_package_here",))
        async with opened(project) as (_, pilot):
            await start(pilot)
            await until_shown(pilot, install_command("train"))

    async def test_a_folder_that_cannot_be_written(
        self, project: Path, child: Use, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        async with opened(project) as (_, pilot):
            (tmp_path / "file").touch()
            monkeypatch.setenv("SCIEXTRACT_HOME", str(tmp_path / "file"))
            await start(pilot)
            await until_shown(pilot, "SCIEXTRACT_HOME")

    async def test_a_project_that_can_only_be_read(
        self, project: Path, child: Use, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        async with opened(project) as (app, pilot):
            await pilot.press("enter")
            desk_of(app).project.mode = "read"
            await pilot.press("f8")
            await until_shown(pilot, "copy it to a folder of yours")


class TestOffer:
    @pytest.fixture(autouse=True)
    def soon(self, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
        monkeypatch.setattr("sciextract_app.training.plan.EVERY", 2)
        yield

    async def test_it_comes_once_for_so_many_abstracts(self, project: Path, child: Use) -> None:
        async with opened(project) as (_, pilot):
            await finish(pilot, 1)
            assert "Retrain on" not in shown(pilot)
            await finish(pilot, 2)
            await until_shown(pilot, "Retrain on your 2 abstracts? F8")
            await pilot.press("l")
            assert "Retrain on" not in shown(pilot)
        async with opened(project) as (_, pilot):
            await pilot.press("enter")
            assert "Retrain on" not in shown(pilot)

    async def test_it_leads_to_the_panel(self, project: Path, child: Use) -> None:
        async with opened(project) as (app, pilot):
            await finish(pilot, 2)
            await until_shown(pilot, "Retrain on your 2 abstracts? F8")
            await pilot.press("f8")
            assert isinstance(app.screen, RetrainingScreen)
            await asyncio.sleep(0)
