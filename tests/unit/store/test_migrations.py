"""Files of earlier versions: read without a change, converted whole or not at all, and refused when they come from the future."""

from __future__ import annotations

import signal
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from sciextract.errors import (
    ProjectDamagedError,
    ProjectFullError,
    ProjectReadOnlyError,
    ProjectVersionError,
)
from sciextract.store import open_project
from sciextract.store.maintenance import backup
from sciextract.store.maintenance.backup import is_sound
from sciextract.store.maintenance.doctor import examine
from sciextract.store.sqlite import OLDEST_VERSION, VERSION
from tests.unit.store.processes import running, said
from tests.unit.store.released import SCRIPT, load, state_of

EARLIER = SCRIPT.with_name("version_2.sql")


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """A project of the version before."""
    return load(tmp_path / "old.sciextract", EARLIER)


def _version(path: Path) -> int:
    with closing(sqlite3.connect(path)) as connection:
        return int(connection.execute("PRAGMA user_version").fetchone()[0])


def _change(path: Path, *statements: str) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for statement in statements:
            connection.execute(statement)


def test_reading_converts_a_copy(old: Path) -> None:
    before = old.read_bytes()
    with open_project(old, read=True) as project:
        shown = state_of(project)
        assert len(project.log()) > 1
        with pytest.raises(ProjectReadOnlyError):
            project.actions.note(1, "never")
    assert (old.read_bytes(), backup.list_backups(old)) == (before, [])
    with open_project(old) as project:
        [kept] = backup.list_backups(old)
        assert str(kept.path) in project.notice
        assert state_of(project) == shown
    assert _version(kept.path) == 2
    assert open_project(old).notice == ""


def test_a_read_only_medium(old: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sciextract.store.sqlite.is_read_only_medium", lambda path: True)
    with open_project(old) as project, pytest.raises(ProjectReadOnlyError):
        project.actions.note(1, "never")
    assert _version(old) == 2


@pytest.mark.full
def test_twenty_kills_during_the_conversion(old: Path, tmp_path: Path) -> None:
    whole = load(tmp_path / "whole.sciextract", EARLIER)
    with running("convert", whole, 0) as process:
        steps = int(said(process))
    with open_project(whole, read=True) as project:
        expected = state_of(project)
    for number in range(20):
        place = 1 + number * (steps - 1) // 19
        with running("convert", old, place) as process:
            assert (said(process), process.wait(30)) == ("", -signal.SIGKILL), place
        assert examine(old).sound, place
        if _version(old) == VERSION:  # the rest of the kills come before its end, too
            old.unlink()
            load(old, EARLIER)
    with open_project(old) as project:
        assert state_of(project) == expected
    sound = [kept for kept in backup.list_backups(old) if is_sound(kept.path)]
    assert sound == backup.list_backups(old)


@pytest.mark.parametrize("kept", [False, True], ids=["backup", "conversion"])
def test_a_full_disk(old: Path, kept: bool) -> None:
    if kept:  # by an earlier try
        with closing(sqlite3.connect(old)) as connection:
            backup.make_backup(connection, old, "version 2")
    with running("open_within", old, 20_000) as process:
        assert said(process) == ProjectFullError.__name__
    assert len(backup.list_backups(old)) == kept
    assert (_version(old), examine(old).sound) == (2, True)


def test_a_project_that_a_newer_program_converts_while_it_is_open(old: Path) -> None:
    with open_project(old) as project:
        _change(old, f"PRAGMA user_version = {VERSION + 1}")
        with pytest.raises(ProjectVersionError, match="newer"):
            project.actions.note(1, "never")
    with pytest.raises(ProjectVersionError, match="newer"):
        open_project(old, read=True)


def test_a_trigger_in_an_old_file_never_runs(old: Path) -> None:
    _change(
        old,
        "CREATE TRIGGER evil AFTER UPDATE ON progress BEGIN UPDATE document SET title = 'x'; END",
    )
    for read in (True, False):
        with pytest.raises(ProjectDamagedError, match="evil"):
            open_project(old, read=read)
    assert _version(old) == 2


def test_other_tables_under_the_same_number_are_not_called_damaged(old: Path) -> None:
    # The first is met by the conversion, the second by nothing but the look at the result.
    with closing(sqlite3.connect(old)) as connection:
        [(view,)] = connection.execute("SELECT sql FROM sqlite_master WHERE name = 'decision'")
    _change(old, "DROP VIEW decision")
    for read in (True, False):
        with pytest.raises(ProjectVersionError, match="not of that version"):
            open_project(old, read=read)
    _change(old, view, "ALTER TABLE meta RENAME COLUMN value TO words")
    for read in (True, False):
        with pytest.raises(ProjectVersionError, match="not of that version"):
            open_project(old, read=read)
    assert _version(old) == 2


def test_a_file_from_before_the_version_before_is_refused(old: Path) -> None:
    _change(old, f"PRAGMA user_version = {OLDEST_VERSION - 1}")
    before = old.read_bytes()
    for work in (examine, open_project):
        with pytest.raises(ProjectVersionError) as refused:
            work(old)
        assert "reads versions" in refused.value.message
    assert old.read_bytes() == before
