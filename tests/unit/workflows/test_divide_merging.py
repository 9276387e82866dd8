"""What a merge brings beside documents: saved queues."""

from __future__ import annotations

from pathlib import Path

import pytest

from sciextract.documents.schema_file import load_schema
from sciextract.store import Project, create_project
from sciextract.store.queries import SavedQueue, queue_lengths, read_queue, save_queue
from sciextract.workflows.divide import merge_projects
from sciextract.workflows.import_files import import_files


def made(tmp_path: Path, name: str, *texts: str) -> Project:
    folder = tmp_path / f"{name}-texts"
    folder.mkdir()
    for place, text in enumerate(texts):
        (folder / f"{place}.txt").write_text(text)
    project = create_project(tmp_path / f"{name}.sciextract", load_schema("scierc"), name)
    import_files(project, [str(folder)])
    return project


@pytest.fixture
def mine(tmp_path: Path) -> Project:
    return made(tmp_path, "anna", "Kernels rank proteins.", "Lattices are parsed.")


@pytest.fixture
def theirs(tmp_path: Path) -> Project:
    """Other numbers for the same texts, and one more text."""
    texts = ("Graphs help.", "Lattices are parsed.", "Kernels rank proteins.")
    return made(tmp_path, "maria", *texts)


def keys(project: Project, name: str) -> list[str]:
    queue = read_queue(project, name)
    assert queue is not None
    return [project.document_state(number).stored.document.text for number in queue.numbers]


class TestQueues:
    def test_they_come_with_the_numbers_of_this_project(
        self, mine: Project, theirs: Project
    ) -> None:
        save_queue(theirs, SavedQueue("tricky", (3, 1, 2), words="parse"))
        wanted = keys(theirs, "tricky")
        assert merge_projects(mine, theirs.path).queues == ("tricky",)
        assert keys(mine, "tricky") == wanted
        found = read_queue(mine, "tricky")
        assert found is not None and found.words == "parse"

    def test_two_of_one_name_are_both_kept(self, mine: Project, theirs: Project) -> None:
        save_queue(mine, SavedQueue("tricky", (1,)))
        save_queue(theirs, SavedQueue("tricky", (1, 2)))
        assert merge_projects(mine, theirs.path).queues == ("tricky (maria)",)
        assert queue_lengths(mine) == {"tricky": 1, "tricky (maria)": 2}

    def test_the_same_queue_is_not_doubled(self, mine: Project, theirs: Project) -> None:
        save_queue(mine, SavedQueue("tricky", (1, 2)))
        for name in ("tricky", "others"):
            save_queue(theirs, SavedQueue(name, (3, 2)))
        save_queue(mine, SavedQueue("others", (2, 1)))
        assert merge_projects(mine, theirs.path).queues == ("others (maria)",)
        assert merge_projects(mine, theirs.path).queues == ()
        assert len(queue_lengths(mine)) == 3

    def test_long_names_stay_different(self, mine: Project, theirs: Project) -> None:
        save_queue(mine, SavedQueue("x" * 60, (1,)))
        save_queue(theirs, SavedQueue("x" * 60, (1, 2)))
        [name] = merge_projects(mine, theirs.path).queues
        assert len(name) == 60 and name.endswith(" (maria)")

    def test_what_is_no_queue_is_left(self, mine: Project, theirs: Project) -> None:
        with theirs.writing() as connection:
            connection.execute("INSERT INTO meta VALUES ('queue:odd', 'gone')")
        assert merge_projects(mine, theirs.path).queues == ()
