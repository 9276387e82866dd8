"""What the words after ``sciextract tui`` mean, without a terminal."""

from __future__ import annotations

import gzip
import os
from datetime import date
from pathlib import Path

import pytest

from sciextract.documents.schema_file import load_schema
from sciextract.errors import (
    InputMissingError,
    NotAProjectError,
    ProjectError,
    SchemaError,
    UsageError,
)
from sciextract.store import create_project, open_project
from sciextract_app.opening import (
    Opening,
    is_project,
    make_project,
    nearby_projects,
    pasted_project,
    plan,
    projects_folder,
    sample_project,
)


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


def project(path: Path) -> Path:
    create_project(path, load_schema("scierc")).close()
    return path


def text(path: Path) -> Path:
    path.write_text("A parser for graphs.")
    return path


class TestNothingNamed:
    def test_no_project_here_is_the_start_screen(self) -> None:
        assert plan([]) == Opening()

    def test_the_only_project_here(self, here: Path) -> None:
        project(here / "one.sciextract")
        assert plan([]).project == Path("one.sciextract")

    def test_several_projects_are_offered(self, here: Path) -> None:
        for name in ("b", "a"):
            project(here / f"{name}.sciextract")
        found = plan([])
        assert found.project is None
        assert "a.sciextract, b.sciextract" in found.message
        assert [recent.stem for recent in nearby_projects()] == ["a", "b"]

    def test_the_variable_names_one(self, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        project(here / "one.sciextract")
        project(here / "two.sciextract")
        monkeypatch.setenv("SCIEXTRACT_PROJECT", "two.sciextract")
        assert plan([]).project == Path("two.sciextract")

    def test_the_variable_names_nothing(self, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("SCIEXTRACT_PROJECT", "old.sciextract")
        found = plan([])
        assert found.project is None
        assert "SCIEXTRACT_PROJECT names old.sciextract" in found.message
        project(here / "one.sciextract")
        found = plan([])
        assert found.project == Path("one.sciextract")
        assert "SCIEXTRACT_PROJECT names old.sciextract" in found.message


class TestFiles:
    def test_a_project_is_made_beside_the_first(self, here: Path) -> None:
        (here / "in").mkdir()
        first, second = text(here / "in" / "refs.txt"), text(here / "other.txt")
        found = plan([str(first), str(second)])
        assert found.project == first.with_name("refs.sciextract")
        assert found.files == (str(first), str(second))
        assert found.schema == "scierc"
        assert "refs.sciextract" in found.message
        assert not found.project.exists()  # a plan makes nothing

    def test_the_schema_is_that_of_the_new_project(self, here: Path) -> None:
        found = plan([str(text(here / "refs.txt"))], "genia")
        make_project(found)
        assert found.project
        with open_project(found.project) as made:
            assert made.schema.name == "genia"

    def test_a_named_model_brings_its_schema(self, here: Path) -> None:
        assert plan([str(text(here / "refs.txt"))], model="bio").schema == "bio"
        assert plan([str(text(here / "refs.txt"))], "genia", "bio").schema == "genia"

    def test_an_unknown_schema_makes_nothing(self, here: Path) -> None:
        with pytest.raises(SchemaError):
            make_project(plan([str(text(here / "refs.txt"))], "nonsense"))
        assert nearby_projects() == []

    def test_an_existing_project_is_opened_again(self, here: Path) -> None:
        kept = project(here / "refs.sciextract")
        before = kept.read_bytes()
        found = plan([str(text(here / "refs.txt"))])
        make_project(found)
        assert (found.project, found.schema) == (kept, None)
        assert kept.read_bytes() == before

    @pytest.mark.parametrize(
        ("name", "stem"),
        [("refs.jsonl.gz", "refs"), ("my.refs.bib", "my.refs"), ("abstracts", "abstracts")],
    )
    def test_names(self, here: Path, name: str, stem: str) -> None:
        found = plan([str(text(here / name))])
        assert found.project == here / f"{stem}.sciextract"

    def test_a_folder_of_files(self, here: Path) -> None:
        (here / "v1.2").mkdir()
        assert plan(["v1.2/"]).project == here / "v1.2.sciextract"

    def test_a_folder_that_takes_no_files(
        self, here: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(os, "access", lambda path, mode: False)
        found = plan([str(text(here / "refs.txt"))])
        assert found.project and found.project.parent == projects_folder()
        assert "takes no files" in found.message
        make_project(found)
        again = plan([str(here / "refs.txt")])
        assert (again.project, again.schema) == (found.project, None)

    def test_equal_names_of_sealed_folders_do_not_mix(
        self, here: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(os, "access", lambda path, mode: False)
        (here / "a").mkdir()
        (here / "b").mkdir()
        one, other = (plan([str(text(here / name / "refs.txt"))]) for name in "ab")
        assert one.project != other.project


def test_a_pattern_that_no_shell_expanded_means_its_files(here: Path) -> None:
    text(here / "b.txt")
    text(here / "a.txt")
    found = plan(["*.txt"])
    assert found.files == ("a.txt", "b.txt") and found.project == here / "a.sciextract"
    with pytest.raises(InputMissingError, match="nothing matches"):
        plan(["*.bib"])


class TestProjectsAndFiles:
    def test_files_come_into_the_named_project(self, here: Path) -> None:
        path, file = project(here / "p.sciextract"), text(here / "refs.txt")
        assert plan([str(file), str(path)]) == Opening(path, (str(file),))

    def test_a_project_of_any_name_is_known_by_its_content(self, here: Path) -> None:
        path = project(here / "p.sciextract").rename(here / "mine.db")
        assert is_project(path)
        assert plan([str(path)]).project == path

    def test_a_broken_file_of_the_right_name_is_meant_as_project(self, here: Path) -> None:
        (here / "p.sciextract").write_bytes(b"no SQLite")
        found = plan(["p.sciextract"])
        assert found.project
        with pytest.raises(NotAProjectError):
            open_project(found.project)

    def test_other_files_are_no_projects(self, here: Path) -> None:
        with gzip.open(here / "a.gz", "wb") as stream:
            stream.write(b"x")
        assert not is_project(here / "a.gz")
        assert not is_project(here)


class TestMistakes:
    def test_a_missing_file(self) -> None:
        with pytest.raises(InputMissingError, match=r"nothing\.bib"):
            plan(["nothing.bib"])

    def test_a_missing_project_says_how_to_make_one(self) -> None:
        with pytest.raises(InputMissingError) as caught:
            plan(["new.sciextract"])
        assert caught.value.hint == "sciextract init new.sciextract"

    def test_two_projects(self, here: Path) -> None:
        names = [str(project(here / f"{name}.sciextract")) for name in "ab"]
        with pytest.raises(UsageError, match="one project at a time"):
            plan(names)

    def test_a_pipe(self) -> None:
        with pytest.raises(UsageError, match="standard input"):
            plan(["-"])

    def test_a_project_that_appeared_meanwhile_is_not_overwritten(self, here: Path) -> None:
        found = plan([str(text(here / "refs.txt"))])
        kept = project(here / "refs.sciextract")
        before = kept.read_bytes()
        with pytest.raises(ProjectError, match="exists already"):
            make_project(found)
        assert kept.read_bytes() == before


def test_the_sample_project_is_the_person_s_own() -> None:
    path = sample_project()
    assert path.parent == projects_folder()
    with open_project(path) as sample:
        assert len(sample.numbers()) == 26
        sample.actions.flag(1)
    assert sample_project() == path
    with open_project(path) as sample:
        assert sample.document_state(1).progress.flagged  # type: ignore[union-attr]


def test_a_project_for_pasted_abstracts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SCIEXTRACT_HOME", str(tmp_path / "home"))
    day = date(2031, 5, 4)
    first = pasted_project("Moss.", tmp_path, day)
    assert first.project == tmp_path / "pasted-2031-05-04.sciextract"
    assert first.message == "new project: pasted-2031-05-04.sciextract"
    make_project(first)
    second = pasted_project("Moss.", tmp_path, day)
    assert second.project == tmp_path / "pasted-2031-05-04-2.sciextract"
    monkeypatch.setattr(os, "access", lambda *_: False)
    elsewhere = pasted_project("Moss.", tmp_path, day)
    assert elsewhere.project == projects_folder() / "pasted-2031-05-04.sciextract"
