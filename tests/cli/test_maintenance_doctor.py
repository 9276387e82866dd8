"""``sciextract doctor`` at the command line."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

from sciextract.errors import ExitCode
from tests.cli.conftest import Command
from tests.cli.projects import everything, view


def test_a_sound_project(command: Command, project: Path) -> None:
    before = everything(project.parent)
    result = command("doctor")
    assert (result.code, result.err) == (ExitCode.DONE, "")
    assert result.out.endswith("the project is sound\n")
    assert json.loads(command("doctor", "--json").out)["sound"]
    assert everything(project.parent) == before


def test_what_is_wrong_is_told_and_mended(command: Command, project: Path) -> None:
    before = view(project)
    with sqlite3.connect(project) as connection:
        connection.execute("UPDATE entity SET label = 'Metric' WHERE label = 'Task'")
    changed = everything(project.parent)
    found = command("doctor")
    assert (found.code, "the project has errors" in found.out) == (ExitCode.FAILED, True)
    assert everything(project.parent) == changed
    mended = command("doctor", "--repair")
    assert mended.code == ExitCode.DONE
    assert "1 abstracts rebuilt from the log" in mended.out and "the file as it was: " in mended.out
    assert view(project) == before


def test_a_damaged_file(command: Command, project: Path) -> None:
    content = project.read_bytes()
    half = len(content) // 2
    project.write_bytes(content[:half] + b"\xa5" * (len(content) - half))
    found = command("doctor")
    assert found.code == ExitCode.FAILED
    assert found.out.count("sciextract doctor --repair") == 1
    assert command("doctor", "--repair").code == ExitCode.FAILED
    assert project.read_bytes()[half:] == b"\xa5" * (len(content) - half)
