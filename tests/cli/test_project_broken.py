"""Every command on a project that is missing, foreign, newer, cut off or damaged: its own words and exit code."""

from __future__ import annotations

import shutil
import sqlite3
from pathlib import Path

import pytest

from sciextract.errors import ExitCode
from sciextract.store.sqlite import VERSION
from tests.cli.conftest import Command
from tests.cli.projects import everything, write_lines

pytestmark = pytest.mark.usefixtures("fake")
#: BAD is the broken project, GOOD a sound one.
COMMANDS = [
    *("import more.jsonl --project BAD", "export --to jsonl --project BAD"),
    *("export --to brat --output out --project BAD", "annotate --project BAD"),
    *("annotate more.jsonl --project BAD", "status --project BAD", "search lattice --project BAD"),
    *("log --project BAD", "undo --project BAD", "redo --project BAD", "backup --project BAD"),
    *("stats --project BAD", "merge GOOD --project BAD", "merge BAD --project GOOD"),
    *("agree BAD GOOD", "agree GOOD BAD", "adjudicate --project BAD"),
    "adjudicate --take mine --project BAD",
]
NEW = f"bad.sciextract was made by a newer sciextract: it has project version {VERSION + 1}"
KINDS = {
    "missing": (ExitCode.MISSING, "bad.sciextract: there is no such project", "sciextract init"),
    "folder": (ExitCode.FAILED, "bad.sciextract is a folder, not a project file", ""),
    "text": (ExitCode.FAILED, "bad.sciextract is not an SQLite file", ""),
    **dict.fromkeys(
        ("empty", "foreign"),
        (ExitCode.FAILED, "bad.sciextract is not a project", "sciextract init"),
    ),
    "newer": (ExitCode.FAILED, NEW, "pip install --upgrade sciextract"),
    "cut": (ExitCode.FAILED, "bad.sciextract is damaged: ", "sciextract doctor"),
    "damaged": (ExitCode.FAILED, "bad.sciextract is damaged: ", "sciextract doctor"),
}


