"""Saved queues, orders, messages and decisions everywhere, in a terminal of a given size."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from textual.widgets import Input, OptionList

from sciextract.documents.document import AnnotatedDocument, Document
from sciextract.documents.schema_file import load_schema
from sciextract.store import Outcome, create_project, open_project
from sciextract.store.actions.bulk import Count, counting, spreading
from sciextract.store.review import Sort
from sciextract.workflows.import_files import import_files
from sciextract.workflows.predict_project import predict_project
from sciextract_app.review.view import background as worker
from sciextract_app.review.view.prompts import QueuesDialog
from sciextract_app.shared.view_models import Feedback, Mode
from sciextract_app.widgets.dialogs import LineDialog, TextDialog
from tests.app.screens_support import desk_of, opened, shown, until, until_shown
from tests.cli.fakes import RuleExtractor

pytestmark = pytest.mark.asyncio
COUNT = 12


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return made(tmp_path)


def made(folder: Path, predicted: bool = True) -> Path:
    """Twelve abstracts that all speak of taggers."""
    path, texts = folder / "p.sciextract", folder / "texts"
    texts.mkdir()
    for place in range(1, COUNT + 1):
        (texts / f"{place:02}.txt").write_text(f"Taggers number {place} are slow.")
    with create_project(path, load_schema("scierc")) as project:
        import_files(project, [str(texts)])
        if predicted:
            predict_project(project, RuleExtractor(candidates=True))
    return path


def accepted(path: Path) -> int:
    """How many mentions are accepted, as another process sees it."""
    with open_project(path, read=True) as project:
        query = "SELECT count(*) FROM entity WHERE state = 'accepted'"
        return int(project.connection.execute(query).fetchone()[0])


class SlowExtractor(RuleExtractor):
    """Predicts an abstract only when it is let."""

    def __init__(self) -> None:
        super().__init__(candidates=True)
        self.turn = threading.Semaphore(0)
        self.seen: list[int] = []

    def stream(self, documents: Iterable[Document], /) -> Iterator[AnnotatedDocument]:
        for document in documents:
            self.seen.append(int(document.text.split()[2]))
            assert self.turn.acquire(timeout=30)
            yield self.annotate(document)


class TestQueues:
    @pytest.mark.parametrize("size", [(120, 40), (80, 24)])
    async def test_save_go_on_leave_and_forget(self, project: Path, size: tuple[int, int]) -> None:
        async with opened(project, size=size) as (app, pilot):
            desk = desk_of(app)
            desk.list_by(Sort.UNCERTAINTY)
            numbers = list(desk.listing.numbers)
            await pilot.press("f4")
            await until(pilot, lambda: isinstance(app.screen, LineDialog))
            app.screen.query_one(Input).value = "a few [12]"
            await pilot.press("enter")
            await until_shown(pilot, "a few [12] ")
            place = numbers.index(1) + 1
            await until_shown(pilot, f"▸ a few [12] {place} of 12")
            await pilot.press("n" if place < COUNT else "p")
            step = 1 if place < COUNT else -1
            assert desk.desk.number == numbers[place - 1 + step]
        async with opened(project, size=size) as (app, pilot):
            desk = desk_of(app)
            assert desk.listing.numbers == numbers
            await until_shown(pilot, f"▸ a few [12] {place + step} of 12")
            await pilot.press("f3")
            await until(pilot, lambda: isinstance(app.screen, QueuesDialog))
            assert "0 done" in shown(pilot)
            await pilot.press("down", "enter")  # the line below the queue leaves it
            await until_shown(pilot, "closed the queue")
            assert desk.listing.numbers == list(range(1, COUNT + 1))
            await pilot.press("f3", "x")
            await until_shown(pilot, "x again deletes a few [12]")
            await pilot.press("x")
            await until_shown(pilot, "is deleted")
            await pilot.press("f3")
            await until_shown(pilot, "No queue is saved yet")
            await pilot.press("escape")

    async def test_nothing_is_saved_under_no_name(self, project: Path) -> None:
        async with opened(project) as (app, pilot):
            await pilot.press("f4")
            await until(pilot, lambda: isinstance(app.screen, LineDialog))
            app.screen.query_one(Input).value = "  "
            await pilot.press("enter")
            assert isinstance(app.screen, LineDialog)
            await pilot.press("escape", "f3")
            await until_shown(pilot, "No queue is saved yet")
            assert not app.screen.query(OptionList)

    async def test_a_search_does_not_leave_it(self, project: Path) -> None:
        async with opened(project) as (app, pilot):
            desk = desk_of(app)
            desk.desk.queues.save("all", desk.listing)
            desk.list_by(Sort.YEAR)
            await pilot.press("n")
            assert (desk.desk.number, desk.desk.queues.active) == (2, "all")


class TestPredictionFollows:
    async def test_the_person_and_the_queue(self, tmp_path: Path) -> None:
        path, model = made(tmp_path, predicted=False), SlowExtractor()
        async with opened(path, load=lambda: model) as (app, pilot):
            await until(pilot, lambda: model.seen == [1])
            desk_of(app).listing.show([9, 4, 2])
            desk_of(app).desk.queues.save("q", desk_of(app).listing)
            desk_of(app).show_result(desk_of(app).desk.queues.start("q"))
            model.turn.release(3)
            await until(pilot, lambda: model.seen[:4] == [1, 9, 4, 2])
            await pilot.press("f3", "down", "enter")
            await until_shown(pilot, "closed the queue")
            await pilot.press("n")
            model.turn.release(COUNT)
            await until(pilot, lambda: desk_of(app).predictions.progress is None)
            assert sorted(model.seen) == list(range(1, COUNT + 1))


class TestEverywhere:
    async def test_asked_done_and_taken_back(self, project: Path) -> None:
        async with opened(project) as (app, pilot):
            await pilot.press("enter", "&")
            await until_shown(pilot, "decide 11 items in 11 abstracts?")
            assert desk_of(app).desk.mode is Mode.CONFIRM
            assert accepted(project) == 1
            await pilot.press("enter")
            await until_shown(pilot, "11 items in 11 abstracts decided; u undoes all of it")
            assert accepted(project) == COUNT
            await pilot.press("u")
            await until(pilot, lambda: accepted(project) == 1)

    async def test_the_desk_is_usable_meanwhile(
        self, project: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        turn = threading.Semaphore(0)

        def waiting(*arguments: Any) -> Iterator[Outcome]:
            for outcome in spreading(*arguments):
                yield outcome
                assert turn.acquire(timeout=30)

        monkeypatch.setattr(worker, "spreading", waiting)
        async with opened(project) as (app, pilot):
            await pilot.press("enter", "&")
            await until_shown(pilot, "Enter confirms")
            await pilot.press("enter")
            await until(pilot, lambda: accepted(project) > 1)
            await pilot.press("n", "F", "n")  # answered while the worker waits between two steps
            assert desk_of(app).desk.number == 3
            await pilot.press("escape")
            turn.release(COUNT)
            await until_shown(pilot, "then stopped; u undoes that")
            assert 1 < accepted(project) < COUNT

    async def test_escape_while_it_is_counted(
        self, project: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        turn = threading.Semaphore(0)

        def waiting(*arguments: Any) -> Iterator[Count]:
            for count in counting(*arguments):
                assert turn.acquire(timeout=30)
                yield count

        monkeypatch.setattr(worker, "counting", waiting)
        async with opened(project) as (app, pilot):
            await pilot.press("enter", "&")
            await until_shown(pilot, "counting ‹Taggers›")
            await pilot.press("escape")
            turn.release(COUNT + 5)
            await until_shown(pilot, "nothing else is decided")
            await until(pilot, lambda: not any(w.is_running for w in app.screen.workers))
            assert desk_of(app).desk.bulk.pending is None
            assert accepted(project) == 1

    async def test_a_crash_is_told_and_forgotten(
        self, project: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def broken(*_: object) -> Iterator[object]:
            raise ZeroDivisionError

        monkeypatch.setattr(worker, "counting", broken)
        async with opened(project) as (app, pilot):
            await pilot.press("enter", "&")
            await until_shown(pilot, "decision for the whole project failed unexpectedly")
            assert desk_of(app).desk.mode is Mode.REVIEW


class TestMessages:
    async def test_news_leave_the_answer_where_it_is(self, project: Path) -> None:
        async with opened(project) as (app, pilot):
            await pilot.press("F")
            desk_of(app).show_notice(Feedback("7 abstracts predicted"))
            await until_shown(pilot, "│ 7 abstracts predicted")
            assert "flagged" in shown(pilot)
            desk_of(app).dialogs.messages()
            await until(pilot, lambda: isinstance(app.screen, TextDialog))
            await until_shown(pilot, "7 abstracts predicted")
            assert "flagged" in shown(pilot)
            await pilot.press("escape")

    async def test_they_are_in_the_palette(self, project: Path) -> None:
        async with opened(project) as (app, _):
            found = {command.title for command in app.get_system_commands(app.screen)}
            assert {"messages", "saved queues", "save the list as a queue", "leave queue"} <= found
            assert {"list: newest first", "undecided items by uncertainty"} <= found
