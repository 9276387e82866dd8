"""Files of all released versions open, their logs give their states, and their tables become today's."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sciextract.store import open_project
from sciextract.store.maintenance.doctor import examine
from sciextract.store.state_tables import all_numbers, rebuild
from tests.unit.store.released import SCRIPT, load, state_of

SCRIPTS = sorted(SCRIPT.parent.glob("version_*.sql"))


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_state_of_a_released_file(tmp_path: Path, script: Path) -> None:
    expected = _rows(script.with_suffix(".state.jsonl").read_text("utf-8"))
    path = load(tmp_path / "old.sciextract", script)
    with open_project(path, "ann") as project:
        assert _subset(_rows(state_of(project)), expected) == expected
        before = state_of(project)
        project.connection.execute("UPDATE entity SET label = 'Wrong'")
        rebuild(project, all_numbers(project.connection))
        assert state_of(project) == before
        assert project.actions.note(2, "goes on").event_id == len(project.log())
    assert examine(path).sound


def _rows(lines: str) -> list[list[object]]:
    return [json.loads(line) for line in lines.splitlines()]


def _subset(rows: list[list[object]], of: list[list[object]]) -> list[list[object]]:
    """The rows without the columns that a version did not have."""
    return [
        [number, table, {name: values[name] for name in known}]  # type: ignore[index, attr-defined]
        for (number, table, values), (_, _, known) in zip(rows, of, strict=True)
    ]
