"""``sciextract annotate`` on a project."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from sciextract.documents.annotations import State
from sciextract.documents.document import ModelId
from sciextract.errors import ExitCode
from sciextract.store import EntityRef, open_project
from tests.cli.conftest import Command
from tests.cli.fakes import MODEL, RuleExtractor
from tests.cli.projects import PLAIN, documents, everything, read_lines, write_lines
from tests.shared_data import ROOT

pytestmark = pytest.mark.usefixtures("fake")
UNDECIDED = frozenset({State.UNDECIDED})


def run(command: Command, *words: object, stdin: str = "") -> dict[str, Any]:
    """The summary of a run that ends well."""
    result = command("annotate", *words, "--json", stdin=stdin)
    assert result.code == ExitCode.DONE, result.err
    summary: dict[str, Any] = json.loads((result.out + result.err).splitlines()[-1])
    return summary


def states(project: Path, number: int = 2) -> dict[str, str]:
    """The text and the state of a document's entities."""
    with open_project(project, read=True) as opened:
        draft = opened.document_state(number)
        return {entity.surface(draft.text): str(entity.state) for entity in draft.entities}


def test_only_what_needs_it_is_predicted(command: Command, project: Path) -> None:
    with open_project(project, "ann") as opened:
        opened.actions.mark_done(1)
    first = run(command)["predicted"]
    assert (first["documents"], first["skipped"], first["model"]) == (1, 1, "fake@ffffffff")
    again = run(command)["predicted"]
    assert (again["documents"], again["skipped"]) == (0, 2)
    assert command("log").out.count("predict") == 1


def test_new_abstracts_are_predicted_next_time(command: Command, project: Path) -> None:
    run(command)
    command("import", "-", stdin="Another abstract.")
    assert run(command)["predicted"]["documents"] == 1


def test_a_run_that_was_undone_is_predicted_again(command: Command, project: Path) -> None:
    run(command)
    command("undo")
    assert documents(project, UNDECIDED)[1].annotations.entities == ()
    assert run(command)["predicted"]["documents"] == 2
    assert len(documents(project, UNDECIDED)[1].annotations.entities) == 3


def test_what_was_predicted_with_other_settings_is_predicted_again(
    command: Command, project: Path, fake: RuleExtractor
) -> None:
    other = "--threshold", "entity=0.6,relation=0.4"
    assert [
        run(command, *words)["predicted"]["documents"] for words in ((), other, other, (), ())
    ] == [2, 2, 0, 2, 0]
    fake.model = ModelId("newer", "e" * 64)
    assert run(command)["predicted"]["documents"] == 2
    fake.model = MODEL
    assert run(command)["predicted"]["documents"] == 2, "what is shown is of the newer model"


def test_what_was_decided_stays(command: Command, project: Path, fake: RuleExtractor) -> None:
    run(command)
    with open_project(project, "ann") as opened:
        kernels, proteins, _ = opened.document_state(2).entities
        opened.actions.accept(2, EntityRef(kernels.id))
        opened.actions.reject(2, EntityRef(proteins.id))
    fake.model = ModelId("newer", "e" * 64)
    newer = run(command)
    assert newer["predicted"]["documents"] == 2
    assert states(project) == {
        "Kernels": "accepted",
        "proteins": "rejected",
        "kernels": "undecided",
    }
    with open_project(project, read=True) as opened:
        sources = {
            entity.state: opened.sources[entity.source_id]
            for entity in opened.document_state(2).entities
        }
    assert sources[State.ACCEPTED].startswith("model:fake@")
    assert sources[State.UNDECIDED].startswith("model:newer@")
    assert command("status").out.count("source: model:") == 2


def test_imported_items_stay(command: Command, project: Path) -> None:
    before = [document.annotations for document in documents(project)]
    run(command)
    assert [document.annotations for document in documents(project)] == before


def test_candidates_are_always_asked_for(
    command: Command, project: Path, fake: RuleExtractor
) -> None:
    run(command, "--threshold", "entity=0.6")
    assert fake.candidates
    assert fake.thresholds == {"entity": 0.6}


