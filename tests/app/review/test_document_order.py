"""The list of abstracts, also a very long one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from sciextract.documents.schema_file import load_schema
from sciextract.store import Project, create_project
from sciextract.store.review import Sort
from sciextract.store.search import Query
from sciextract.store.sqlite import connect
from sciextract_app.review.keys.desk import Desk
from sciextract_app.review.model.document_order import Listing
from tests.app.review.many import fill

MANY = 20_000
PAGE = 60


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Project]:
    path = tmp_path_factory.mktemp("many") / "p.sciextract"
    with create_project(path, load_schema("scierc"), "ann") as project:
        project.connection.execute("PRAGMA synchronous = OFF")
        fill(project, MANY)
        yield project


def test_rows_show_what_the_project_says(many: Project) -> None:
    listing = Listing(many)
    assert listing.count() == MANY
    first, second = listing.page(0, 2)
    assert (first.number, first.title, first.year, first.items) == (1, "Tagger 1", 1991, 30)
    assert first.layers == ("in progress",) * 3
    assert second.undecided == 2
    assert listing.place(2) == 1
    assert listing.place(MANY + 1) is None
    assert listing.page(MANY, 5) == []


@pytest.mark.parametrize("sort", Sort)
def test_every_order_is_whole_and_stays(many: Project, sort: Sort) -> None:
    listing = Listing(many)
    listing.load(sort)
    assert sorted(listing.numbers) == list(range(1, MANY + 1))
    again = Listing(many)
    again.load(sort)
    assert again.numbers == listing.numbers


def test_orders(many: Project) -> None:
    listing = Listing(many)
    listing.load(Sort.YEAR)
    years = [row.year or 0 for row in listing.page(0, MANY)]
    assert years == sorted(years, reverse=True)
    listing.load(Sort.UNCERTAINTY)
    found = [row.uncertainty for row in listing.page(0, 50)]
    assert found == sorted(found, reverse=True)
    listing.load(Sort.STATUS)
    assert listing.page(0, 1)[0].layers == ("untouched",) * 3
    assert listing.page(MANY - 1, 1)[0].layers == ("done",) * 3


def test_filters(many: Project) -> None:
    listing = Listing(many)
    listing.load(query=Query(flagged=True))
    assert listing.count() == MANY // 50
    assert all(row.flagged for row in listing.page(0, PAGE))
    listing.load(Sort.UNDECIDED, Query(words="lattice", place="title"))
    rows = listing.page(0, PAGE)
    assert {row.title.split()[0] for row in rows} == {"Lattice"}
    assert [row.undecided for row in rows] == sorted((row.undecided for row in rows), reverse=True)


def test_pages_far_down_take_as_many_steps_as_the_first(many: Project) -> None:
    """Steps of SQLite's virtual machine, which do not depend on how busy the computer is."""
    listing, steps = Listing(many), list[int]()

    def count() -> int:
        steps[-1] += 1
        return 0

    many.connection.set_progress_handler(count, 10)
    try:
        for offset in (0, MANY - PAGE):
            steps.append(0)
            assert len(listing.page(offset, PAGE)) == PAGE
    finally:
        many.connection.set_progress_handler(None, 0)
    assert 0 < steps[1] <= 1.2 * steps[0]


def test_another_thread_brings_its_own_connection(many: Project) -> None:
    connection = connect(Path(many.path), "read")
    assert Listing(many, connection).count() == MANY
    connection.close()


def test_moving_in_a_large_project(many: Project) -> None:
    listing = Listing(many)
    listing.load(Sort.UNCERTAINTY)
    desk = Desk(many, listing.numbers[0])
    desk.follow(listing.numbers)
    assert desk.press("n").moved
    assert desk.number == listing.numbers[1]
    assert (desk.header().documents, desk.header().done) == (MANY, (MANY + 1) // 3)
