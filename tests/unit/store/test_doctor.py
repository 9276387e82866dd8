"""The doctor: what it finds, and what it mends."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from sciextract.errors import NotAProjectError, ProjectDamagedError, ProjectMissingError
from sciextract.store import open_project
from sciextract.store.maintenance.backup import folder_of
from sciextract.store.maintenance.checks import Severity
from sciextract.store.maintenance.doctor import examine, repair
from sciextract.store.statistics import stats_of
from tests.unit.store.patients import DOCUMENTS, ITEMS, change, like, patient, wrong
from tests.unit.store.projects import all_state, cluster, guess, place, put


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A closed project of 21 abstracts."""
    return patient(tmp_path)


def test_sound_project(path: Path) -> None:
    before = path.read_bytes()
    seen: list[tuple[int, int]] = []
    found = examine(path, progress=lambda done, of: seen.append((done, of)))
    assert found.sound
    assert not found.damaged
    assert {finding.severity for finding in found.findings} == {Severity.GOOD, Severity.NOTE}
    assert seen[-1] == (21, 21)
    assert path.read_bytes() == before
    assert os.listdir(path.parent) == [path.name]


def test_findings_as_json(path: Path) -> None:
    change(path, "UPDATE summary SET undecided = 99")
    told = json.loads(json.dumps(examine(path).to_json()))
    assert told["sound"] is False
    (wrong,) = [finding for finding in told["findings"] if finding["severity"] == "error"]
    assert wrong["check"] == "summary"
    assert wrong["documents_count"] == 21
    assert len(wrong["documents"]) == 20
    assert "--repair" in wrong["hint"]


def test_what_is_no_project_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ProjectMissingError):
        examine(tmp_path / "none")
    (tmp_path / "notes").write_text("notes " * 30)
    with pytest.raises(NotAProjectError):
        examine(tmp_path / "notes")


RUN = "INSERT INTO run VALUES ('r', 1, 1, 'm', 'h', '{}', '2020-01-01T00:00:00Z', NULL)"
BREAKS: dict[str, tuple[str, ...]] = {
    "log": ("UPDATE entity SET state = 'accepted' WHERE id = 'e2' AND document_id = 5",),
    "log of a row that is gone": ("DELETE FROM relation WHERE document_id = 6",),
    "log of a row too many": (
        "INSERT INTO cluster SELECT 7, 'new', score, state, source_id, event_id FROM cluster",
    ),
    "summary": ("UPDATE summary SET decided = 5 WHERE document_id = 4",),
    "summary of a label": ("DELETE FROM tally WHERE document_id = 4",),
    "mentions": (
        """UPDATE entity SET surface_id = (SELECT min(id) FROM surface WHERE text <> 'network')
        WHERE document_id = 4 AND id = 'e2'""",
    ),
    "words": (
        """INSERT INTO document_words(document_words, rowid, title, text)
        SELECT 'delete', id, title, text FROM document WHERE id = 3""",
    ),
    "words of mentions": ("INSERT INTO surface_words(surface_words) VALUES('delete-all')",),
}


@pytest.mark.parametrize("what", BREAKS)
def test_mended_from_log_and_state(path: Path, what: str) -> None:
    with open_project(path) as project:
        right = all_state(project)
    change(path, *BREAKS[what])
    assert what.split(" ")[0] in wrong(path)
    done = repair(path, "ann")
    assert done.after.sound
    assert done.kept is not None
    assert done.kept.parent == folder_of(path)
    with open_project(path) as project:
        assert all_state(project) == right


def test_sound_project_is_left_alone(path: Path) -> None:
    before = path.read_bytes()
    done = repair(path)
    assert done.kept is None
    assert done.to_json()["rebuilt"] == 0
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("check", "statement"),
    [
        ("text", "UPDATE document SET text = replace(text, 'graph', 'grasp') WHERE id = 4"),
        (
            "tokens",
            "UPDATE token_table SET body = (SELECT body FROM token_table WHERE document_id = 1)",
        ),
        ("spans", "UPDATE entity SET char_end = 9999 WHERE document_id = 4"),
        ("references", "UPDATE relation SET head = 'none' WHERE document_id = 4"),
        ("events", "UPDATE event SET seconds = 7 WHERE id = 3"),
        ("events", "UPDATE change SET document_id = 5 WHERE seq = 4"),
        ("sources", "UPDATE annotation_set SET hash = 'a' || substr(hash, 2) || 'b' WHERE id = 3"),
        ("unreadable", "UPDATE token_table SET body = x'01' WHERE document_id = 4"),
        ("unreadable", "UPDATE entity SET state = 'no such state' WHERE document_id = 4"),
    ],
)
def test_foundwrong(path: Path, check: str, statement: str) -> None:
    change(path, statement)
    assert check in wrong(path)


