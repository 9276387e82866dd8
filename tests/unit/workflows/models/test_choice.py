from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from sciextract.documents.schema_file import load_schema
from sciextract.errors import (
    ModelDamagedError,
    ModelMismatchError,
    ModelNotFoundError,
    OutputError,
    ProjectDamagedError,
    ProjectReadOnlyError,
    UndoRefusedError,
    UsageError,
)
from sciextract.inference.extractor import Extractor
from sciextract.resources import bundled_models, user_models
from sciextract.store import Project, create_project, open_project
from sciextract.workflows.model_choice import ModelChoice
from sciextract.workflows.models.choice import current, find_chosen, history, rollback, use
from sciextract.workflows.models.registry import KnownModel, register
from tests.cli.fakes import SCIERC, RuleExtractor, install
from tests.unit.workflows.models.builders import at_once, model_folder


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    with create_project(tmp_path / "p.sciextract", load_schema("scierc"), "ann") as opened:
        yield opened


@pytest.fixture
def a(tmp_path: Path) -> KnownModel:
    return register(model_folder(tmp_path / "a", "parsing", "a"))


@pytest.fixture
def b(tmp_path: Path) -> KnownModel:
    return register(model_folder(tmp_path / "b", "graphs", "b"))


class TestOrder:
    def test_without_any_choice_the_default_predicts(self, project: Project) -> None:
        found = find_chosen(project)
        assert (found.model.name, found.model.bundled, found.by) == ("sci", True, "default")
        assert found.message() == ""

    def test_the_users_choice_holds_where_no_project_chooses(
        self, project: Project, a: KnownModel
    ) -> None:
        use("parsing")
        assert find_chosen().by == find_chosen(project).by == "user"
        assert current(project) == a
        assert find_chosen().message().startswith(f"model {a.id} predicts (your choice)")

    def test_the_projects_choice_comes_first(
        self, project: Project, a: KnownModel, b: KnownModel
    ) -> None:
        use("parsing")
        use("graphs", project)
        assert (current(), current(project)) == (a, b)
        assert "the choice of this project" in find_chosen(project).message()

    def test_the_default_can_be_chosen(self, project: Project, a: KnownModel) -> None:
        use("parsing")
        use("sci", project)
        found = find_chosen(project)
        assert (found.by, found.model.name, found.message()) == ("project", "sci", "")

    def test_a_folder_is_registered_first(self, tmp_path: Path) -> None:
        folder = model_folder(tmp_path / "fresh")
        model = use(str(folder))
        shutil.rmtree(folder)
        assert current() == model
        assert model.registered


class TestRollback:
    def test_one_by_one_to_the_default(self, a: KnownModel, b: KnownModel) -> None:
        for name in ("parsing", "graphs", "parsing"):
            use(name)
        assert [rollback().model.id for _ in range(3)] == [b.id, a.id, current().id]
        assert find_chosen().by == "default"
        with pytest.raises(UsageError, match="no model was chosen for you"):
            rollback()
        assert len(history()) == 6

    def test_of_a_project_goes_to_the_users_choice(
        self, project: Project, a: KnownModel, b: KnownModel
    ) -> None:
        use("parsing")
        use("graphs", project)
        found = rollback(project)
        assert (found.model, found.by) == (a, "user")
        with pytest.raises(UsageError, match="for this project"):
            rollback(project)

    def test_choosing_the_same_again_is_no_step(self, a: KnownModel) -> None:
        use("parsing")
        use(a.id)
        assert rollback().by == "default"

    def test_to_a_model_that_is_gone_is_refused(self, a: KnownModel, b: KnownModel) -> None:
        use("parsing")
        use("graphs")
        shutil.rmtree(a.folder)
        with pytest.raises(ModelNotFoundError, match=a.id):
            rollback()
        assert current() == b


