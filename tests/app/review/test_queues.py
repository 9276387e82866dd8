"""Saved queues: what is kept, going along one, stopping and resuming, abstracts that go away."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sciextract.documents.document import AnnotatedDocument
from sciextract.store import Project, open_project
from sciextract.store.ingest import Import
from sciextract.store.queries import SavedQueue, present, read_queue, remove_queue, save_queue
from sciextract.store.review import Sort
from sciextract.store.search import Query
from sciextract_app.review.keys.desk import Desk
from sciextract_app.review.model.document_order import DocumentOrder, Listing
from sciextract_app.review.model.saved_queues import QueueLine, suggested_name
from tests.app.review.abstracts import MADE, document, press, project_with
from tests.tiers import examples

TEXTS = tuple(f"A {word} tagger is tried." for word in ("red", "green", "blue", "grey", "pink"))


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return project_with(tmp_path, None, TEXTS)


@pytest.fixture
def desk(project: Project) -> Desk:
    return Desk(project, 2)


def started(desk: Desk, numbers: tuple[int, ...], name: str = "odd") -> Desk:
    save_queue(desk.state.project, SavedQueue(name, numbers))
    assert not desk.queues.start(name).problem
    return desk


def brought_in(project: Project, texts: tuple[str, ...]) -> int:
    """Import more abstracts; gives the event, to be taken back."""
    job = Import(project, "import:more.jsonl", {})
    documents = [document(text, f"more{place}") for place, text in enumerate(texts)]
    job.add([(AnnotatedDocument(doc), ()) for doc in documents])
    assert job.event_id is not None
    return job.event_id


class TestGoing:
    def test_the_keys_go_along_it(self, desk: Desk) -> None:
        started(desk, (4, 1, 3))
        assert (desk.number, desk.header().queue) == (4, "odd 1 of 3")
        press(desk, "n n")
        assert (desk.number, desk.header().queue) == (3, "odd 3 of 3")
        assert desk.press("n").message == "This is the last abstract of the queue odd"
        press(desk, "p")
        assert desk.number == 1

    def test_done_does_not_lead_out_of_it(self, desk: Desk) -> None:
        started(desk, (4, 1))
        press(desk, "D D")
        assert desk.number == 1
        press(desk, "D")
        assert desk.press("D").message.endswith(". All abstracts of the queue odd are done")
        assert desk.number == 1
        assert desk.queues.lines() == [QueueLine("odd", 2, 2, 2, True)]

    def test_from_another_abstract_it_goes_back_to_the_place(self, desk: Desk) -> None:
        started(desk, (4, 1, 3))
        press(desk, "n")
        desk.open(5)
        assert desk.header().queue == "odd 2 of 3"
        press(desk, "n")
        assert desk.number == 1
        desk.open(5)
        press(desk, "D D")
        assert desk.number == 1

    def test_a_list_does_not_take_its_place(self, desk: Desk) -> None:
        started(desk, (4, 1))
        desk.follow([2, 3])
        press(desk, "n")
        assert desk.number == 1

    def test_it_can_be_left(self, desk: Desk) -> None:
        assert desk.queues.leave().problem
        started(desk, (4, 1))
        press(desk, "n")
        assert desk.queues.leave().message.startswith("closed the queue odd 2 of 2")
        press(desk, "n")
        assert (desk.number, desk.header().queue) == (2, "")
        assert desk.queues.start("odd").message.startswith("queue odd 2 of 2")
        assert desk.number == 1

    def test_two_queues_have_a_place_each(self, desk: Desk) -> None:
        started(desk, (4, 1, 3))
        press(desk, "n")
        started(desk, (5, 2), "other")
        press(desk, "n")
        desk.queues.start("odd")
        assert desk.header().queue == "odd 2 of 3"
        assert [(line.name, line.place) for line in desk.queues.lines()] == [
            ("odd", 2),
            ("other", 2),
        ]

    def test_a_forgotten_queue_is_left(self, desk: Desk) -> None:
        started(desk, (4, 1))
        assert not desk.queues.forget("odd").problem
        assert desk.queues.active == ""
        assert desk.queues.start("odd").problem
        assert desk.queues.lines() == []


class TestResuming:
    def test_reopening_goes_on_where_the_person_stopped(self, desk: Desk) -> None:
        started(desk, (4, 1, 3))
        press(desk, "n")
        desk.remember()
        again = Desk(desk.state.project)
        assert (again.number, again.header().queue) == (1, "odd 2 of 3")
        press(again, "n")
        assert again.number == 3

    def test_another_person_begins_at_the_beginning(
        self, desk: Desk, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        started(desk, (4, 1, 3))
        press(desk, "n")
        monkeypatch.setenv("SCIEXTRACT_HOME", str(tmp_path / "theirs"))
        theirs = Desk(desk.state.project)
        assert theirs.queues.active == ""
        assert theirs.queues.start("odd").message.startswith("queue odd 1 of 3")

    def test_a_queue_that_is_gone_is_not_missed(self, desk: Desk) -> None:
        started(desk, (4, 1))
        desk.remember()
        remove_queue(desk.state.project, "odd")
        again = Desk(desk.state.project)
        assert (again.number, again.queues.active) == (4, "")


class TestSaving:
    def test_the_list_as_it_is(self, desk: Desk, project: Project) -> None:
        listing = Listing(project)
        listing.load(Sort.UNDECIDED)
        numbers = tuple(listing.numbers)
        assert "3 of 5" not in suggested_name(listing, "")
        feedback = desk.queues.save("  some\nof them ", listing, "tagger")
        assert feedback.message.startswith(f"queue some of them {numbers.index(2) + 1} of 5")
        assert desk.number == 2
        listing.load(Sort.TEXT)
        assert read_queue(project, "some of them") == SavedQueue(
            *("some of them", numbers, "tagger", "most undecided first")
        )

    def test_an_empty_list_cannot_be_saved(self, desk: Desk, project: Project) -> None:
        listing = Listing(project)
        listing.load(query=Query(words="nowhere"))
        assert desk.queues.save("none", listing).problem

    def test_a_project_that_can_only_be_read(self, project: Project) -> None:
        with open_project(project.path, read=True) as reading:
            desk = Desk(reading)
            assert desk.queues.save("a", Listing(reading)).problem

    def test_the_list_of_a_queue(self, project: Project) -> None:
        listing = Listing(project)
        listing.show((4, 1, 99))
        assert (listing.numbers, listing.is_plain) == ([4, 1], False)
        listing.load()
        assert listing.numbers == [4, 1]
        listing.load(Sort.TEXT)
        assert (listing.count(), listing.is_plain) == (5, True)


def test_what_cannot_be_understood_is_not_offered(project: Project) -> None:
    with project.writing() as connection:
        connection.execute("INSERT INTO meta VALUES ('queue:x', 'no json')")
    desk = Desk(project)
    assert desk.queues.lines() == []
    assert desk.queues.start("x").problem


class TestAbstractsThatGo:
    def test_they_vanish_from_the_queue_and_come_back(self, desk: Desk, project: Project) -> None:
        event = brought_in(project, ("Six.", "Seven."))
        started(desk, (6, 4, 7, 1))
        press(desk, "n")
        project.undo(event)
        desk.refresh()
        assert (desk.number, desk.header().queue) == (4, "odd 1 of 2")
        press(desk, "n")
        assert desk.number == 1
        press(desk, "p")
        assert desk.number == 4
        project.redo()
        desk.refresh()
        assert desk.header().queue == "odd 2 of 4"

    def test_the_place_itself_goes(self, desk: Desk, project: Project) -> None:
        event = brought_in(project, ("Six.",))
        started(desk, (4, 6, 1))
        press(desk, "n")
        desk.remember()
        project.undo(event)
        again = Desk(project)
        assert again.number != 6
        assert again.queues.start("odd").message.startswith("queue odd 2 of 2")
        assert again.number == 1

    def test_a_list_passes_over_them_too(self, desk: Desk, project: Project) -> None:
        event = brought_in(project, ("Six.",))
        desk.follow([2, 6, 3])
        project.undo(event)
        press(desk, "n")
        assert desk.number == 3

    def test_nothing_is_left(self, desk: Desk, project: Project) -> None:
        event = brought_in(project, ("Six.",))
        save_queue(project, SavedQueue("gone", (6,)))
        project.undo(event)
        feedback = desk.queues.start("gone")
        assert feedback.problem
        assert (desk.number, desk.queues.active) == (2, "")
        assert desk.queues.lines() == [QueueLine("gone", 0, 0, 0, False)]


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Project]:
    with project_with(tmp_path_factory.mktemp("shared"), None, TEXTS) as project:
        MADE.discard(project)  # not the test's, but the module's
        project.connection.execute("PRAGMA synchronous = OFF")
        yield project


@settings(max_examples=examples(60), deadline=None)
@given(
    numbers=st.lists(st.integers(1, 9), min_size=1, max_size=9, unique=True),
    stopped=st.integers(0, 12),
    steps=st.lists(st.sampled_from([1, -1]), max_size=12),
)
def test_a_queue_never_leads_to_what_is_not_there(
    shared: Project, numbers: list[int], stopped: int, steps: list[int]
) -> None:
    documents = DocumentOrder(shared.connection, numbers, "queue", "q", stopped)
    living = [number for number in numbers if number <= len(TEXTS)]
    assert list(present(shared.connection, tuple(numbers))) == living
    here = documents.first()
    if not living:
        assert here is None
        assert documents.position == (0, 0)
        return
    assert here in living
    for step in steps:
        documents.visit(here)
        place = living.index(here)
        assert documents.position == (place + 1, len(living))
        wanted = place + step
        found = documents.neighbour(here, step)
        assert found == (living[wanted] if 0 <= wanted < len(living) else None)
        here = found or here
    documents.visit(here)
    assert documents.not_done_after(here) in (
        *(number for number in living if number != here),
        None,
    )
    assert documents.neighbour(99, 1) == documents.neighbour(99, -1) == documents.last == here


def test_a_long_list_is_gone_through_quickly(shared: Project) -> None:
    numbers = [*range(100, 20_100), 3]
    documents = DocumentOrder(shared.connection, numbers)
    assert documents.neighbour(100, 1) == 3
    assert documents.not_done_after(100) == 3
