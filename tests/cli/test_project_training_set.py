"""``sciextract export --with-base``: the user's gold plus what the project corrected."""

from __future__ import annotations

import hashlib
import json
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from sciextract.documents.annotations import Layer
from sciextract.errors import ExitCode
from sciextract.snapshot.documents import Split, split_of
from sciextract.store import EntityRef, open_project
from tests.cli.conftest import Command
from tests.cli.projects import GOLD, everything, read_lines, write_lines


def of_split(split: Split, key: str) -> dict[str, Any]:
    """A gold abstract whose text belongs to a split."""
    for index in count():
        sentences = [[f"Kernel{index}", "ranking", "helps", key, "."]]
        text = " ".join(sentences[0])
        if split_of(hashlib.sha256(text.encode()).hexdigest()) is split:
            break
    return {
        "doc_key": key,
        "sentences": sentences,
        "ner": [[[0, 1, "Method"], [3, 3, "Task"]]],
        "relations": [[[0, 1, 3, 3, "USED-FOR"]]],
        "clusters": [],
    }


TRAIN, GATE, BASE = of_split(Split.TRAIN, "t"), of_split(Split.GATE, "g"), of_split(Split.GATE, "b")


@pytest.fixture
def filled(command: Command, work: Path) -> Path:
    """A project with a done abstract of train, one of the gate, and one that is not done."""
    command("init", "p.sciextract")
    write_lines(work / "mine.jsonl", TRAIN, GATE, GOLD | {"doc_key": "open"})
    command("import", "mine.jsonl")
    with open_project(work / "p.sciextract", "ann") as project:
        for number in (1, 2):
            project.actions.mark_done(number, tuple(Layer))
    write_lines(work / "base.jsonl", BASE | {"dataset": "kernels"}, TRAIN)
    return work / "p.sciextract"


def export(command: Command, *words: object) -> tuple[int, dict[str, Any], list[dict[str, Any]]]:
    """Exit code, summary and lines of an export with a base."""
    result = command(
        *("export", "--to", "scierc", "--with-base", "base.jsonl", "--json"),
        *("--output", "out.jsonl", *words),
    )
    lines = read_lines(Path("out.jsonl").read_text("utf-8")) if Path("out.jsonl").exists() else []
    return result.code, json.loads(result.out) if result.out else {}, lines


def test_both_go_in_once(command: Command, filled: Path) -> None:
    code, summary, lines = export(command)
    assert (code, [line["doc_key"] for line in lines]) == (ExitCode.DONE, ["t", "b"])
    assert lines[1] == BASE | {"dataset": "kernels"}
    assert (summary["documents"], summary["from_base"]) == (2, 1)
    left_out = summary["left_out"]
    assert left_out.pop("the project has decisions on the text") == 1
    assert left_out.pop("held out for the gate") == 1
    assert sum(left_out.values()) == 1


def test_only_what_is_right_goes_in(command: Command, filled: Path) -> None:
    with open_project(filled, "ann") as project:
        task = project.document_state(1).entities[1]
        project.actions.reject(1, EntityRef(task.id))
    _, _, (mine, _) = export(command)
    assert (mine["ner"], mine["relations"]) == ([[[0, 1, "Method"]]], [[]])


def test_an_incomplete_layer_is_a_loss(command: Command, filled: Path) -> None:
    with open_project(filled, "ann") as project:
        project.undo()
        project.undo()
        project.actions.mark_done(1, (Layer.ENTITIES,))
    code, summary, _ = export(command)
    assert code == ExitCode.DONE
    assert summary["losses"]["relations that are not complete in an abstract"] == 1
    code, summary, lines = export(command, "--strict", "--force")
    assert (code, summary["documents"]) == (ExitCode.FAILED, 0)
    assert len(lines) == 2  # what was there before


def test_words_on_the_screen(command: Command, filled: Path) -> None:
    words = ("export", "--to", "scierc", "--with-base", "base.jsonl")
    result = command(*words)
    assert (result.code, len(read_lines(result.out))) == (ExitCode.DONE, 2)
    assert "1 of them from the base" in result.err
    assert "left out, held out for the gate: 1" in result.err


def test_bad_records_of_the_base(command: Command, filled: Path) -> None:
    write_lines(Path("base.jsonl"), BASE, "{broken")
    code, summary, lines = export(command)
    assert (code, summary["bad"], len(lines)) == (ExitCode.PARTIAL, 1, 2)


def test_labels_that_the_schema_lacks(command: Command, filled: Path) -> None:
    write_lines(Path("base.jsonl"), BASE | {"ner": [[[0, 0, "Gene"]]], "relations": [[]]})
    before = everything(filled.parent)
    result = command("export", "--to", "scierc", "--with-base", "base.jsonl")
    assert (result.code, result.out) == (ExitCode.FAILED, "")
    assert "'Gene' (1)" in result.err
    assert "--add-labels" in result.err
    assert everything(filled.parent) == before


@pytest.mark.parametrize("words", [["--undecided"], ["--source", "import:mine.jsonl"]])
def test_a_training_set_has_no_undecided_items(
    command: Command, filled: Path, words: list[str]
) -> None:
    code, _, lines = export(command, *words)
    assert (code, lines) == (ExitCode.USAGE, [])


def test_the_base_is_never_replaced(command: Command, filled: Path) -> None:
    words = ("export", "--to", "scierc", "--with-base", "base.jsonl", "--force")
    before = everything(filled.parent)
    assert command(*words, "--output", "base.jsonl").code == ExitCode.FAILED
    assert everything(filled.parent) == before


@pytest.mark.parametrize("base", ["missing.json", "p.sciextract", "-"])
def test_a_base_that_cannot_be_used(command: Command, filled: Path, base: str) -> None:
    result = command("export", "--to", "scierc", "--with-base", base)
    assert result.code in (ExitCode.USAGE, ExitCode.MISSING)
    assert "unexpectedly" not in result.err
    assert command("search", "Kernel*").code == ExitCode.DONE  # the project's locks hold
