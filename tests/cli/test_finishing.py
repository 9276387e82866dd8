"""``done``, ``reopen`` and the abstracts that were finished before a type came."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sciextract.errors import ExitCode
from sciextract.store import open_project
from sciextract.store.label_changes import add_type
from tests.cli.conftest import Command
from tests.cli.projects import write_lines


@pytest.fixture
def project(command: Command, work: Path) -> Path:
    """Three abstracts, of which one has a mention that nobody has decided."""
    path = work / "nets.sciextract"
    command("init", path, "--author", "ann")
    waiting = {"id": "e", "fragments": [[0, 4]], "label": "Method", "state": "undecided"}
    records = [{"id": f"a{number}", "text": f"Nets parse {number} texts."} for number in range(3)]
    write_lines(
        work / "in.jsonl",
        *records[:2],
        {**records[2], "schema_version": 1, "doc_key": "a2", "entities": [waiting]},
    )
    assert command("import", "in.jsonl").code == ExitCode.DONE
    (work / "keys.txt").write_text("a0\na2\n")
    return path


def finished(path: Path) -> list[int]:
    with open_project(path, read=True) as opened:
        query = "SELECT document_id FROM progress WHERE entities = 'done' ORDER BY 1"
        return [number for (number,) in opened.connection.execute(query)]


def test_abstracts_are_finished_and_opened_again(command: Command, project: Path) -> None:
    assert command("done").code == ExitCode.USAGE
    partly = command("done", "--keys", "keys.txt", "--json")
    assert (partly.code, json.loads(partly.out)["waiting"]) == (ExitCode.PARTIAL, 1)
    assert finished(project) == [1]
    assert command("done", "--keys", "keys.txt", "--undecided", "reject").code == ExitCode.DONE
    assert finished(project) == [1, 3]
    with open_project(project, read=True) as opened:
        progress = opened.document_state(1).progress
    assert progress is not None and progress.relations == "untouched", "nobody ever made one"
    assert command("reopen", "--by", "nobody").code == ExitCode.USAGE
    assert command("reopen", "--since", "2000-01-01").code == ExitCode.DONE
    assert finished(project) == []
    assert command("undo").code == ExitCode.DONE
    assert finished(project) == [1, 3]
    assert "'a9'" in command("done", "--keys", keys("a9")).err


def keys(*names: str) -> Path:
    path = Path("more.txt")
    path.write_text("\n".join(names))
    return path


def test_abstracts_that_lack_a_type_are_listed_and_queued(command: Command, project: Path) -> None:
    command("done", "--keys", keys("a0", "a1"))
    with open_project(project) as opened:
        add_type(opened, "entity", "Corpus")
    told = command("status")
    assert "2 abstracts finished before Corpus came" in told.out
    made = command("queue", "make", "--missing", "Corpus", "--json")
    assert json.loads(made.out) == {"name": "missing Corpus", "missing": "Corpus", "abstracts": 2}
    assert command("done", "--queue", "missing Corpus").code == ExitCode.DONE
    assert "Corpus" not in command("status").out
    assert command("queue", "make", "--missing", "Task").code == ExitCode.FAILED
    assert command("queue", "make", "--missing", "Nothing").code == ExitCode.USAGE


def test_a_queue_of_a_missing_type_finishes_that_type_alone(
    command: Command, project: Path
) -> None:
    command("done", "--keys", "keys.txt", "--undecided", "reject")
    with open_project(project) as opened:
        for label in ("Size", "Shape"):
            add_type(opened, "entity", label)
    command("queue", "make", "--missing", "Size")
    made = command("done", "--queue", "missing Size", "--json")
    assert (made.code, json.loads(made.out)["layers"]) == (ExitCode.DONE, ["Size"])
    assert "Shape" in command("status").out and "Size" not in command("status").out
    assert command("undo").code == ExitCode.DONE
    assert "Size" in command("status").out