@pytest.mark.parametrize(
    "was", ["no JSON", "[]", "{}", '{"label": "Task", "fragments": []}', '{"label": 1}']
)
def test_original_that_cannot_be_understood_is_damage(path: Path, was: str) -> None:
    change(path, f"UPDATE entity SET was = '{was}' WHERE id = 'e2' AND document_id = 4")
    broken = pytest.raises(ProjectDamagedError, match="of abstract 4 cannot be understood")
    with broken, open_project(path) as project:
        stats_of(project)


def test_log_that_contradicts_itself_leaves_the_state(path: Path) -> None:
    change(
        path, "DELETE FROM change WHERE seq = (SELECT min(seq) FROM change WHERE document_id = 1)"
    )
    with open_project(path) as project:
        before = all_state(project)
    done = repair(path)
    assert done.rebuilt == ()
    assert done.after.documents("log") == [1]
    with open_project(path) as project:
        assert all_state(project) == before


def test_a_document_whose_rows_went_comes_back_from_the_log(path: Path) -> None:
    change(
        path,
        *(f"DELETE FROM {table} WHERE document_id = 21" for table in ("link", "cluster")),
        *(f"DELETE FROM {table} WHERE document_id = 21" for table in ("relation", "entity")),
        *(
            f"DELETE FROM {table} WHERE document_id = 21"
            for table in ("summary", "tally", "progress")
        ),
    )
    assert examine(path).documents("log") == [21]
    assert repair(path).after.sound


def test_an_undone_import_is_sound(path: Path) -> None:
    with open_project(path, "ann") as project:
        for _ in range(4):
            project.undo()
    assert examine(path).sound


def test_surroundings(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SCIEXTRACT_NETWORK_FS", "1")
    monkeypatch.setattr("sciextract.store.maintenance.doctor.free_bytes", lambda folder: 1)
    found = examine(path)
    assert found.sound
    assert {
        finding.check for finding in found.findings if finding.severity is Severity.WARNING
    } == {"room"}
    assert found.facts["free_bytes"] == 1
    assert any("network" in finding.message for finding in found.findings)


@pytest.mark.parametrize("column", ["label_schema.at", "event.at", "run.finished"])
def test_a_time_that_is_none_is_found(path: Path, column: str) -> None:
    table, name = column.split(".")
    change(path, RUN, f"UPDATE {table} SET {name} = '[]'")
    assert "file" in wrong(path)


@pytest.mark.parametrize("value", ["'[]'", "'no JSON'", "7", "'null'"])
@pytest.mark.parametrize(
    "column", ["label_schema.body", "run.settings", "record.fields", "record.warnings"]
)
def test_json_of_another_type_is_found(path: Path, column: str, value: str) -> None:
    table, name = column.split(".")
    change(
        path,
        RUN,
        "INSERT INTO label_schema SELECT 0, hash, body, at FROM label_schema WHERE id = 1",
    )
    assert examine(path).sound
    if column == "record.warnings" and value == "'[]'":
        value = "'[7]'"
    rows = "rowid" if table == "record" else "id IN (0, 'r')"
    change(path, f"UPDATE {table} SET {name} = {value} WHERE {rows}")
    assert wrong(path)


def test_a_move_that_was_forgotten_is_found(path: Path) -> None:
    with open_project(path, "ann") as project:
        more = (*ITEMS, guess("e4", place("graph")), cluster("k", "e2", "e4"))
        put(project, *more, text=like("Moved."), doc_key="moved")
        project.actions.join(DOCUMENTS + 1, "e3", "k")
    assert examine(path).sound
    change(path, "UPDATE link SET was = NULL WHERE entity_id = 'e3' AND cluster_id = 'k'")
    assert "log" in wrong(path)


def test_a_key_may_hold_control_characters(path: Path) -> None:
    with open_project(path, "ann") as project:
        put(project, text=like("A key from a file."), doc_key="a\x1b[2Jb")
    assert examine(path).sound
