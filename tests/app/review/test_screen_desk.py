"""The desk in a terminal of a given size, driven by keys; files are looked at through another connection."""

from __future__ import annotations

from pathlib import Path
from unittest.mock import Mock

import pytest

from sciextract.store import EntityRef, RelationRef, open_project
from sciextract_app.review.view.document_list import DocumentList
from sciextract_app.review.view.lower_panes import LowerPanes
from sciextract_app.review.view.prompts import NoteDialog
from sciextract_app.settings import KEYMAP_FILE, user_folder
from sciextract_app.shared.view_models import Mode
from sciextract_app.start import StartScreen
from sciextract_app.terminal import MOST_SIZE
from sciextract_app.widgets.bars import FooterBar, TooSmall
from sciextract_app.widgets.dialogs import LineDialog
from sciextract_app.widgets.help import KeysDialog
from sciextract_app.widgets.passage_view import PassageView
from tests.app.review.abstracts import TEXT, gold, project_with
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


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return made_project(tmp_path)


async def test_panes_take_what_they_need_and_say_that_they_are_empty(project: Path) -> None:
    async with opened(project, size=(180, 50)) as (app, pilot):
        desk, panes = desk_of(app).desk, app.screen.query_one(LowerPanes)

        def height(pane: str) -> int:
            return panes.query_one(pane).outer_size.height

        relations, clusters = desk.state.open_view.relations, desk.state.open_view.members
        assert len(relations) > 1
        await until(pilot, lambda: height("#relations") == 1 + len(relations))
        assert height("#clusters") == 1 + len(clusters)
        assert panes.query_one("#relations").region.x > app.screen.query_one(PassageView).region.x
        for relation in relations:
            desk.focus_item(RelationRef(relation.id))
            await pilot.press("x")
        await until_shown(pilot, "─Relations: none─")
        assert height("#relations") == 1
        await pilot.resize_terminal(120, 36)
        await until_shown(pilot, "─Focus─")


class TestReviewing:
    async def test_accept_and_undo_are_in_the_file_at_once(self, project: Path) -> None:
        async with opened(project) as (_, pilot):
            assert "grammars" in shown(pilot)
            await pilot.press("enter")
            assert "accepted" in states(project)
            await pilot.press("u")
            assert "accepted" not in states(project)

    async def test_reopening_goes_where_the_person_stopped(self, project: Path) -> None:
        async with opened(project) as (_, pilot):
            await pilot.press("n", "enter", "ctrl+q")
        async with opened(project) as (app, pilot):
            assert desk_of(app).desk.number == 2
            assert "taggers" in shown(pilot)

    async def test_ctrl_q_leaves_with_a_clean_project(self, project: Path) -> None:
        async with opened(project) as (app, pilot):
            await pilot.press("x", "ctrl+q")
            await until(pilot, lambda: not app.is_running)
        assert app.return_code == 0
        assert not project.with_name(f"{project.name}-wal").exists()
        with open_project(project) as again:
            assert again.mode == "write"

    async def test_q_leaves_too(self, project: Path) -> None:
        async with opened(project) as (app, pilot):
            await pilot.press("q")
            await until(pilot, lambda: not app.is_running)

    async def test_ctrl_c_says_how_to_leave(self, project: Path) -> None:
        async with opened(project) as (app, pilot):
            await pilot.press("ctrl+c")
            await until_shown(pilot, "Ctrl+Q leaves")
            assert app.is_running

    async def test_nothing_a_person_types_is_an_unknown_error(self, project: Path) -> None:
        async with opened(project) as (app, pilot):
            for key in (
                "é",
                "😀",
                "&",
                "0",
                "f12",
                "ctrl+x",
                "alt+a",
                "shift+up",
                "space",
                "insert",
            ):
                await pilot.press(key)
            assert app.is_running
            assert app.failure is None


