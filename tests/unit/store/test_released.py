"""A file of the released version opens, its log gives its state, and its tables are today's."""

from __future__ import annotations

from pathlib import Path

from sciextract.store import open_project
from sciextract.store.maintenance.doctor import examine
from sciextract.store.state_tables import all_numbers, rebuild
from tests.unit.store.released import SCRIPT, load, state_of


def test_state_of_a_released_file(tmp_path: Path) -> None:
    expected = SCRIPT.with_suffix(".state.jsonl").read_text("utf-8")
    path = load(tmp_path / "old.sciextract")
    with open_project(path, "ann") as project:
        assert state_of(project) == expected
        project.connection.execute("UPDATE entity SET label = 'Wrong'")
        rebuild(project, all_numbers(project.connection))
        assert state_of(project) == expected
        assert project.actions.note(2, "goes on").event_id == len(project.log())
    assert examine(path).sound
