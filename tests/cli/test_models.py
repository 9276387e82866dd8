from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from sciextract.errors import ExitCode
from sciextract.resources import bundled_models
from sciextract.workflows.models import registry
from sciextract.workflows.models.choice import current
from sciextract.workflows.models.registry import KnownModel, register
from tests.cli.conftest import Command
from tests.cli.fakes import RuleExtractor
from tests.cli.projects import GOLD, PLAIN, read_lines, write_lines
from tests.unit.workflows.models.builders import model_folder

ESCAPE = "\x1b"


@pytest.fixture
def parsing(tmp_path: Path) -> KnownModel:
    return register(model_folder(tmp_path / "parsing"))


@pytest.fixture
def graphs(tmp_path: Path) -> KnownModel:
    return register(model_folder(tmp_path / "graphs", "graphs", "others"))


class TestList:
    def test_the_one_that_predicts_has_a_star(self, command: Command, parsing: KnownModel) -> None:
        result = command("models", "list")
        assert result.code == 0
        bio, sci, science, own = result.out.splitlines()
        assert science.startswith("  science-") and science.endswith("in the package")
        assert bio.startswith("  bio-") and bio.endswith("in the package")
        assert sci.startswith("* sci-") and sci.endswith("in the package")
        assert own.startswith(f"  {parsing.id}") and "since 20" in own
        assert command("models", "use", "parsing").code == 0
        assert command("models", "list").out.splitlines()[-1].startswith(f"* {parsing.id}")

    def test_json_has_one_object_a_line(self, command: Command, parsing: KnownModel) -> None:
        bio, sci, _, own = read_lines(command("models", "list", "--json").out)
        assert (bio["name"], bio["bundled"], bio["in_use"]) == ("bio", True, False)
        assert (sci["name"], sci["bundled"], sci["in_use"]) == ("sci", True, True)
        assert (own["id"], own["hash"], own["in_use"]) == (parsing.id, parsing.hash, False)

    def test_a_project_has_a_choice_of_its_own(
        self, command: Command, project: Path, parsing: KnownModel
    ) -> None:
        command("models", "use", "parsing", "--project", project)
        assert "* parsing" not in command("models", "list").out
        assert "* parsing" in command("models", "list", "--project", project).out

    def test_damaged_and_missing_models_are_said(
        self, command: Command, parsing: KnownModel, graphs: KnownModel
    ) -> None:
        command("models", "use", "graphs")
        shutil.rmtree(graphs.folder)
        (parsing.folder / "tokenizer.json").unlink()
        result = command("models", "list")
        assert result.code == 0 and "*" not in result.out
        assert "cannot be used: " in result.out and "tokenizer.json is missing" in result.out
        assert f"you chose the model {graphs.id}, which is not on this machine" in result.err


class TestShow:
    def test_the_card_cannot_steer_the_terminal(
        self, command: Command, parsing: KnownModel
    ) -> None:
        result = command("models", "show", "parsing")
        assert result.code == 0
        assert parsing.id in result.out and parsing.hash in result.out
        assert "says [12] and" in result.out and ESCAPE not in result.out

    def test_without_a_name_the_one_that_predicts(
        self, command: Command, project: Path, parsing: KnownModel
    ) -> None:
        assert command("models", "show").out.startswith("sci-")
        command("models", "use", "parsing", "--project", project)
        assert command("models", "show", "--project", project).out.startswith(parsing.id)

    def test_json_has_scores_origin_and_card(self, command: Command) -> None:
        values = json.loads(command("models", "show", "sci", "--json").out)
        assert values["scores"]["split"] == "dev"
        assert "encoder minilm" in values["origin"] and values["card"].startswith("# sci")

    def test_an_unknown_name_lists_the_known(self, command: Command, parsing: KnownModel) -> None:
        result = command("models", "show", "nosuch")
        assert (result.code, result.out) == (ExitCode.MISSING, "")
        assert "no model is called 'nosuch'" in result.err and parsing.id in result.err

    def test_a_damaged_model(self, command: Command, parsing: KnownModel) -> None:
        (parsing.folder / "model.int8.onnx").write_text("changed")
        assert command("models", "show", "parsing").code == ExitCode.FAILED


class TestUseAndRollback:
    def test_back_and_forth(
        self, command: Command, parsing: KnownModel, graphs: KnownModel
    ) -> None:
        assert parsing.id in command("models", "use", "parsing").err
        values = json.loads(command("models", "use", graphs.id, "--json").out)
        assert values == {"model": graphs.id, "project": None}
        assert f"{parsing.id} predicts again" in command("models", "rollback").err
        values = json.loads(command("models", "rollback", "--json").out)
        assert values["by"] == "default"
        result = command("models", "rollback")
        assert result.code == ExitCode.USAGE and "no choice to revert" in result.err

    def test_of_a_project_leave_yours(
        self, command: Command, project: Path, parsing: KnownModel
    ) -> None:
        result = command("models", "use", "parsing", "--project", project, "--author", "ben")
        assert result.code == 0 and f"in {project}" in result.err
        assert current().name == "sci"
        log = command("log", "--project", project).out
        assert "person:ben" in log and "model (name parsing" in log
        assert command("models", "rollback", "--project", project).code == 0

    def test_no_project_of_that_name(self, command: Command, parsing: KnownModel) -> None:
        result = command("models", "use", "parsing", "--project", "absent.sciextract")
        assert result.code == ExitCode.MISSING

    def test_two_of_a_name(self, command: Command, parsing: KnownModel, tmp_path: Path) -> None:
        newer = register(model_folder(tmp_path / "again", weights="newer"))
        assert newer.id in command("models", "use", "parsing").err
        assert command("models", "use", parsing.id).code == ExitCode.DONE