def test_data_and_summary_keep_apart(command: Command, project: Path) -> None:
    result = command("annotate", "--export", "jsonl", "--json")
    records = read_lines(result.out)
    assert [record["doc_key"] for record in records] == ["gold", "plain"]
    assert {entity["state"] for entity in records[1]["entities"]} == {"undecided"}
    [told] = result.err.splitlines()
    assert json.loads(told)["exported"]["documents"] == 2
    words = command("annotate", "--export", "jsonl").err
    assert (
        "0 abstracts predicted by fake@ffffffff, 2 did not need it; 2 abstracts exported" in words
    )


def test_output_means_jsonl(command: Command, project: Path) -> None:
    summary = run(command, "--output", "out.jsonl")
    assert summary["exported"]["format"] == "jsonl"
    assert len(read_lines(Path("out.jsonl").read_text("utf-8"))) == 2
    assert command("annotate", "--output", "out.jsonl").code == ExitCode.FAILED
    assert command("annotate", "--output", "out.jsonl", "--force").code == ExitCode.DONE


def test_a_folder_format(command: Command, project: Path) -> None:
    run(command, "--export", "brat", "--output", "corpus")
    assert "T1\tMethod" in Path("corpus/plain.ann").read_text("utf-8")


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["--export", "nosuch"], ExitCode.USAGE),
        (["--export", "brat"], ExitCode.USAGE),
        (["--output", "taken"], ExitCode.FAILED),
        (["--output", "."], ExitCode.FAILED),
        (["more.jsonl", "--project", "p.sciextract", "--output", "no/out"], ExitCode.FAILED),
        (["in", "--project", "p.sciextract", "--output", "in", "--force"], ExitCode.FAILED),
    ],
)
def test_what_cannot_be_exported_is_refused_first(
    command: Command, project: Path, fake: RuleExtractor, words: list[str], code: ExitCode
) -> None:
    Path("taken").write_text("mine", "utf-8")
    Path("in").mkdir()
    Path("in/a.txt").write_text("An abstract.", "utf-8")
    write_lines(Path("more.jsonl"), {"id": "m", "text": "More."})
    log = command("log").out
    assert command("annotate", *words).code == code
    assert fake.loaded == {}
    assert command("log").out == log
    assert Path("in/a.txt").exists()


def test_input_and_project_imports_first(command: Command, project: Path, work: Path) -> None:
    more = write_lines(work / "more.jsonl", {"id": "m", "text": "Another lattice."}, PLAIN)
    summary = run(command, more, "--project", project)
    assert (summary["imported"]["documents"], summary["imported"]["known"]) == (1, 1)
    assert summary["predicted"]["documents"] == 3
    assert summary["exported"] is None
    words = command("annotate", more, "--project", project).err
    assert words.startswith("0 new abstracts; 0 abstracts predicted")
    assert "next: sciextract export" in words


def test_a_pipe_can_be_imported(command: Command, project: Path) -> None:
    summary = run(command, "-", "--project", project, stdin="From a pipe.")
    assert summary["imported"]["documents"] == 1


def test_bad_records_are_told(command: Command, project: Path, work: Path) -> None:
    mixed = write_lines(work / "mixed.jsonl", {"id": "m", "text": "More."}, "{broken")
    result = command("annotate", mixed, "--project", project)
    assert result.code == ExitCode.PARTIAL
    assert "mixed.jsonl:2" in result.err and "1 bad record left out" in result.err