class TestFrames:
    async def test_keys_draw_the_text_at_once_and_what_is_around_it_once(
        self, project: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        async with opened(project) as (app, pilot):
            screen, footer = desk_of(app), app.screen.query_one(FooterBar)
            passage, before, headers = screen.query_one(PassageView), footer._shown, Mock()
            monkeypatch.setattr(screen, "draw_header", headers)
            for key in ("enter", "enter", "v"):
                screen.press(key)
                assert passage.current_passage == screen.desk.passage()
            assert footer._shown == before
            await pilot.pause()
            assert footer._shown != before
            headers.assert_called_once()


class TestKeysOfOnesOwn:
    def write(self, text: str) -> None:
        user_folder("config").mkdir(parents=True, exist_ok=True)
        (user_folder("config") / KEYMAP_FILE).write_text(text)

    async def test_another_key_rejects(self, project: Path) -> None:
        self.write('[keys]\nreject = "z"\n')
        async with opened(project) as (_, pilot):
            await pilot.press("x")
            assert "rejected" not in states(project)
            await pilot.press("z")
            assert "rejected" in states(project)
            assert "z reject" in shown(pilot) and "x reject" not in shown(pilot)

    async def test_another_key_leaves(self, project: Path) -> None:
        self.write('[keys]\n"app.list" = "f2"\n')
        async with opened(project) as (app, pilot):
            await pilot.press("f2")
            assert desk_of(app).query_one(DocumentList).has_focus

    async def test_a_mistake_is_told_and_the_desk_opens(self, project: Path) -> None:
        self.write('[keys]\nrejct = "z"\n')
        async with opened(project) as (_, pilot):
            await until_shown(pilot, "rejct")


class TestSizes:
    async def test_wide_shows_all_panes(self, project: Path) -> None:
        async with opened(project) as (app, _):
            panes = ("#list", "#passage", "#relations", "#clusters", "#inspector")
            assert all(app.screen.query_one(pane).region.area for pane in panes)

    async def test_narrow_has_a_drawer_and_a_strip(self, project: Path) -> None:
        async with opened(project, size=(80, 24)) as (app, pilot):
            assert not app.screen.query_one("#list").region.area
            panes = ("#strip", "#relations", "#clusters", "#inspector")
            assert [bool(app.screen.query_one(pane).region.area) for pane in panes] == [1, 0, 0, 0]
            await pilot.press("ctrl+l")
            await until(pilot, lambda: app.screen.query_one("#list").region.area)
            await pilot.press("escape")
            await until(pilot, lambda: not app.screen.query_one("#list").region.area)

    async def test_the_strip_follows_the_focus_and_a_key_without_a_layout(
        self, project: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        async with opened(project, size=(80, 24)) as (app, pilot):
            layouts = Mock(side_effect=app.screen._compositor.reflow)
            monkeypatch.setattr(app.screen._compositor, "reflow", layouts)
            lower = app.screen.query_one(LowerPanes)
            assert lower.current == "Focus"
            for _ in range(6):
                if lower.current == "Relations":
                    break
                await pilot.press("tab")
            assert lower.current == "Relations"
            await pilot.press("ctrl+t")
            assert lower.current == "Clusters"
            await until_shown(pilot, "grammars ?")
            assert not layouts.called, "each would cost a second frame"

    async def test_the_pane_with_the_focus_has_a_heavy_line(self, project: Path) -> None:
        async with opened(project, size=(80, 24)) as (app, pilot):
            desk = desk_of(app).desk
            while not isinstance(desk.focus, RelationRef):
                await pilot.press("tab")
            await pilot.resize_terminal(120, 40)
            assert "━Relations━━" in shown(pilot)
            while isinstance(desk.focus, RelationRef):
                await pilot.press("shift+tab")
            assert "─Relations──" in shown(pilot)

    async def test_a_pane_that_was_hidden_meanwhile_grows_back(self, tmp_path: Path) -> None:
        with project_with(tmp_path, gold(), (TEXT,)) as made:
            path = made.path
        async with opened(path) as (app, pilot):
            desk = desk_of(app)
            desk.show_result(desk.desk.focus_item(EntityRef("tagger2")))  # three relations
            await pilot.resize_terminal(80, 24)
            desk.show_result(desk.desk.focus_item(EntityRef("task")))  # one
            await pilot.resize_terminal(120, 40)
            await until_shown(pilot, "noun chunking")
            desk.show_result(desk.desk.focus_item(EntityRef("tagger2")))
            await pilot.resize_terminal(80, 24)
            await until_shown(pilot, "Clusters   Focus")

    async def test_too_small_says_so_and_takes_no_decision(self, project: Path) -> None:
        async with opened(project, size=(59, 20)) as (app, pilot):
            await until_shown(pilot, "60x15")
            await pilot.press("enter")
            assert "accepted" not in states(project)
            await pilot.resize_terminal(80, 24)
            await until_shown(pilot, "Clusters   Focus")  # the tabs of the strip
            await until(pilot, lambda: not app.screen.query_one(TooSmall).display)
            await pilot.press("enter")
            assert "accepted" in states(project)

    async def test_resizing_back_and_forth(self, project: Path) -> None:
        async with opened(project) as (app, pilot):
            for columns, rows in ((80, 24), (200, 60), (40, 10), (60, 15), (120, 40)):
                await pilot.resize_terminal(columns, rows)
                await pilot.pause()
                assert app.size == (columns, rows)
            await until_shown(pilot, "grammars")

    async def test_a_terminal_of_one_character_ends_nothing(self, project: Path) -> None:
        async with opened(project) as (app, pilot):
            await pilot.resize_terminal(1, 1)
            await until(pilot, lambda: app.screen.query_one(TooSmall).display)
            await pilot.resize_terminal(120, 40)
            await until_shown(pilot, "grammars")

    async def test_a_browser_gets_no_desk_of_any_size(self, project: Path) -> None:
        async with opened(project) as (app, pilot):
            await pilot.resize_terminal(10**9, 10**9)
            assert app.size == MOST_SIZE


class TestOtherProcesses:
    async def test_a_change_appears_and_the_focus_stays(self, project: Path) -> None:
        async with opened(project) as (app, pilot):
            desk = desk_of(app).desk
            await pilot.press("j")
            focus = desk.focus
            with open_project(project, "bob") as other:
                other.actions.flag(2)
                other.actions.note(1, "from elsewhere")
            await until(pilot, lambda: not desk.is_stale(), seconds=2)
            assert desk.focus == focus

    async def test_abstracts_that_come_are_listed(self, project: Path, tmp_path: Path) -> None:
        from sciextract.workflows.import_files import import_files

        (tmp_path / "new.txt").write_text("A new abstract came in.")
        async with opened(project) as (app, pilot):
            with open_project(project, "bob") as other:
                import_files(other, [str(tmp_path / "new.txt")])
            await until(pilot, lambda: desk_of(app).listing.count() == 4, seconds=2)


class TestTheList:
    async def test_enter_opens_what_is_chosen(self, project: Path) -> None:
        async with opened(project) as (app, pilot):
            await pilot.press("ctrl+l", "down", "down", "enter")
            await until(pilot, lambda: desk_of(app).desk.number == 3)
            assert desk_of(app).focused is None

    async def test_search_filters(self, project: Path) -> None:
        async with opened(project) as (app, pilot):
            await pilot.press("slash")
            await until(pilot, lambda: isinstance(app.screen, LineDialog))
            await pilot.press(*"taggers", "enter")
            await until(pilot, lambda: desk_of(app).listing.numbers == [2])
            await pilot.press("slash", *["backspace"] * 7, "enter")
            await until(pilot, lambda: desk_of(app).listing.count() == 3)

    async def test_a_filter_that_nobody_knows_is_explained(self, project: Path) -> None:
        async with opened(project) as (app, pilot):
            await pilot.press("slash")
            await until(pilot, lambda: isinstance(app.screen, LineDialog))
            await pilot.press(*"label:Methd", "enter")
            await until_shown(pilot, "Method")
            assert isinstance(app.screen, LineDialog)


class TestDialogs:
    async def test_help(self, project: Path) -> None:
        async with opened(project) as (app, pilot):
            await pilot.press("question_mark")
            await until(pilot, lambda: isinstance(app.screen, KeysDialog))
            await until_shown(pilot, "accept")
            await pilot.press("escape")
            assert app.screen is desk_of(app)

    async def test_every_key_is_reached_by_scrolling_and_by_searching(self, project: Path) -> None:
        async with opened(project) as (app, pilot):
            await pilot.press("question_mark")
            await until_shown(pilot, "accept the item")
            await pilot.press("end")
            await until_shown(pilot, "Ctrl+Q")
            await pilot.press("home", "slash", *"split")
            await until(pilot, lambda: "accept the item" not in shown(pilot))
            assert "mean something else" in shown(pilot)
            await pilot.press("escape")
            await until_shown(pilot, "accept the item")
            await pilot.press("j", "j", "pagedown")
            assert app.screen.query_one(".dialog-box").scroll_offset.y > 2
            await pilot.press("k", "pageup", "up")
            assert app.screen.query_one(".dialog-box").scroll_offset.y == 0
            await pilot.press("escape")
            assert app.screen is desk_of(app)

    async def test_the_guideline_begins_at_the_type_in_focus(self, project: Path) -> None:
        async with opened(project) as (app, pilot):
            await pilot.press("tab", "tab")
            focused = desk_of(app).desk.focused_type
            assert focused is not None
            assert focused.label == "USED-FOR"
            await pilot.press("g")
            await until_shown(pilot, focused.definition[:30])
            assert "■ Task" not in shown(pilot)
            await pilot.press("home")
            await until_shown(pilot, "■ Task")

    async def test_a_note_is_kept(self, project: Path) -> None:
        async with opened(project) as (app, pilot):
            await pilot.press("t")
            await until(pilot, lambda: isinstance(app.screen, NoteDialog))
            await pilot.press(*"hard [1]", "ctrl+s")
            await until(pilot, lambda: app.screen is desk_of(app))
            assert " * " in shown(pilot).splitlines()[1], "the list marks abstracts with a note"
        with open_project(project) as again:
            progress = again.document_state(1).progress
            assert progress is not None
            assert progress.note == "hard [1]"

    async def test_a_note_can_be_left_as_it_was(self, project: Path) -> None:
        async with opened(project) as (app, pilot):
            await pilot.press("t")
            await until(pilot, lambda: isinstance(app.screen, NoteDialog))
            await pilot.press("y", "escape")
            await until_shown(pilot, "Esc again discards it")
            await pilot.press("escape")
            await until(pilot, lambda: app.screen is desk_of(app))
        with open_project(project) as again:
            assert [event.kind for event in again.log(1)] != ["note"]

    async def test_the_palette_has_every_action(self, project: Path) -> None:
        async with opened(project) as (app, pilot):
            titles = [command.title for command in app.get_system_commands(desk_of(app))]
            assert {"accept", "undo", "list: newest first", "leave"} <= set(titles)
            await pilot.press("colon")
            await until(pilot, lambda: app.screen is not desk_of(app))

    async def test_the_palette_does_what_a_key_does(self, project: Path) -> None:
        async with opened(project) as (app, _):
            desk_of(app).do("accept")
            assert "accepted" in states(project)

    async def test_other_project_goes_back_to_the_start(self, project: Path) -> None:
        async with opened(project) as (app, pilot):
            await pilot.press("ctrl+o")
            await until(pilot, lambda: isinstance(app.screen, StartScreen))
            assert app.project is None
            await pilot.press("enter")  # it is the first of the recent ones
            await until(pilot, lambda: app.project is not None)

    async def test_other_project_can_be_cancelled(self, project: Path) -> None:
        async with opened(project) as (app, pilot):
            await pilot.press("n", "ctrl+o")
            await until(pilot, lambda: isinstance(app.screen, StartScreen))
            assert f"Esc: back to {project.name}" in shown(pilot)
            await pilot.press("escape")
            await until(pilot, lambda: app.project is not None)
            assert desk_of(app).desk.number == 2


async def test_what_has_the_focus_is_copied_as_one_line(project: Path) -> None:
    async with opened(project) as (app, pilot):
        await pilot.press("ctrl+y")
        assert app.clipboard == "parser"
        await pilot.press("v", "l", "ctrl+y")
        assert app.clipboard == "parser learns"
        assert desk_of(app).desk.mode is Mode.SELECT, "to copy changes nothing"
