"""Finished abstracts say only what somebody has looked for."""

from __future__ import annotations

from pathlib import Path

import pytest

from sciextract.documents.annotations import Layer
from sciextract.snapshot.gathering import training_document
from sciextract.store import Completeness, Project
from sciextract.store.coverage import find_missing
from sciextract.store.label_changes import add_type, rename_type
from sciextract.store.rows import is_attribute
from sciextract.store.sqlite import OLDEST_VERSION, VERSION
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
    """Types alone, without the attributes of the schema."""
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


def test_there_is_a_frozen_file_of_every_version() -> None:
    kept = {int(file.stem.partition("_")[2]) for file in SCRIPT.parent.glob("version_*.sql")}
    assert kept == {*range(OLDEST_VERSION, VERSION + 1)}