def test_input_without_project_leaves_it_alone(
    command: Command, project: Path, work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SCIEXTRACT_PROJECT", str(project))
    before = everything(work)
    papers = write_lines(work.parent / "papers.jsonl", PLAIN)
    result = command("annotate", papers, "--export", "jsonl")
    assert [record["doc_key"] for record in read_lines(result.out)] == ["plain"]
    assert everything(work) == before


def test_a_pipe_with_text_leaves_it_alone(command: Command, project: Path, work: Path) -> None:
    before = everything(work)
    result = command("annotate", "--export", "jsonl", stdin="From a pipe.")
    assert [record["text"] for record in read_lines(result.out)] == ["From a pipe."]
    assert everything(work) == before
    shutil.copy(project, work / "q.sciextract")
    assert command("annotate", "--export", "jsonl", stdin="From a pipe.").code == ExitCode.DONE


def test_an_empty_pipe_means_the_project(command: Command, project: Path) -> None:
    assert len(read_lines(command("annotate", "--export", "jsonl", stdin="").out)) == 2


def test_no_input_at_all_means_the_project(project: Path, work: Path) -> None:
    words = [sys.executable, "-m", "tests.cli.fake_main", "annotate", "--export", "jsonl"]
    done = subprocess.run(
        words,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        check=True,
    )
    assert [record["doc_key"] for record in read_lines(done.stdout)] == ["gold", "plain"]


def test_several_projects_are_listed(command: Command, project: Path, work: Path) -> None:
    shutil.copy(project, work / "q.sciextract")
    result = command("annotate")
    assert result.code == ExitCode.USAGE
    assert "p.sciextract, q.sciextract" in result.err and "--project" in result.err
    assert command("annotate", "--project", "q.sciextract").code == ExitCode.DONE


def test_the_variable_names_a_project(
    command: Command, project: Path, work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = Path(shutil.copy(project, work / "q.sciextract"))
    monkeypatch.setenv("SCIEXTRACT_PROJECT", str(other))
    assert run(command)["project"] == str(other)
    assert run(command, "--project", project)["project"] == str(project)


@pytest.mark.parametrize("words", [["status"], ["annotate", "--export", "jsonl"], ["backup"]])
def test_a_variable_that_names_nothing(
    command: Command, project: Path, work: Path, words: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SCIEXTRACT_PROJECT", "old.sciextract")
    result = command(*words, stdin="")
    assert result.code == ExitCode.DONE
    assert "SCIEXTRACT_PROJECT names old.sciextract" in result.err
    assert "using p.sciextract" in result.err
    shutil.copy(project, work / "q.sciextract")
    result = command(*words, stdin="")
    assert result.code == ExitCode.MISSING
    assert "SCIEXTRACT_PROJECT names old.sciextract" in result.err
    assert "unset SCIEXTRACT_PROJECT" in result.err and "init" not in result.err


def test_a_lost_project_is_restored_to_its_own_place(
    command: Command, project: Path, work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SCIEXTRACT_PROJECT", "lost.sciextract")
    saved = Path(shutil.copy(project, work.parent / "saved.sciextract"))
    before = project.read_bytes()
    assert command("backup", "--restore", saved).code == ExitCode.DONE
    assert (work / "lost.sciextract").exists() and project.read_bytes() == before


def test_a_project_as_input_names_the_option(command: Command, project: Path) -> None:
    result = command("annotate", project.name)
    assert result.code == ExitCode.USAGE
    assert "sciextract annotate --project p.sciextract" in result.err


def test_no_project_anywhere(command: Command, work: Path) -> None:
    assert command("annotate", "--export", "jsonl").code == ExitCode.FAILED
    assert command("annotate", "--project", "nosuch.sciextract").code == ExitCode.MISSING
    assert command("status").code == ExitCode.MISSING
    assert list(work.iterdir()) == []


@pytest.mark.parametrize(
    "words", [["--resume"], ["--candidates"], ["--schema", "scierc"], ["--sample"]]
)
def test_options_that_are_not_for_projects(
    command: Command, project: Path, words: list[str]
) -> None:
    result = command("annotate", "--project", project, *words)
    assert result.code == ExitCode.USAGE
    assert f"{words[0]} is not for projects" in result.err


def test_a_model_with_other_labels(command: Command, work: Path) -> None:
    command("init", "g.sciextract", "--schema", "genia")
    command("import", "-", stdin="An abstract.")
    result = command("annotate")
    assert result.code == ExitCode.FAILED
    assert "Task" in result.err and "'genia'" in result.err


def test_given_entities_are_not_for_projects(command: Command, tmp_path: Path) -> None:
    project = tmp_path / "p.sciextract"
    assert command("init", project).code == ExitCode.DONE
    outcome = command("annotate", "--project", project, "--given-entities")
    assert outcome.code == ExitCode.USAGE and "--given-entities is not for projects" in outcome.err