class TestProjects:
    def test_the_choice_travels_in_the_file(
        self, project: Project, tmp_path: Path, a: KnownModel, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        use("parsing", project)
        project.close()
        elsewhere = Path(shutil.copy(project.path, tmp_path / "q.sciextract"))
        with open_project(elsewhere, read=True) as opened:
            assert current(opened) == a
        monkeypatch.setenv("SCIEXTRACT_HOME", str(tmp_path / "other machine"))
        with open_project(elsewhere, read=True) as opened:
            with pytest.raises(ModelNotFoundError) as caught:
                current(opened)
            assert f"q.sciextract uses the model {a.id}, which is not on this" in str(caught.value)
            assert f"--project {elsewhere}" in caught.value.hint
            again = register(tmp_path / "a", "under-another-name")
            assert current(opened) == again

    def test_the_log_tells_and_undo_leaves_it(self, project: Project, a: KnownModel) -> None:
        use("parsing", project)
        (event,) = project.log(1)
        assert (event.kind, event.params["name"], event.author) == (
            "model",
            "parsing",
            "person:ann",
        )
        with pytest.raises(UndoRefusedError, match="nothing to undo"):
            project.undo()
        with pytest.raises(UndoRefusedError, match=r"\(model\) cannot be undone"):
            project.undo(event.id)
        assert current(project) == a

    def test_labels_that_the_project_lacks_are_refused(
        self, project: Project, tmp_path: Path
    ) -> None:
        labels = replace(SCIERC, entities=("Task", "Gene"))
        register(model_folder(tmp_path / "g", "genes", labels=labels))
        with pytest.raises(ModelMismatchError, match="lacks: Gene") as caught:
            use("genes", project)
        assert f"sciextract suggest --project {project.path}" in caught.value.hint
        assert history(project) == []

    def test_a_project_that_cannot_be_written(self, project: Project, a: KnownModel) -> None:
        project.close()
        with open_project(project.path, read=True) as opened, pytest.raises(ProjectReadOnlyError):
            use("parsing", opened)

    @pytest.mark.parametrize("value", ["[3]", "no json", "{}", '[{"name": "parsing"}]'])
    def test_a_choice_that_cannot_be_understood(self, project: Project, value: str) -> None:
        with project.writing() as connection:
            connection.execute("INSERT INTO meta VALUES ('models', ?)", (value,))
        with pytest.raises(ProjectDamagedError, match="choice of models"):
            current(project)

    def test_an_extractor_follows_it(
        self, project: Project, a: KnownModel, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(Extractor, "load", Extractor.__dict__["load"])
        extractor = RuleExtractor()
        install(extractor)
        use("parsing", project)
        ModelChoice().load(project)
        assert extractor.loaded["model"] == a.folder
        ModelChoice().load_for(project.path)
        assert extractor.loaded["model"] == a.folder
        ModelChoice("sci").load(project)
        assert extractor.loaded["model"] == "sci"
        assert ModelChoice("sci").message(project) == ""
        ModelChoice().load()
        assert extractor.loaded["model"] == current().folder


class TestTrouble:
    def test_a_chosen_model_that_is_gone_is_said(self, a: KnownModel) -> None:
        use("parsing")
        shutil.rmtree(a.folder)
        with pytest.raises(ModelNotFoundError) as caught:
            current()
        assert f"you chose the model {a.id}" in caught.value.message
        assert "sciextract models use sci" in caught.value.hint

    def test_a_chosen_model_that_was_changed_is_said(self, a: KnownModel) -> None:
        use("parsing")
        (a.folder / "manifest.json").write_text('{"files": {}}')
        with pytest.raises(ModelDamagedError, match="it was changed"):
            current()

    def test_a_damaged_model_cannot_be_chosen(self, a: KnownModel) -> None:
        (a.folder / "model.int8.onnx").write_text("x")  # as long as before
        with pytest.raises(ModelDamagedError):
            use("parsing")
        assert find_chosen().by == "default"

    @pytest.mark.parametrize("torn", ['{"name": "par', "", "\x00\x00", "[]", '{"name": 3}'])
    def test_a_torn_line_costs_itself_only(self, a: KnownModel, b: KnownModel, torn: str) -> None:
        use("parsing")
        with (user_models() / "choices.jsonl").open("a") as stream:
            stream.write(torn)
        assert current() == a
        use("graphs")
        assert current() == b
        assert rollback().model == a

    def test_a_place_that_cannot_be_written(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (tmp_path / "file").touch()
        monkeypatch.setenv("SCIEXTRACT_HOME", str(tmp_path / "file"))
        with pytest.raises(OutputError, match=r"choices\.jsonl: cannot be written"):
            use("sci")
        assert find_chosen().by == "default"

    def test_processes_that_choose_at_once_lose_no_choice(
        self, a: KnownModel, b: KnownModel
    ) -> None:
        script = (
            "from sciextract.workflows.models.choice import use\n"
            "sys.stdin.readline()\n"
            "for _ in range(20): use(sys.argv[1]); use('sci')"
        )
        at_once(script, [a.id], [b.id])
        lines = (user_models() / "choices.jsonl").read_text().splitlines()
        written = [line for line in lines if line]  # an empty line between two does no harm
        assert len(history()) == len(written) > 2
        assert {choice["name"] for choice in history()} == {"parsing", "graphs", "sci"}


def test_without_a_choice_the_bundled_model_with_the_labels_of_the_project_predicts(
    tmp_path: Path, project: Project, a: KnownModel
) -> None:
    assert find_chosen(project).model.name == "sci" and not find_chosen(project).message()
    with create_project(tmp_path / "own.sciextract", load_schema("biomedical"), "ann") as own:
        assert find_chosen(own).model.name == "sci"
    with create_project(tmp_path / "gut.sciextract", load_schema("bio"), "ann") as gut:
        found = find_chosen(gut)
        assert (found.model.name, found.by) == ("bio", "default")
        assert "(it has this project's labels)" in found.message()
        use(a.id)
        assert find_chosen(gut).model == a
    with create_project(tmp_path / "soil.sciextract", load_schema("science"), "ann") as soil:
        assert find_chosen(soil).model == a
        rollback()
        assert find_chosen(soil).model.name == "science"


def test_a_damaged_bundled_model_is_named_where_its_labels_are_those_of_the_project(
    tmp_path: Path, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    bundled = tmp_path / "bundled"
    shutil.copytree(bundled_models(), bundled)
    for module in ("workflows.models.choice", "inference.model_folder"):
        monkeypatch.setattr(f"sciextract.{module}.bundled_models", lambda: bundled)
    with create_project(tmp_path / "gut.sciextract", load_schema("bio"), "ann") as gut:
        (bundled / "sci" / "model.int8.onnx").unlink()
        assert find_chosen(gut).model.name == "bio"
        (bundled / "bio" / "model.int8.onnx").write_bytes(b"")
        with pytest.raises(ModelDamagedError, match=r"model bio: .*model\.int8\.onnx"):
            find_chosen(gut).model.usable()
    with pytest.raises(ModelDamagedError, match=r"model sci: .*model\.int8\.onnx") as refused:
        find_chosen(project).model.usable()
    assert refused.value.hint == "install sciextract again, which brings this model"
