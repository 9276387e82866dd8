"""``sciextract export``."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from sciextract.documents.annotations import Span
from sciextract.errors import ExitCode
from sciextract.formats.registry import get_format, writable
from sciextract.store import EntityRef, open_project
from tests.cli.conftest import Command
from tests.cli.fakes import RuleExtractor
from tests.cli.projects import GOLD, documents, everything, read_lines, view, write_lines
from tests.shared_data import ROOT

STREAMS = [spec.id for spec in writable() if spec.output == "stream"]
# Loading spaCy takes seconds; DocBin has tests of its own.
OTHERS = [spec for spec in writable() if spec.output != "stream" and spec.extra != "spacy"]
KILLED = """
import os, signal, sys
from sciextract.cli.main import main
from sciextract.formats.exchange import JsonlWriter
write = JsonlWriter.write
def write_one(self, document):
    write(self, document)
    os.kill(os.getpid(), signal.SIGKILL)
JsonlWriter.write = write_one
main(sys.argv[1:])
"""


@pytest.mark.parametrize("format_id", STREAMS)
def test_streams_go_to_standard_output(command: Command, project: Path, format_id: str) -> None:
    result = command("export", "--to", format_id, "--all", "--json")
    assert result.code == ExitCode.DONE
    assert "attice" in result.out
    summary = json.loads(result.err.splitlines()[-1])
    assert (summary["documents"], summary["output"]) == (2, None)


@pytest.mark.parametrize("spec", OTHERS, ids=lambda spec: spec.id)
def test_folders_and_binary_files_need_a_place(
    command: Command, project: Path, spec: object
) -> None:
    format_id = getattr(spec, "id", "")
    result = command("export", "--to", format_id)
    assert (result.code, result.out) == (ExitCode.USAGE, "")
    assert "--output" in result.err
    made = command("export", "--to", format_id, "--output", "out", "--all", "--json")
    assert (made.code, json.loads(made.out)["documents"]) == (ExitCode.DONE, 2)
    assert Path("out").is_dir() == (getattr(spec, "output", "") == "folder")


def test_exports_choose_abstracts_and_count_those_that_nobody_has_begun(
    command: Command, project: Path
) -> None:
    with open_project(project, "ben") as opened:
        opened.actions.note(2, "a doubt about proteins")
    Path("keys.txt").write_text("plain\n")
    for choice in (
        ("--author", "ben"),
        ("--keys", "keys.txt"),
        ("--since", "2020-01-01", "--author", "ben"),
    ):
        for format_id in ("jsonl", "doccano"):
            summary = json.loads(
                command("export", "--to", format_id, *choice, "--json").err.splitlines()[-1]
            )
            assert summary["documents"] == 1, choice
    written = json.loads(command("export", "--to", "pubtator", "--json").err.splitlines()[-1])
    assert (written["documents"], written["untouched"]) == (2, 1)
    left = command("export", "--to", "pubtator", "--without-untouched", "--json")
    summary = json.loads(left.err.splitlines()[-1])
    assert (summary["documents"], summary["left_out"]) == (1, {"untouched": 1})
    assert command("export", "--to", "jsonl", "--queue", "none").code == ExitCode.USAGE
    found = command("search", "DOUBT", "prot*", "--in", "notes").out
    assert "plain" in found and "[doubt]" in found


def test_authors_travel_through_jsonl(command: Command, project: Path) -> None:
    with open_project(project, "ann") as opened:
        opened.actions.accept(1, EntityRef(opened.document_state(1).entities[0].id))
    with open_project(project, "ben") as opened:
        opened.actions.add_entity(2, [Span(0, 7)], "Method")
        opened.actions.reject(1, EntityRef(opened.document_state(1).entities[1].id))
    command("export", "--to", "jsonl", "--output", "out.jsonl", "--quiet")
    command("init", "again.sciextract")
    command("import", "out.jsonl", "--project", "again.sciextract", "--author", "cleo")
    for author, keys in (("ann", ["gold"]), ("ben", ["gold", "plain"])):
        for path in (project, "again.sciextract"):
            found = command("export", "--project", path, "--to", "jsonl", "--author", author)
            assert [json.loads(line)["doc_key"] for line in found.out.splitlines()] == keys, path
    for words in (("--author", "cleo"), ("--since", "2100-01-01", "--author", "ben")):
        nothing = command("export", "--project", "again.sciextract", "--to", "jsonl", *words)
        assert nothing.code == ExitCode.USAGE, words


def test_what_is_exported_comes_back(command: Command, project: Path) -> None:
    command("export", "--to", "jsonl", "--output", "out.jsonl", "--quiet")
    command("init", "again.sciextract")
    command("import", "out.jsonl", "--project", "again.sciextract")
    assert view(Path("again.sciextract")) == view(project)
    plain = documents(Path("again.sciextract"))[1].document
    assert (plain.doc_key, plain.fields["year"], plain.fields["title"]) == (
        "plain",
        2020,
        "Kernels",
    )


def test_prodigy_gets_only_answers_that_were_given(command: Command, project: Path) -> None:
    names = {"Taken": "accept", "Wrong": "reject", "Other": "ignore", "Quick": None}
    span = {"start": 0, "end": 5, "label": "Task"}
    tasks = [
        {"text": f"{name} one.", "spans": [span], "answer": answer}
        for name, answer in names.items()
    ]
    command("import", str(write_lines(Path("tasks.jsonl"), *tasks)), "--from", "prodigy")

    def exported() -> list[tuple[str | None, int]]:
        records = read_lines(command("export", "--to", "prodigy").out)
        return [(record.get("answer"), len(record["spans"])) for record in records]

    came = [("accept", 1), (None, 0), ("ignore", 0), (None, 1)]
    assert exported() == [("accept", 3), (None, 0), *came]
    with open_project(project, "ann") as opened:
        opened.actions.mark_done(opened.numbers()[1])
    assert exported() == [("accept", 3), ("accept", 0), *came]


def test_a_format_that_cannot_be_written(command: Command, project: Path) -> None:
    result = command("export", "--to", "bibtex", "--output", "out.bib")
    assert (result.code, "formats to write" in result.err) == (ExitCode.USAGE, True)
    assert not Path("out.bib").exists()


@pytest.mark.parametrize("format_id", ["jsonl", "brat", "parquet"])
def test_nothing_is_overwritten_unasked(command: Command, project: Path, format_id: str) -> None:
    words = ("export", "--to", format_id, "--output", "out", "--all")
    assert command(*words).code == ExitCode.DONE
    command("import", "-", stdin="Another abstract about bees.")
    before = everything(project.parent)
    refused = command(*words)
    assert (refused.code, "--force" in refused.err) == (ExitCode.FAILED, True)
    assert everything(project.parent) == before
    assert json.loads(command(*words, "--force", "--json").out)["documents"] == 3
    assert everything(project.parent) != before
    assert not [file for file in project.parent.iterdir() if file.name.startswith(".")]


def test_force_replaces_whatever_is_there(command: Command, project: Path) -> None:
    Path("out").write_text("a file", "utf-8")
    assert command("export", "--to", "brat", "--output", "out", "--force").code == ExitCode.DONE
    assert Path("out/gold.ann").is_file()
    assert command("export", "--to", "jsonl", "--output", "out", "--force").code == ExitCode.DONE
    assert Path("out").is_file()


def test_force_removes_nothing_that_no_command_wrote(command: Command, project: Path) -> None:
    release = "export --licence CC0-1.0 --all --project p.sciextract --release"
    for words in (
        "annotate --output in.jsonl", "graph build in.jsonl --graph f.graph", f"{release} released", "init other.sciextract",
    ):  # fmt: skip
        assert command(*words.split()).code == ExitCode.DONE, words
    for folder in ("released/.git", "mine", "texts"):
        Path(folder).mkdir()
        Path(folder, "notes.txt").write_text("a year of work", "utf-8")
    shutil.copy("other.sciextract", "texts")
    before = everything(project.parent)
    for words in (
        "export --to brat --project p.sciextract --output", "export --to jsonl --project p.sciextract --output", release,
        "convert in.jsonl --to xmi --output", "annotate in.jsonl --to brat --output", "annotate in.jsonl --to jsonl --output",
        "graph export --to neo4j-csv --graph f.graph --output", "graph survey kernels --graph f.graph --output",
        "schema new --entity A",
    ):  # fmt: skip
        for place in ("released", "mine", "texts", "other.sciextract"):
            result = command(*words.split(), place, "--force")
            assert place in result.err and result.code != ExitCode.DONE, (words, place, result)
    assert everything(project.parent) == before


@pytest.mark.parametrize("format_id", ["jsonl", "brat"])
@pytest.mark.parametrize(
    "place", [".", "..", "p.sciextract", "../work", "p.sciextract-backups", "/dev/null", "no/out"]
)
def test_force_spares_the_project_and_what_is_no_file(
    command: Command, project: Path, format_id: str, place: str
) -> None:
    command("backup")
    before = everything(project.parent)
    result = command("export", "--to", format_id, "--output", place, "--force")
    assert (result.code, result.out) == (ExitCode.FAILED, "")
    assert "unexpectedly" not in result.err
    assert everything(project.parent) == before


@pytest.mark.parametrize("output", [None, "-", "out"])
def test_strict_leaves_nothing(command: Command, project: Path, output: str | None) -> None:
    words = ["export", "--to", "conll", "--strict", "--all", "--json"]
    result = command(*words, *([] if output is None else ["--output", output]))
    assert result.code == ExitCode.FAILED
    told = result.err.splitlines()[-1] if output in (None, "-") else result.out
    assert result.out == ("" if output in (None, "-") else told)
    summary = json.loads(told)
    assert (summary["documents"], summary["strict"]) == (0, True)
    keys = "document key and exact text"
    assert summary["losses"] == {"relation": 1, "cluster": 1, keys: 2}
    assert list(everything(project.parent)) == ["p.sciextract"]


def test_strict_keeps_the_old_output(command: Command, project: Path) -> None:
    Path("out").write_text("mine", "utf-8")
    result = command("export", "--to", "conll", "--strict", "--output", "out", "--force")
    assert result.code == ExitCode.FAILED
    assert "nothing written" in result.err and "relation: 1" in result.err
    assert Path("out").read_text("utf-8") == "mine"


def test_strict_without_losses(command: Command, project: Path) -> None:
    result = command("export", "--to", "scierc", "--strict", "--all")
    assert (result.code, len(read_lines(result.out))) == (ExitCode.DONE, 2)
    assert read_lines(result.out)[0] == GOLD


def test_strict_refuses_to_lose_what_was_only_kept(command: Command, project: Path) -> None:
    more = GOLD | {
        "doc_key": "more",
        "sentences": [["Lattices", *GOLD["sentences"][0][1:]], GOLD["sentences"][1]],
    }
    write_lines(Path("more.jsonl"), more | {"events": [[[[2, "Help"], [0, "Agent"]]], []]})
    command("import", "more.jsonl")
    result = command("export", "--to", "scierc", "--strict")
    assert (result.code, result.out) == (ExitCode.FAILED, "")
    assert "scierc cannot hold field 'events': 1" in result.err
    kept = command("export", "--to", "jsonl", "--strict")
    assert (kept.code, "events" in read_lines(kept.out)[2]) == (ExitCode.DONE, True)


TRAINING = [spec.id for spec in writable() if spec.training and spec.extra != "spacy"]


@pytest.mark.parametrize("format_id", TRAINING)
def test_training_formats_hold_finished_abstracts(
    command: Command, project: Path, format_id: str
) -> None:
    words = ("export", "--to", format_id, "--output", "out", "--force")
    told = command(*words)
    assert "1 abstract to out" in told.err + told.out
    assert "left out: 1 unfinished abstract (--all writes them)" in told.err + told.out
    assert json.loads(command(*words, "--all", "--json").out)["documents"] == 2
    assert json.loads(command(*words, "--undecided", "--json").out)["documents"] == 2


def test_without_a_finished_abstract_no_training_file_is_written(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    command("init", "new.sciextract")
    command("import", "-", "--project", "new.sciextract", stdin="An abstract about bees.")
    words = ("export", "--to", "scierc", "--output", "out", "--project", "new.sciextract")
    result = command(*words)
    assert (result.code, Path("out").exists()) == (ExitCode.USAGE, False)
    assert "none of the 1 abstracts is finished" in result.err and "--all" in result.err
    assert command(*words, "--all").code == ExitCode.DONE


def test_losses_are_told(command: Command, project: Path) -> None:
    result = command("export", "--to", "conll")
    assert result.code == ExitCode.DONE
    assert "conll cannot hold relation: 1; conll cannot hold cluster: 1" in result.err
    assert command("export", "--to", "conll", "--quiet").err == ""


@pytest.mark.usefixtures("fake")
def test_undecided_items_only_when_asked_for(command: Command, project: Path) -> None:
    command("annotate")
    without = read_lines(command("export", "--to", "jsonl").out)[1]
    beside = read_lines(command("export", "--to", "jsonl", "--undecided").out)[1]
    assert without["entities"] == []
    assert {entity["state"] for entity in beside["entities"]} == {"undecided"}
    left_out = json.loads(command("export", "--to", "jsonl", "--json").err.splitlines()[-1])
    assert left_out["undecided"] > 0
    assert "undecided items (--undecided includes them)" in command("export", "--to", "jsonl").err


def test_one_source(command: Command, project: Path, fake: RuleExtractor) -> None:
    command("annotate")
    mine = read_lines(command("export", "--to", "jsonl", "--source", "import:papers").out)
    theirs = read_lines(command("export", "--to", "jsonl", "--source", "model:fake").out)
    assert [len(record["entities"]) for record in mine] == [3, 0]
    assert [len(record["entities"]) for record in theirs] == [3, 3]
    unknown = command("export", "--to", "jsonl", "--source", "nosuch", "--output", "out")
    assert (unknown.code, unknown.out) == (ExitCode.USAGE, "")
    assert "import:papers.jsonl, model:fake@" in unknown.err
    assert not Path("out").exists()


def test_a_source_must_be_meant(command: Command, project: Path) -> None:
    command("import", write_lines(Path("paper2.jsonl"), {**GOLD, "ner": [[[0, 0, "Task"]], []]}))
    several = command("export", "--to", "jsonl", "--source", "import:paper")
    assert several.code == ExitCode.USAGE
    assert "several sources begin with" in several.err


def test_a_killed_export_leaves_the_old_file(project: Path) -> None:
    old = Path("out")
    old.write_text("what was there", "utf-8")
    words = ["export", "--to", "jsonl", "--output", "out", "--force"]
    done = subprocess.run(
        [sys.executable, "-c", KILLED, *words], env={"PYTHONPATH": str(ROOT)}, check=False
    )
    assert done.returncode == -signal.SIGKILL
    assert old.read_text("utf-8") == "what was there"


def test_an_export_that_fails_leaves_the_old_folder(
    command: Command, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    command("export", "--to", "brat", "--output", "out")
    before = everything(project.parent)

    def fail(*_: object) -> None:
        raise KeyboardInterrupt

    for format_id in ("jsonl", "brat"):
        monkeypatch.setattr(get_format(format_id, "write").load_writer(), "write", fail)
    for format_id in ("jsonl", "brat"):
        result = command("export", "--to", format_id, "--output", "out", "--force")
        assert result.code == ExitCode.INTERRUPTED
    assert everything(project.parent) == before


@pytest.mark.usefixtures("fake")
def test_annotate_spares_its_inputs_too(command: Command, work: Path) -> None:
    Path("in").mkdir()
    Path("in/a.txt").write_text("An abstract.", "utf-8")
    for place in ("in", "."):
        result = command("annotate", "in", "--export", "brat", "--output", place, "--force")
        assert (result.code, "cannot be replaced" in result.err) == (ExitCode.FAILED, True)
    assert list(everything(work)) == ["in/a.txt"]


def test_predictions_go_beside_the_current_view(command: Command, work: Path) -> None:
    command("init", "p.sciextract")
    beside = GOLD | {"predicted_ner": [[[2, 2, "Task"]], []]}
    write_lines(work / "beside.jsonl", beside)
    write_lines(work / "other.jsonl", {"doc_key": "other", "text": "Nobody predicts this."})
    command("import", "beside.jsonl", "other.jsonl")
    command("import", "beside.jsonl", "--fields", "predicted")
    words = ("export", "--to", "scierc", "--predicted")
    done = command(*words, "--source", "import:beside.jsonl#predicted")
    line = json.loads(done.out)
    assert (line["ner"], line["clusters"]) == (GOLD["ner"], GOLD["clusters"])
    assert (line["predicted_ner"], line["predicted_clusters"]) == (beside["predicted_ner"], [])
    assert "left out, no model has predicted them: 1" in done.err
    assert "left out, no model has predicted them: 2" in command(*words).err
    assert command("export", "--to", "jsonl", "--predicted").code == ExitCode.USAGE
