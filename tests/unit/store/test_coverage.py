"""Finished abstracts say only what somebody has looked for."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from sciextract.documents.annotations import Layer
from sciextract.snapshot.gathering import training_document
from sciextract.store import Completeness, Project, open_project
from sciextract.store.coverage import find_missing
from sciextract.store.label_changes import add_type, rename_type
from sciextract.store.maintenance.backup import list_backups
from sciextract.store.maintenance.doctor import examine
from sciextract.store.rows import is_attribute
from sciextract.store.sqlite import VERSION
from sciextract.store.state_tables import find_differing
from tests.unit.store.projects import document, new_project, put_all
from tests.unit.store.released import SCRIPT

LATE = (Layer.ENTITIES, "Metric")


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """Two abstracts, of which the first is finished before a type comes."""
    made = new_project(tmp_path)
    put_all(made, [(document(f"{name} nets parse.", name), ()) for name in ("one", "two")])
    made.actions.mark_done(1)
    add_type(made, "entity", "Metric")
    made.actions.mark_done(2)
    return made


def missing(project: Project) -> dict[tuple[Layer, str], list[int]]:
    """Types alone: the first versions had no attributes, which the schema of these tests has."""
    found = find_missing(project.connection, project.schema)
    return {name: numbers for name, numbers in found.items() if not is_attribute(name[1])}


def test_a_type_that_came_later_is_not_covered(project: Project) -> None:
    assert missing(project) == {LATE: [1]}
    assert training_document(project, 1).uncovered == {LATE}
    assert training_document(project, 2).uncovered == frozenset()
    project.actions.mark_done(1)
    assert missing(project) == {}


def test_reopening_and_undo_take_coverage_along(project: Project) -> None:
    project.actions.set_completeness(2, Completeness.IN_PROGRESS, (Layer.ENTITIES,))
    assert not any(name.startswith("entities") for name in _covered(project, 2))
    project.undo()
    assert missing(project) == {LATE: [1]}
    project.undo()  # of the finishing
    assert _covered(project, 2) == ()


def test_a_renamed_type_stays_covered(project: Project) -> None:
    rename_type(project, "entity", "Metric", "Score")
    assert missing(project) == {(Layer.ENTITIES, "Score"): [1]}
    add_type(project, "entity", "Metric")
    assert missing(project) == {(Layer.ENTITIES, "Score"): [1], LATE: [1, 2]}
    assert find_differing(project.connection) == []


def _covered(project: Project, number: int) -> tuple[str, ...]:
    progress = project.document_state(number).progress
    assert progress is not None
    return progress.covered


def _as_version_1(path: Path) -> Path:
    """The same file as the first version had it."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("DROP VIEW decision")
        connection.execute("DROP TABLE attribute")
        connection.execute("ALTER TABLE progress DROP COLUMN covered")
        made = SCRIPT.with_stem("version_1").read_text("utf-8")
        connection.execute(made[made.index("CREATE VIEW decision") :].partition(";")[0])
        connection.execute("PRAGMA user_version = 1")
    return path


def test_files_of_version_1_take_coverage_from_the_log(project: Project) -> None:
    rename_type(project, "entity", "Metric", "Score")
    project.close()
    expected = {(Layer.ENTITIES, "Score"): [1]}
    path = _as_version_1(project.path)
    assert examine(path).facts["version"] == 1
    with open_project(path, "ann") as converted:
        assert missing(converted) == expected
        assert converted.undo()[0].kind == "rename label"
        assert missing(converted) == {LATE: [1]}
    [backup] = [kept for kept in list_backups(path) if kept.reason == "version-1"]
    assert examine(backup.path).facts["version"] == 1
    assert examine(path).facts["version"] == VERSION
    assert examine(path).sound


def test_a_conversion_that_is_interrupted_leaves_the_file(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.close()
    path = _as_version_1(project.path)

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("sciextract.store.migrations.events.append_changes", killed)
        with pytest.raises(KeyboardInterrupt):
            open_project(path)
    assert (examine(path).facts["version"], examine(path).sound) == (1, True)
    with open_project(path) as converted:
        assert missing(converted) == {LATE: [1]}


def test_there_is_a_frozen_file_of_every_version() -> None:
    kept = {int(file.stem.partition("_")[2]) for file in SCRIPT.parent.glob("version_*.sql")}
    assert kept == {*range(1, VERSION + 1)}