def spoil(path: Path, kind: str) -> None:
    """Make a project file unusable."""
    content = path.read_bytes()
    path.unlink()
    match kind:
        case "folder":
            path.mkdir()
        case "text" | "empty":
            path.write_text("We rank proteins with kernels. " * 9 * (kind == "text"), "utf-8")
        case "foreign":
            with sqlite3.connect(path) as connection:
                connection.execute("CREATE TABLE other (x)")
        case "newer":
            path.write_bytes(content)
            with sqlite3.connect(path) as connection:
                connection.execute(f"PRAGMA user_version = {VERSION + 1}")
        case "cut":
            path.write_bytes(content[: len(content) // 2])
        case "damaged":
            path.write_bytes(content[:4096] + b"\xa5" * (len(content) - 4096))


# Every command with every kind in the full tier; the fast one takes each command once, and each kind some times.
PAIRS = [
    pytest.param(kind, words, marks=() if column == row % len(KINDS) else pytest.mark.full)
    for row, words in enumerate(COMMANDS)
    for column, kind in enumerate(KINDS)
]


@pytest.mark.parametrize(("kind", "words"), PAIRS)
def test_a_broken_project(
    command: Command, project: Path, work: Path, kind: str, words: str
) -> None:
    bad = Path(shutil.copy(project, work / "bad.sciextract"))
    write_lines(work / "more.jsonl", {"id": "m", "text": "More."})
    spoil(bad, kind)
    good, before = project.read_bytes(), everything(work)
    names = {"BAD": "bad.sciextract", "GOOD": "p.sciextract"}
    result = command(*(names.get(word, word) for word in words.split()))
    code, told, hint = KINDS[kind]
    assert (result.code, result.out) == (code, "")
    assert f"Error: {told}" in result.err and hint in result.err
    left = everything(work)
    assert left.keys() == before.keys()
    assert left["p.sciextract"] == good or words.startswith("merge BAD")


@pytest.mark.parametrize("kind", ["text", "foreign", "newer", "cut", "damaged"])
def test_a_broken_project_is_not_touched(
    command: Command, project: Path, work: Path, kind: str
) -> None:
    spoil(project, kind)
    before = everything(work)
    for words in ("status", "log", "undo", "backup", "import - ", "init p.sciextract"):
        assert command(*words.split(), stdin="An abstract.").code == ExitCode.FAILED
    assert everything(work) == before


def test_backups_of_a_broken_project_are_listed(command: Command, project: Path) -> None:
    command("backup")
    spoil(project, "damaged")
    listed = command("backup", "--list")
    assert (listed.code, len(listed.out.splitlines())) == (ExitCode.DONE, 1)
    place = listed.out.split()[-1]
    assert command("backup", "--restore", place).code == ExitCode.DONE
    assert "2 abstracts" in command("status").out


@pytest.mark.parametrize("kind", ["missing", "text", "foreign", "newer"])
def test_listing_backups_of_something_else(command: Command, project: Path, kind: str) -> None:
    spoil(project, kind)
    result = command("backup", "--list", "--project", "p.sciextract")
    assert (result.code, result.out) == (KINDS[kind][0], "")


#: Values that no sciextract writes, by table and column.
WRONG = {
    "label_schema.body": "{}",
    "event.params": "-1",
    "change.body": b"\xff\xfe",
    "document.doc_key": b"\xff\xfe",
    "record.fields": "2-x;3",
    "annotation_set.body": b"\x00",
    "entity.state": "xyz",
    "entity.source_id": 99,
    "relation.alternatives": "[1]",
    "summary.undecided": 99,
}


@pytest.mark.parametrize(
    "place",
    [
        pytest.param(place, marks=pytest.mark.full if number % 4 else ())
        for number, place in enumerate(WRONG)
    ],
)
def test_a_wrong_value_is_found_and_nothing_ends_unexpectedly(
    command: Command, project: Path, work: Path, made: Path, place: str
) -> None:
    Path(shutil.copy(made, work / "good.sciextract"))
    table, column = place.split(".")
    with sqlite3.connect(project) as connection:
        # Bytes on a disk are not held against the rules of a table.
        connection.execute("PRAGMA ignore_check_constraints = ON")
        connection.execute(f"UPDATE {table} SET {column} = ?", (WRONG[place],))
    assert command("doctor", "--project", "p.sciextract").code == ExitCode.FAILED
    told = []
    for words in (
        "status",
        "stats",
        "log",
        "export --to jsonl",
        "undo",
        "merge good.sciextract",
    ):
        result = command(*words.split(), "--project", "p.sciextract")
        assert "unexpectedly" not in result.err
        told.append("p.sciextract is damaged: " in result.err)
    assert any(told) or table in {"summary", "entity", "annotation_set"}


FOREIGN = {
    "trigger t is not part": (
        "CREATE TRIGGER t BEFORE INSERT ON entity BEGIN SELECT RAISE(ABORT, 'no'); END"
    ),
    "index i is not part": "CREATE UNIQUE INDEX i ON entity(label)",
    "summary": """ALTER TABLE summary RENAME TO hidden;
        CREATE VIEW summary AS WITH RECURSIVE n(document_id) AS
        (SELECT 1 UNION ALL SELECT document_id FROM n) SELECT document_id FROM n""",
}


@pytest.mark.parametrize("told", FOREIGN)
def test_what_others_put_upon_the_tables_is_refused(
    command: Command, project: Path, told: str
) -> None:
    with sqlite3.connect(project) as connection:
        connection.executescript(FOREIGN[told])
    for name in ("status", "import more.jsonl"):
        result = command(*name.split())
        assert "is damaged: the " in result.err and told in result.err
    found = command("doctor")
    assert (found.code, told in found.out) == (ExitCode.FAILED, True)


def test_tables_of_others_beside_the_own_ones_are_left_alone(
    command: Command, project: Path
) -> None:
    with sqlite3.connect(project) as connection:
        connection.executescript("CREATE TABLE mine (x); CREATE VIEW v AS SELECT * FROM decision")
    assert command("status").code == ExitCode.DONE
    assert command("doctor").code == ExitCode.DONE
