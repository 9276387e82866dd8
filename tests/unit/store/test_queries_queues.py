"""Saved queues in the project: kept as they are, under any name, and no part of the log."""

from __future__ import annotations

import tempfile
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sciextract.errors import ActionRefusedError
from sciextract.store import Project, create_project, open_project
from sciextract.store.queries import SavedQueue, queue_lengths, read_queue, remove_queue, save_queue
from tests.tiers import examples
from tests.unit.store.projects import small_schema


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return create_project(tmp_path / "p.sciextract", small_schema(), "ann")


@pytest.fixture(scope="module")
def shared() -> Project:
    folder = Path(tempfile.mkdtemp())
    project = create_project(folder / "p.sciextract", small_schema(), "ann")
    project.connection.execute("PRAGMA synchronous = OFF")
    return project


class TestStored:
    def test_a_queue_is_read_as_it_was_saved(self, project: Project) -> None:
        queue = SavedQueue("later, ‹β› [12]", (3, 1, 5), "tag* is:flagged", "random", 7)
        save_queue(project, queue)
        with open_project(project.path, read=True) as reading:
            assert read_queue(reading, queue.name) == queue
            assert queue_lengths(reading) == {queue.name: 3}

    @pytest.mark.parametrize("queue", [SavedQueue(" ", (1,)), SavedQueue("none", ())])
    def test_what_cannot_be_a_queue(self, project: Project, queue: SavedQueue) -> None:
        with pytest.raises(ActionRefusedError):
            save_queue(project, queue)

    def test_a_name_is_given_once(self, project: Project) -> None:
        save_queue(project, SavedQueue("a", (1,)))
        with pytest.raises(ActionRefusedError, match="already"):
            save_queue(project, SavedQueue("a", (2,)))
        remove_queue(project, "a")
        save_queue(project, SavedQueue("a", (2,)))

    def test_what_cannot_be_understood_is_as_if_it_were_not_there(self, project: Project) -> None:
        with project.writing() as connection:
            connection.execute("INSERT INTO meta VALUES ('queue:x', 'no json')")
            connection.execute("INSERT INTO meta VALUES ('queue:y', '{\"numbers\": [\"z\"]}')")
        assert read_queue(project, "x") is read_queue(project, "y") is None
        assert queue_lengths(project) == {"x": 0, "y": 1}

    def test_it_is_no_action(self, project: Project) -> None:
        before = len(project.log())
        save_queue(project, SavedQueue("a", (1,)))
        assert len(project.log()) == before


@settings(max_examples=examples(40), deadline=None)
@given(
    names=st.lists(st.text(min_size=1, max_size=12).filter(str.strip), unique=True, max_size=4),
    numbers=st.lists(st.integers(1, 1 << 40), min_size=1, max_size=30, unique=True),
)
def test_any_name_and_any_numbers_come_back(
    shared: Project, names: list[str], numbers: list[int]
) -> None:
    plain = set()
    for name in names:
        with suppress(ActionRefusedError):  # nothing printable, or the same as another one
            plain.add(save_queue(shared, SavedQueue(name, tuple(numbers))).name)
    try:
        assert queue_lengths(shared) == dict.fromkeys(plain, len(numbers))
        for name in plain:
            assert read_queue(shared, name) == SavedQueue(name, tuple(numbers))
    finally:
        for name in plain:
            remove_queue(shared, name)
