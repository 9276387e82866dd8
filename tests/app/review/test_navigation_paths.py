"""Ways through a project by key, and what the screen says about where one is."""

from __future__ import annotations

from pathlib import Path

import pytest

from sciextract.documents.document import AnnotatedDocument, Document
from sciextract.store import EntityRef, create_project
from sciextract.store.ingest import Import
from sciextract.text.analyse import analyse
from sciextract_app.widgets.passage_view import PassageView
from tests.app.review.abstracts import SCIERC, TEXT, gold, place, project_with
from tests.app.screens_support import desk_of, opened, shown, until_shown

pytestmark = pytest.mark.asyncio
FIELDS = {
    "doi": "10.1000/Made.Up",
    "year": "2019",
    "journal": "Journal of Tests",
    "author": "Doe, Ann and Roe, Jo",
}


@pytest.fixture
def twelve(tmp_path: Path) -> Path:
    """A project of twelve abstracts."""
    path = tmp_path / "twelve.sciextract"
    texts = [f"Parser {place} reads grammars." for place in range(1, 13)]
    documents = [
        Document(f"d{place}", text, analyse(text, []), FIELDS)
        for place, text in enumerate(texts, 1)
    ]
    with create_project(path, SCIERC, "ann") as project:
        Import(project, "import:a.jsonl", {}).add(
            [(AnnotatedDocument(document), ()) for document in documents]
        )
    return path


class TestGoing:
    async def test_first_last_and_by_number(self, twelve: Path) -> None:
        async with opened(twelve) as (app, pilot):
            assert "abstract 1 of 12" in shown(pilot)
            await pilot.press("greater_than_sign")
            assert "abstract 12 of 12" in shown(pilot)
            await pilot.press("home")
            assert "abstract 1 of 12" in shown(pilot)
            await pilot.press("G", "1", "9", "backspace")
            assert "Go to abstract 1 to 12: 1_" in shown(pilot)
            await pilot.press("0", "enter")
            assert desk_of(app).desk.number == 10
            await pilot.press("G", "9", "9", "enter")
            assert "There is no abstract 99; there are 12" in shown(pilot)
            assert desk_of(app).desk.number == 10

    async def test_places_are_those_of_the_search(self, twelve: Path) -> None:
        async with opened(twelve) as (app, pilot):
            await pilot.press("slash", *"in:text 1*", "enter", "escape")
            await until_shown(pilot, "of 4")
            await pilot.press("G", "4", "enter")
            assert "4 of 4" in shown(pilot)
            assert desk_of(app).desk.number == 12
            await pilot.press("escape")
            assert "abstract 12 of 12" in shown(pilot)
            assert "The search is over: all abstracts" in shown(pilot)

    async def test_titles_grow_with_the_width(self, tmp_path: Path) -> None:
        path = tmp_path / "long.sciextract"
        text = "Grammars are read."
        with create_project(path, SCIERC, "ann") as project:
            document = Document("d1", text, analyse(text, []), {"title": "parser " * 20})
            Import(project, "import:a.jsonl", {}).add([(AnnotatedDocument(document), ())])
        words = []
        for size in ((100, 40), (120, 40)):
            async with opened(path, size=size) as (_, pilot):
                row = next(
                    line for line in shown(pilot).splitlines() if "▸ " in line and "parser" in line
                )
                words.append(row.partition("…")[0].count("parser"))
        assert words[1] > words[0]

    async def test_what_is_known_of_the_paper_stands_above_it(self, twelve: Path) -> None:
        async with opened(twelve) as (_, pilot):
            assert "Doe et al. · 2019 · Journal of Tests · doi:10.1000/made.up · d1" in shown(pilot)


class TestSearch:
    async def test_hits_are_highlighted(self, twelve: Path) -> None:
        async with opened(twelve) as (app, pilot):
            await pilot.press("slash", *"gramm*", "enter", "escape")
            view = app.screen.query_one(PassageView)
            marked = [
                segment.text
                for segment in view.render_line(0)
                if segment.style and segment.style.reverse
            ]
            assert marked == ["grammars"]

    async def test_places_are_listed_before_a_decision_everywhere(self, twelve: Path) -> None:
        async with opened(twelve) as (app, pilot):
            await pilot.press("f", *desk_of(app).desk.passage().hints.get(9, ""))
            await pilot.press("escape", "w", "2", "ampersand")
            await until_shown(pilot, "decide 11 items")
            assert "‹Parser›: decide 11 items in 11 abstracts?" in shown(pilot)
            assert "Parser 7 reads grammars." in shown(pilot)
            await pilot.press("escape")
            assert desk_of(app).desk.bulk.pending is None
            await pilot.press("ampersand")
            await until_shown(pilot, "decide 11 items")
            await pilot.press("enter")
            await until_shown(pilot, "11 items in 11 abstracts decided")


class TestPane:
    async def test_how_the_string_was_labelled_before(self, twelve: Path) -> None:
        async with opened(twelve, size=(120, 80)) as (_, pilot):
            await pilot.press("2", "n", "1")
            assert "others   Method 1 +" in shown(pilot)
            assert "Method + ‹Parser 1 reads grammars.›" in shown(pilot)
            await pilot.press("n", "2")
            assert "others   Method 1 +, Task 1 ✎" in shown(pilot)

    async def test_the_score_comes_first_and_the_run_before_the_definition(
        self, tmp_path: Path
    ) -> None:
        project_with(tmp_path, gold()).close()
        async with opened(tmp_path / "p.sciextract", size=(120, 60)) as (app, _):
            names = [name for name, _ in desk_of(app).desk.inspector().lines]
            assert names[0] == "score" and names.index("from") < names.index("means")
            assert len(dict(desk_of(app).desk.inspector().lines)["from"]) < 30


class TestClusters:
    async def test_letters_keep_when_the_abstract_is_left(self, tmp_path: Path) -> None:
        project_with(tmp_path, gold(), (TEXT, "Notes.")).close()
        async with opened(tmp_path / "p.sciextract") as (app, pilot):
            desk = desk_of(app).desk
            desk.focus_item(EntityRef("task"))
            await pilot.press("c", "enter")
            letter = next(
                rest
                for char, rest in desk.passage().hints.items()
                if char == place("legal").char_start
            )
            await pilot.press(*letter)
            before = [(line.letter, line.mentions) for line in desk.clusters()]
            assert [letter for letter, _ in before] == ["a", "d", "b"]
            await pilot.press("n", "p")
            assert [(line.letter, line.mentions) for line in desk.clusters()] == before

    async def test_enter_proposes_the_cluster_of_the_same_string(self, tmp_path: Path) -> None:
        project_with(tmp_path, gold()).close()
        async with opened(tmp_path / "p.sciextract") as (app, pilot):
            desk = desk_of(app).desk
            desk.focus_item(EntityRef("corpus2"))
            await pilot.press("c")
            assert "Enter: new, with the other ‹Ledger corpus›" in shown(pilot)
            await pilot.press("enter")
            assert ("Ledger corpus",) * 2 in [line.mentions for line in desk.clusters()]
            await pilot.press("C", "c")
            assert "Enter: new" in shown(pilot)
            await pilot.press("space")
            assert "together with which mention?" in shown(pilot)
            await pilot.press("escape")
            desk.focus_item(EntityRef("encoder"))
            await pilot.press("c")
            assert "into which cluster? Enter: a new one" in shown(
                pilot
            )  # no other one is called so
