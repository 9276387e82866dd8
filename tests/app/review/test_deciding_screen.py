"""What keys do to an abstract whose predictions are all of the invented gold, seen on the screen and in the file."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.pilot import Pilot

from sciextract.documents.annotations import State
from sciextract.store import EntityRef, ItemRef, RelationRef, open_project
from sciextract_app.app import DeskApp
from tests.app.review.abstracts import AGAIN, TEXT, gold, project_with
from tests.app.screens_support import desk_of, opened, shown, until, until_shown

pytestmark = pytest.mark.asyncio


@pytest.fixture
def project(tmp_path: Path) -> Path:
    with project_with(tmp_path, gold(), (TEXT, AGAIN, "Nets vary.")) as made:
        return made.path


def entity_states(path: Path) -> dict[str, State]:
    with open_project(path, read=True) as project:
        return {row.id: row.state for row in project.document_state(1).entities}


def focus(app: DeskApp, item: ItemRef) -> None:
    """Put the focus on an item, as a click does."""
    desk_of(app).desk.focus_item(item)
    desk_of(app).draw()


async def test_splitting_accepts_only_the_mention_in_focus(project: Path) -> None:
    async with opened(project) as (app, pilot):
        focus(app, EntityRef("tagger2"))
        await pilot.press("X")
        await until_shown(pilot, "‹tagger› is in cluster")
        assert "2 mentions of it undecided" in shown(pilot)
        accepted = {k for k, state in entity_states(project).items() if state is State.ACCEPTED}
        assert accepted == {"tagger2"}
        await pilot.press("u")
        assert State.ACCEPTED not in entity_states(project).values()


async def test_edges_inside_a_token_by_key(project: Path) -> None:
    def surface() -> str:
        with open_project(project, read=True) as found:
            entity = found.document_state(1).entity("corpus")
            return entity.surface(TEXT) if entity else ""

    async with opened(project) as (app, pilot):
        focus(app, EntityRef("corpus"))
        await pilot.press("z")
        await until_shown(pilot, "CHARACTERS")
        await pilot.press("E", "E")
        assert surface() == "Ledger corp"
        await pilot.press("escape", "e")
        assert surface() == "Ledger corpus", "the token's own end comes first"
        await pilot.press("z", "S", "x", "enter")
        assert surface() == "edger corpus"
        await pilot.press("s")
        assert surface() == "Ledger corpus"
        await pilot.press(*"uuuuu")
        assert entity_states(project)["corpus"] is State.UNDECIDED


class TestIllegalRelations:
    """SciERC allows no CONJUNCTION of a Method and a Metric, and no COMPARE of a Method and a Task."""

    def relations(self, path: Path) -> set[tuple[str, str, str]]:
        with open_project(path, read=True) as project:
            rows = project.document_state(1).relations
            return {(r.head, r.tail, r.label) for r in rows if r.state is not State.REJECTED}

    async def test_a_relation_that_retyping_made_illegal_is_marked(self, project: Path) -> None:
        async with opened(project) as (app, pilot):
            focus(app, EntityRef("f1"))
            assert "!" not in row_of(pilot, "CONJUNCTION")
            await pilot.press("2")
            focus(app, EntityRef("f1"))
            await until(pilot, lambda: "!" in row_of(pilot, "CONJUNCTION"))
            focus(app, RelationRef("f1 speed"))
            await until_shown(pilot, "the schema allows no")
            await pilot.press("u")
            await until(pilot, lambda: "!" not in row_of(pilot, "CONJUNCTION"))

    async def test_a_second_press_keeps_one_that_the_schema_refuses(self, project: Path) -> None:
        wanted = ("tagger1", "task", "COMPARE")
        async with opened(project) as (app, pilot):
            focus(app, EntityRef("tagger1"))
            await pilot.press("r")
            await pilot.press(*desk_of(app).desk.passage().hints[TEXT.index("noun")], "c")
            await until_shown(pilot, "Again to keep it, marked !")
            assert wanted not in self.relations(project)
            await pilot.press("space", "space", "c")
            assert wanted not in self.relations(project), "another key came between"
            await pilot.press("c")
            assert wanted in self.relations(project)
            assert "!" in row_of(pilot, "COMPARE")
            await pilot.press("u")
            assert wanted not in self.relations(project)

    async def test_the_type_of_a_relation_can_be_kept_too(self, project: Path) -> None:
        async with opened(project) as (app, pilot):
            focus(app, RelationRef("tagger1 task"))
            await pilot.press("6")
            await until_shown(pilot, "COMPARE may not lead from Method to Task")
            await pilot.press("6")
            assert ("tagger1", "task", "COMPARE") in self.relations(project)


def row_of(pilot: Pilot[None], label: str) -> str:
    """The line of the relations pane with a label; it ends with the sign of its state."""
    rows = (line.rstrip() for line in shown(pilot).splitlines() if label in line)
    return next((line for line in rows if line[-1] in "?✓✎+"), "")


class TestASearch:
    async def search(self, pilot: Pilot[None], words: str) -> None:
        await pilot.press("slash", *words, "enter")
        await until_shown(pilot, "found; n and p stay")

    async def test_next_and_previous_stay_in_it_and_the_header_shows_it(
        self, project: Path
    ) -> None:
        async with opened(project) as (app, pilot):
            await self.search(pilot, "vary")
            assert " 1 abstract found" in shown(pilot)
            await until_shown(pilot, "search ‹vary› 1 of 1")
            await pilot.press("escape", "n")
            await until(pilot, lambda: desk_of(app).desk.number == 3)
            for key in "np":
                await pilot.press(key)
                assert desk_of(app).desk.number == 3
            assert "of the search vary; / with an empty line shows all" in shown(pilot)
            await pilot.press("slash", *["backspace"] * 4, "enter", "escape", "p")
            await until(pilot, lambda: desk_of(app).desk.number == 2)
            assert "search ‹" not in shown(pilot)

    async def test_without_a_hit_says_so(self, project: Path) -> None:
        async with opened(project) as (app, pilot):
            await self.search(pilot, "zebra")
            await pilot.press("escape", "n")
            assert desk_of(app).desk.number == 1
            assert "There is no abstract of the search zebra" in shown(pilot)


async def test_while_the_list_has_the_focus_nothing_is_decided(project: Path) -> None:
    async with opened(project) as (app, pilot):
        before = entity_states(project)
        await pilot.press("ctrl+l")
        await until_shown(pilot, "Enter open")
        assert "accept" not in shown(pilot).splitlines()[-1]
        for key in ("x", "1", "A", "D", "D", "u", "s", "backspace", "r", "t", "c"):
            await pilot.press(key)
            assert "does nothing in the list" in shown(pilot)
        assert entity_states(project) == before
        await pilot.press("j", "j", "k", "enter")
        await until(pilot, lambda: desk_of(app).desk.number == 2)
        await until_shown(pilot, "D done")
        await pilot.press("ctrl+l", "p")
        await until(pilot, lambda: desk_of(app).desk.number == 1)
        await pilot.press("x")
        assert State.REJECTED in entity_states(project).values()


async def test_list_question_and_done_count_the_same_items(project: Path) -> None:
    async with opened(project) as (app, pilot):
        row = desk_of(app).listing.page(0, 1)[0]
        await pilot.press("Z", "end", "enter")
        await until_shown(pilot, "D finishes entities, relations, coreference")
        await pilot.press("D")
        await until_shown(pilot, f"{row.undecided} items undecided")
        await pilot.press("D")
        await until_shown(pilot, f"to go, {row.undecided} items rejected")
        await until_shown(pilot, ", 1 done")
        await pilot.press("p", "u")
        await until_shown(pilot, ", 0 done")
        await pilot.press("u", "D")
        await until_shown(pilot, "16 items undecided")  # mentions alone: no relation was ever made


async def test_page_keys_scroll_a_text_that_is_longer_than_its_pane(tmp_path: Path) -> None:
    text = " ".join(f"Sentence {place} speaks of one more parser." for place in range(60))
    with project_with(tmp_path, gold(), (TEXT, text)) as made:
        path = made.path
    async with opened(path, size=(80, 24)) as (app, pilot):
        await pilot.press("n")
        first = "Sentence 0 speaks"
        await until_shown(pilot, first)
        await pilot.press("pagedown")
        await until(pilot, lambda: first not in shown(pilot))
        await pilot.press("pageup")
        await until_shown(pilot, first)
        assert desk_of(app).desk.state.cursor == 0
