"""What a merge brings beside documents: saved queues, and the choice of a model."""

from __future__ import annotations

from pathlib import Path

import pytest

from sciextract.documents.schema_file import load_schema
from sciextract.store import Project, create_project, project_settings
from sciextract.store.queries import SavedQueue, queue_lengths, read_queue, save_queue
from sciextract.workflows.agreement import merge_projects
from sciextract.workflows.import_files import import_files
from sciextract.workflows.models.choice import current, rollback, use
from sciextract.workflows.models.registry import register
from tests.unit.workflows.models.builders import model_folder


@pytest.fixture(autouse=True)
def _own_models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SCIEXTRACT_HOME", str(tmp_path / "home"))


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


class TestModel:
    @pytest.fixture
    def parsing(self, tmp_path: Path) -> str:
        return register(model_folder(tmp_path / "parsing")).id

    def test_it_is_taken_over_where_nobody_chose(
        self, mine: Project, theirs: Project, parsing: str
    ) -> None:
        use(parsing, theirs)
        report = merge_projects(mine, theirs.path)
        assert parsing in report.model and "as in the other project" in report.model
        assert current(mine).id == parsing
        assert merge_projects(mine, theirs.path).model == ""
        assert len(project_settings.read(mine)) == 1

    def test_an_own_choice_wins_also_one_that_was_taken_back(
        self, mine: Project, theirs: Project, parsing: str
    ) -> None:
        use(parsing, theirs)
        use("sci", mine)
        assert merge_projects(mine, theirs.path).model == ""
        assert current(mine).name == "sci"
        rollback(mine)
        assert merge_projects(mine, theirs.path).model == ""

    def test_one_that_is_not_here_is_not_taken_over(self, mine: Project, theirs: Project) -> None:
        absent = {"name": "far", "hash": "cd" * 32, "bundled": False}
        project_settings.append(theirs, absent)
        report = merge_projects(mine, theirs.path)
        assert "not adopted" in report.model and "far-cdcdcdcd" in report.model
        assert project_settings.read(mine) == []

    def test_choices_that_make_no_sense_stop_nothing(self, mine: Project, theirs: Project) -> None:
        with theirs.writing() as connection:
            connection.execute("INSERT INTO meta VALUES ('models', 'gone')")
        assert merge_projects(mine, theirs.path).model == ""
