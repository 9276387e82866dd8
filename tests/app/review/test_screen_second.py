"""Two connections of one process beside another process: nothing that was decided may be lost."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from sciextract.store import open_project
from tests.app.screens_support import desk_of, made_project, opened, until_shown

LOOK = """
import sys
from sciextract.store import open_project
with open_project(sys.argv[1], read=True) as project:
    print(project.connection.execute("SELECT sum(flagged) FROM progress").fetchone()[0])
"""


def flags_as_another_process_sees_them(path: Path) -> int:
    command = [sys.executable, "-c", LOOK, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return int(done.stdout)


def test_the_locks_of_the_first_connection_stay(tmp_path: Path) -> None:
    path = made_project(tmp_path)
    with open_project(path) as desk:
        desk.actions.note(1, "the log is begun")
        with open_project(path, "ann") as second:
            second.actions.note(2, "a worker writes")
            assert flags_as_another_process_sees_them(path) == 0  # it leaves as if it were the last
            desk.actions.flag(1)
            assert flags_as_another_process_sees_them(path) == 1


@pytest.mark.asyncio
async def test_the_open_project_cannot_be_imported(tmp_path: Path) -> None:
    path = made_project(tmp_path)
    async with opened(path) as (app, pilot):
        desk_of(app).imports.import_files([str(path)])
        await until_shown(pilot, "cannot be imported")
