"""``sciextract log``, ``undo``, ``redo`` and ``backup``."""

from __future__ import annotations

import json
import time
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from sciextract.errors import ExitCode
from sciextract.store import EntityRef, open_project
from tests.cli.conftest import Command
from tests.cli.projects import documents, everything, read_lines, view


def reject_first(project: Path, author: str = "ann") -> None:
    """A decision: the first entity is wrong."""
    with open_project(project, author) as opened:
        opened.actions.reject(1, EntityRef(opened.document_state(1).entities[0].id))


def test_log(command: Command, project: Path) -> None:
    reject_first(project, "ben")
    lines = command("log").out.splitlines()
    assert [line.split()[3] for line in lines] == ["reject", "import", "schema"]
    assert "person:ben" in lines[0] and "[1 abstract: gold]" in lines[0]
    assert "[2 abstracts: gold, plain]" in lines[1]
    assert len(command("log", "--limit", "1").out.splitlines()) == 1
    [first, *_] = read_lines(command("log", "--json").out)
    assert (first["author"], first["kind"], first["undone"]) == ("person:ben", "reject", False)
    assert first["keys"] == ["gold"] and first["at"].endswith("+00:00")


def test_the_log_names_abstracts_and_shows_local_time(
    command: Command, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reject_first(project)
    monkeypatch.setenv("TZ", "XYZ-5:30")
    time.tzset()
    try:
        line = command("log").out.splitlines()[0]
        at = read_lines(command("log", "--json").out)[0]["at"]
    finally:
        monkeypatch.undo()
        time.tzset()
    assert line.endswith("[1 abstract: gold]")
    shown = datetime.fromisoformat(line.split()[1])
    assert shown.utcoffset() == timedelta(hours=5, minutes=30)
    assert shown == datetime.fromisoformat(at).replace(microsecond=0)


def test_undo_and_redo(command: Command, project: Path) -> None:
    before = view(project)
    reject_first(project)
    after = view(project)
    undone = command("undo")
    assert (undone.code, undone.out) == (ExitCode.DONE, "")
    assert "undone: reject" in undone.err and "in 1 abstract" in undone.err
    assert view(project) == before
    assert "undone reject" in command("log").out
    assert "done again: reject" in command("redo").err
    assert view(project) == after


def test_undo_of_an_import(command: Command, project: Path) -> None:
    summary = json.loads(command("undo", "--json").out)
    assert (summary["kind"], summary["documents"]) == ("import", 2)
    assert documents(project) == []
    assert "0 abstracts" in command("status").out
    assert command("search", "lattice").code == ExitCode.FAILED
    assert json.loads(command("redo", "--json").out)["documents"] == 2
    assert command("search", "lattice").code == ExitCode.DONE


def test_several_steps(command: Command, project: Path) -> None:
    reject_first(project)
    assert command("undo", "--steps", "2").err.count("undone:") == 2
    assert documents(project) == []
    assert command("redo", "--steps", "2").err.count("done again:") == 2
    assert len(documents(project)) == 2


def test_refusals_say_why(command: Command, project: Path) -> None:
    reject_first(project)
    reject_first(project, "ben")
    number = read_lines(command("log", "--json").out)[0]["id"]
    for words, told in [
        (["undo", "--event", "999"], "no action 999"),
        (["undo", "--event", "1"], "event 1 (schema) cannot be undone"),
        (["redo"], "nothing to redo"),
        (["undo", "--author", "carla"], "person:carla has nothing to undo"),
    ]:
        log = command("log").out
        result = command(*words)
        assert (result.code, result.out) == (ExitCode.FAILED, "")
        assert told in result.err, result.err
        assert command("log").out == log
    assert number == read_lines(command("log", "--json").out)[0]["id"]


def test_what_others_built_on_is_refused(command: Command, project: Path) -> None:
    reject_first(project, "ben")
    log = command("log").out
    result = command("undo")  # the import, by ann
    assert result.code == ExitCode.FAILED
    assert "person:ben did 'reject'" in result.err and "sciextract undo --event 3" in result.err
    assert command("log").out == log
    assert command("undo", "--event", "3").code == ExitCode.DONE
    assert command("undo", "--event", "2").code == ExitCode.DONE


def test_undone_once_is_enough(command: Command, project: Path) -> None:
    reject_first(project)
    command("undo")
    again = command("undo", "--event", "3")
    assert (again.code, "undone already" in again.err) == (ExitCode.FAILED, True)


@pytest.mark.parametrize(
    "words", [["--event", "0"], ["--steps", "0"], ["--event", "2", "--steps", "2"]]
)
def test_wrong_use(command: Command, project: Path, words: list[str]) -> None:
    log = command("log").out
    assert command("undo", *words).code == ExitCode.USAGE
    assert command("log").out == log


def test_backup_and_restore(command: Command, project: Path) -> None:
    before = view(project)
    none = command("backup", "--list")
    assert (none.code, none.out, "no backups yet" in none.err) == (ExitCode.DONE, "", True)
    made = json.loads(command("backup", "--json").out)
    assert Path(made["path"]).stat().st_size == made["bytes"]
    reject_first(project)
    restored = command("backup", "--restore", made["path"], "--json")
    assert view(project) == before
    kept = json.loads(restored.out)["kept"]
    assert view(Path(kept)) != before
    assert command("status", "--project", kept).code == ExitCode.DONE


def test_list_of_backups(command: Command, project: Path) -> None:
    for _ in range(3):
        command("backup")
    lines = command("backup", "--list").out.splitlines()
    assert lines == sorted(lines, reverse=True)
    assert all("asked-for" in line for line in lines)
    listed = read_lines(command("backup", "--list", "--json").out)
    assert [set(backup) for backup in listed] == [{"path", "at", "reason", "bytes"}] * 3
    project.unlink()
    assert command("backup", "--list", "--project", "p.sciextract").out.splitlines() == lines


def test_a_lost_project_comes_back(command: Command, project: Path) -> None:
    before = view(project)
    made = json.loads(command("backup", "--json").out)["path"]
    project.unlink()
    result = command("backup", "--project", project, "--restore", made, "--json")
    assert (result.code, json.loads(result.out)["kept"]) == (ExitCode.DONE, None)
    assert view(project) == before


@pytest.mark.parametrize("name", ["nosuch.sciextract", "other.txt"])
def test_only_a_project_is_restored(command: Command, project: Path, name: str) -> None:
    Path("other.txt").write_text("no project at all, but longer than the header of one" * 3)
    before = everything(project.parent)
    result = command("backup", "--restore", name)
    assert result.code == (ExitCode.MISSING if name.startswith("nosuch") else ExitCode.FAILED)
    assert everything(project.parent) == before
