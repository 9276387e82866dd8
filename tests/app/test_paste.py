"""Pasting abstracts on the desk and at the start screen."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual import events
from textual.pilot import Pilot
from textual.widgets import Button, TextArea

from sciextract.store import open_project
from sciextract_app.paste import MOST_SHOWN, PasteDialog
from sciextract_app.review.view.screen import ReviewScreen
from sciextract_app.start import StartScreen
from tests.app.screens_support import (
    desk_of,
    made_project,
    opened,
    shown,
    states,
    until,
    until_shown,
)

pytestmark = pytest.mark.asyncio

BIB = "@article{reed1999, title={Reeds}, abstract={A parser of reeds.}, year={1999}}\r"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return made_project(tmp_path)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A current folder without projects."""
    found = tmp_path / "empty"
    found.mkdir()
    monkeypatch.chdir(found)
    monkeypatch.setenv("SCIEXTRACT_HOME", str(tmp_path / "home"))
    return found


async def paste(pilot: Pilot[None], text: str) -> PasteDialog:
    """Paste as a terminal does, and wait for the dialog."""
    pilot.app.post_message(events.Paste(text))
    await until(pilot, lambda: isinstance(pilot.app.screen, PasteDialog))
    dialog = pilot.app.screen
    assert isinstance(dialog, PasteDialog)
    await until(pilot, lambda: dialog.query("#recognised"))
    return dialog


def texts(path: Path) -> list[str]:
    with open_project(path, read=True) as project:
        return [project.document_state(number).text for number in project.numbers()]


class TestOnTheDesk:
    async def test_a_paste_is_no_keys(self, project: Path) -> None:
        before = states(project)
        async with opened(project) as (app, pilot):
            await paste(pilot, "xxxDDq")
            await until_shown(pilot, "1 abstract")
            await pilot.press("escape")
            assert desk_of(app) is app.screen
        assert states(project) == before
        assert len(texts(project)) == 3

    async def test_enter_imports_and_one_step_takes_it_back(self, project: Path) -> None:
        async with opened(project) as (_, pilot):
            await paste(pilot, BIB)
            await until_shown(pilot, "1 abstract · BibTeX with `abstract` fields")
            await pilot.press("enter")
            await until_shown(pilot, "1 new abstract")
            await pilot.press("u", "enter")
            await until_shown(pilot, "import taken back")
        assert len(texts(project)) == 3

    async def test_the_palette_opens_an_empty_one(self, project: Path) -> None:
        async with opened(project) as (app, pilot):
            assert isinstance(app.screen, ReviewScreen)
            app.screen.dialogs.paste()
            await until_shown(pilot, "Paste or type abstracts")
            assert isinstance(app.focused, TextArea)
            await pilot.press("ctrl+s")
            assert isinstance(app.screen, PasteDialog)  # nothing to import yet
            app.post_message(events.Paste("A tagger of moss.\r\rA parser of reeds.\r"))
            await until_shown(pilot, "2 abstracts")
            assert isinstance(app.focused, Button)
            await pilot.press("enter")
            await until_shown(pilot, "2 new abstracts")
        assert texts(project)[3:] == ["A tagger of moss.", "A parser of reeds."]

    async def test_what_is_edited_is_imported_as_it_is_shown(self, project: Path) -> None:
        async with opened(project) as (app, pilot):
            dialog = await paste(pilot, "Moss.")
            dialog.query_one(TextArea).insert("Red ", (0, 0))
            await until(pilot, lambda: dialog.text == "Red Moss.")
            await until_shown(pilot, "1 abstract")
            await pilot.press("ctrl+s")
            await until(pilot, lambda: desk_of(app) is app.screen)
            await until_shown(pilot, "1 new abstract")
        assert texts(project)[3:] == ["Red Moss."]

    async def test_a_paste_beside_others(self, project: Path) -> None:
        async with opened(project) as (app, pilot):
            dialog = await paste(pilot, "Moss.")
            area = dialog.query_one(TextArea)
            area.focus()
            area.move_cursor((0, 5))
            app.post_message(events.Paste("\r\rReed\x1b[1ms."))
            await until_shown(pilot, "2 abstracts")
            assert dialog.text == "Moss.\n\nReed␛[1ms."
            app.post_message(events.Paste("x" * (MOST_SHOWN + 1)))
            await until(pilot, lambda: dialog.text == "x" * (MOST_SHOWN + 1))

    async def test_escapes_are_shown_and_kept(self, project: Path) -> None:
        text = "Moss \x1b[31mred\x1b[0m \x07[12]."
        async with opened(project) as (_, pilot):
            await paste(pilot, text)
            await until_shown(pilot, "1 abstract")
            assert "Moss ␛[31mred␛[0m ␇[12]." in shown(pilot)
            assert "\x1b" not in shown(pilot)
            await pilot.press("enter")
            await until_shown(pilot, "1 new abstract")
        assert texts(project)[3:] == [text]

    @pytest.mark.parametrize("text", ["", " \r \r", "@article{a, year={1999}}"])
    async def test_nothing_to_import(self, project: Path, text: str) -> None:
        async with opened(project) as (app, pilot):
            dialog = await paste(pilot, text)
            await until(pilot, lambda: "looking" not in shown(pilot))
            await pilot.press("ctrl+s")
            assert app.screen is dialog
        assert len(texts(project)) == 3

    async def test_a_large_one_shows_its_beginning(self, project: Path) -> None:
        text = "\r\r".join(f"Moss number {number} is green." for number in range(8_000))
        assert len(text) > MOST_SHOWN
        async with opened(project) as (app, pilot):
            dialog = await paste(pilot, text)
            assert len(dialog.query_one(TextArea).text) == MOST_SHOWN
            await until(pilot, lambda: "only the start" in shown(pilot))
            assert dialog.text.count("\n\n") == 7_999
            await pilot.press("escape")
            assert app.screen is desk_of(app)

    async def test_a_project_that_cannot_be_written(self, project: Path) -> None:
        async with opened(project) as (app, pilot):
            app.project.mode = "read"  # type: ignore[union-attr]
            app.post_message(events.Paste(BIB))
            await until_shown(pilot, "is read-only here")


class TestAtTheStart:
    async def test_a_new_project_of_the_day(self, folder: Path) -> None:
        async with opened() as (app, pilot):
            assert isinstance(app.screen, StartScreen)
            await paste(pilot, BIB)
            await until_shown(pilot, "1 abstract")
            await pilot.press("enter")
            await until_shown(pilot, "A parser of reeds.")
        (made,) = folder.glob("pasted-*.sciextract")
        assert texts(made) == ["Reeds\nA parser of reeds."]

    async def test_p_asks_and_escape_makes_nothing(self, folder: Path) -> None:
        async with opened() as (app, pilot):
            await pilot.press("p")
            await until(pilot, lambda: isinstance(app.screen, PasteDialog))
            await pilot.press("escape")
            await until(pilot, lambda: isinstance(app.screen, StartScreen))
        assert list(folder.iterdir()) == []

    async def test_everything_that_the_start_screen_offers(
        self, project: Path, folder: Path
    ) -> None:
        async with opened(project) as (app, pilot):
            await app.action_start()
            await until(pilot, lambda: isinstance(app.screen, StartScreen))
            for words in ("p.sciextract", "Open a project", "Import abstracts", "Paste", "sample"):
                await until_shown(pilot, words)