class TestPredicting:
    @pytest.fixture
    def papers(self, work: Path) -> Path:
        return write_lines(work / "papers.jsonl", PLAIN)

    def test_annotate_follows_the_user(
        self, command: Command, papers: Path, fake: RuleExtractor, parsing: KnownModel
    ) -> None:
        result = command("annotate", papers, "--export", "jsonl")
        assert fake.loaded["model"] == bundled_models() / "sci" and "Note" not in result.err
        command("models", "use", "parsing")
        result = command("annotate", papers, "--export", "jsonl")
        assert fake.loaded["model"] == parsing.folder
        assert f"Note: model {parsing.id} predicts (your choice)" in result.err
        result = command("annotate", papers, "--export", "jsonl", "--model", "sci")
        assert fake.loaded["model"] == "sci" and "Note" not in result.err

    def test_annotate_project_follows_the_project(
        self, command: Command, project: Path, fake: RuleExtractor, parsing: KnownModel
    ) -> None:
        command("models", "use", "parsing", "--project", project)
        result = command("annotate", "--project", project)
        assert fake.loaded["model"] == parsing.folder
        assert f"model {parsing.id} predicts (the choice of this project)" in result.err
        assert "Note" not in command("annotate", "--project", project, "--quiet").err

    def test_evaluate_follows_the_user(
        self, command: Command, work: Path, fake: RuleExtractor, parsing: KnownModel
    ) -> None:
        command("models", "use", "parsing")
        result = command("evaluate", write_lines(work / "gold.jsonl", GOLD), "--json")
        assert result.code == 0 and json.loads(result.out)["documents"] == 1
        assert fake.loaded["model"] == parsing.folder and "your choice" in result.err

    def test_a_missing_choice_predicts_nothing(
        self, command: Command, papers: Path, project: Path, parsing: KnownModel
    ) -> None:
        command("models", "use", "parsing", "--project", project)
        shutil.rmtree(parsing.folder)
        result = command("annotate", "--project", project, "--export", "jsonl")
        assert (result.code, result.out) == (ExitCode.MISSING, "")
        assert f"uses the model {parsing.id}, which is not on this machine" in result.err
        assert "models import" in result.err

    def test_a_registered_name_is_a_model(
        self, command: Command, papers: Path, parsing: KnownModel
    ) -> None:
        """There is no network in it: that it is found and opened is enough."""
        result = command("annotate", papers, "--model", "parsing", "--export", "jsonl")
        assert "no model is called" not in result.err


class TestFiles:
    def test_export_and_import(
        self, command: Command, work: Path, parsing: KnownModel, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(registry, "try_model", lambda folder: None)  # its graphs are no graphs
        result = command("models", "export", "parsing", "m.zip")
        assert result.code == 0 and "sciextract models import m.zip" in result.err
        shutil.rmtree(parsing.folder)
        values = json.loads(command("models", "import", "m.zip", "--json").out)
        assert values["id"] == parsing.id
        assert command("models", "import", "m.zip", "--name", "mine").code == 0
        assert "mine-" in command("models", "list").out

    def test_refusals(self, command: Command, work: Path, parsing: KnownModel) -> None:
        (work / "m.zip").write_text("not a zip")
        expected = {
            ("export", "parsing", "m.rar"): ExitCode.USAGE,
            ("export", "parsing", "m.zip"): ExitCode.FAILED,
            ("export", "nosuch", "n.zip"): ExitCode.MISSING,
            ("import", "m.zip"): ExitCode.FAILED,
            ("import", "absent.zip"): ExitCode.MISSING,
            ("import", str(parsing.folder), "--name", "../x"): ExitCode.USAGE,
        }
        for words, code in expected.items():
            result = command("models", *words)
            assert (result.code, result.out) == (code, ""), words
            assert result.err.startswith("Error: ")


class TestCompare:
    def test_on_gold(
        self, command: Command, work: Path, fake: RuleExtractor, parsing: KnownModel
    ) -> None:
        gold = write_lines(work / "gold.jsonl", GOLD)
        result = command("models", "compare", "sci", "parsing", "--data", gold)
        assert result.code == 0
        assert "B less A" in result.out and "+0.0 to +0.0" in result.out
        assert "too few documents to tell" in result.out
        values = json.loads(
            command("models", "compare", "sci", "parsing", "--data", gold, "--json").out
        )
        assert values["report"]["verdict"] == "too few"
        assert values["report"]["tasks"]["entity"]["probability"] == 0.5

    def test_scores_of_cards_are_not_compared(self, command: Command, parsing: KnownModel) -> None:
        result = command("models", "compare", "sci", "parsing")
        assert result.code == ExitCode.USAGE and "--data" in result.err

    def test_bad_records_are_told(
        self, command: Command, work: Path, fake: RuleExtractor, parsing: KnownModel
    ) -> None:
        gold = write_lines(work / "gold.jsonl", GOLD, "not json")
        result = command("models", "compare", "sci", "parsing", "--data", gold)
        assert result.code == ExitCode.PARTIAL and "Bad record: " in result.err


def test_models_alone_shows_its_commands(command: Command) -> None:
    result = command("models")
    assert result.code == ExitCode.USAGE
    for word in ("list", "show", "use", "rollback", "compare", "export", "import"):
        assert word in result.out + result.err
