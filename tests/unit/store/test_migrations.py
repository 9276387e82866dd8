"""Migrations: from every earlier version, with a backup before, whole after a kill."""

from __future__ import annotations

import os
import shutil
import signal
import sqlite3
from pathlib import Path
from unittest import mock

import pytest

from sciextract.errors import ProjectDamagedError
from sciextract.store import connection as header
from sciextract.store import migrations, open_project
from sciextract.store.connection import problems, read_header
from sciextract.store.maintenance import backup
from sciextract.store.maintenance.doctor import examine
from sciextract.store.maintenance.findings import Severity
from sciextract.store.maintenance.rebuild import all_numbers, rebuild
from tests.unit.store.earlier import load, scripts, state_of
from tests.unit.store.later import STEPS, later_release
from tests.unit.store.processes import running, said, tell
from tests.unit.store.projects import guess, new_project, place, put


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A closed project of the version that is released."""
    with new_project(tmp_path) as project:
        for number in range(5):
            put(project, guess("e", place("net")), doc_key=f"d{number}", text=f"net {number} " * 20)
    return project.path


def _tables(connection: sqlite3.Connection) -> set[tuple[str, str, str]]:
    """Names and statements of everything in a file, without the spaces that tools set differently."""
    rows = connection.execute("SELECT type, name, coalesce(sql, '') FROM sqlite_master")
    return {(kind, name, " ".join(sql.split())) for kind, name, sql in rows}


def _migrated(stop_before: str | None = None) -> sqlite3.Connection:
    connection = sqlite3.connect(":memory:", isolation_level=None)
    migrations.migrate(connection, stop_before)
    return connection


def test_versions_are_numbered_without_gaps() -> None:
    assert len(migrations.names()) == header.VERSION
    assert [int(name[:4]) for name in migrations.names()] == list(range(1, header.VERSION + 1))


@pytest.mark.parametrize("name", migrations.names())
def test_from_every_earlier_version(name: str) -> None:
    """A file that stopped before a migration becomes the same as a new one."""
    earlier = _migrated(stop_before=name)
    assert _version(earlier) == migrations.names().index(name)
    migrations.migrate(earlier)
    assert _version(earlier) == header.VERSION
    assert _tables(earlier) == _tables(_migrated())


def test_migrating_twice_changes_nothing() -> None:
    connection = _migrated()
    before = _tables(connection)
    migrations.migrate(connection)
    assert _tables(connection) == before


def test_opening_an_earlier_version_backs_it_up_and_migrates_it(path: Path) -> None:
    before = path.read_bytes()
    released = header.VERSION
    with later_release() as version:
        with open_project(path) as project:
            assert _version(project.connection) == version
            assert project.connection.execute("SELECT * FROM later_one").fetchall() == [("one",)]
            assert len(project.numbers()) == 5
        assert examine(path).sound
        (kept,) = backup.list_backups(path)
        assert kept.reason == "before-migration"
        assert read_header(kept.path).version == released
    with sqlite3.connect(kept.path) as old, sqlite3.connect(":memory:") as original:
        original.deserialize(before)
        assert list(old.iterdump()) == list(original.iterdump())


def test_a_project_of_version_1_goes_on_with_its_log(path: Path) -> None:
    with sqlite3.connect(path) as first:
        for table in ("event", "change"):
            first.execute(f"ALTER TABLE {table} DROP COLUMN hash")
        first.execute("DELETE FROM _sqlite_migrations WHERE name = '0002_hashes'")
        first.execute("PRAGMA user_version = 1")
    reading = mock.patch("sciextract.store.opening.mode_for", lambda _: "read")
    with reading, open_project(path) as project:
        assert len(project.numbers()) == len(project.log()) - 1 == 5
    with open_project(path) as project:
        project.actions.note(1, "with a hash")
    assert examine(path).sound
    with sqlite3.connect(path) as second:
        assert _version(second) == header.VERSION
        assert second.execute("SELECT count(hash) FROM event").fetchone() == (1,)


@pytest.mark.parametrize("version", range(1, header.VERSION + 1))
def test_state_of_a_file_of_every_version(version: int, tmp_path: Path) -> None:
    """The state after the migration, and the one that the log rebuilds, are those of the day when the file was made."""
    script = scripts()[version]
    expected = script.with_suffix(".state.jsonl").read_text("utf-8")
    path = load(script, tmp_path / "old.sciextract")
    with open_project(path, "ann") as project:
        assert state_of(project) == expected
        project.connection.execute("UPDATE entity SET label = 'Wrong'")
        rebuild(project, all_numbers(project.connection))
        assert state_of(project) == expected
        assert project.actions.note(2, "goes on").event_id == len(project.log())
    assert examine(path).sound


def test_doctor_tells_of_an_earlier_version(path: Path) -> None:
    with later_release() as version:
        found = examine(path)
    assert found.sound
    notes = [each.message for each in found.findings if each.check == "version"]
    assert notes == [f"project version {version - 2}; opening it makes it version {version}"]
    assert read_header(path).version == version - 2


def test_kill_in_the_middle(path: Path) -> None:
    """All migrations are one step: nothing of them is seen, the next opening does them."""
    with running("migrate_slowly", path) as process:
        assert said(process) == "inside"
        process.send_signal(signal.SIGKILL)
        process.wait()
    with sqlite3.connect(path) as killed:
        assert _version(killed) == header.VERSION
        assert problems(killed) == []
        columns = {row[1] for row in killed.execute("PRAGMA table_info(document)")}
        assert "later_two" not in columns
    with later_release() as version, open_project(path) as project:
        assert _version(project.connection) == version
        assert len(project.numbers()) == 5
        assert project.actions.note(1, "goes on").event_id is not None


def test_two_processes_open_an_earlier_version_at_once(path: Path) -> None:
    with running("open_later", path) as one, running("open_later", path) as other:
        for process in (one, other):
            assert said(process) == "ready"
        for process in (one, other):
            tell(process)
        for process in (one, other):
            assert said(process) == str(header.VERSION + len(STEPS))
    with later_release(), open_project(path) as project:
        assert problems(project.connection) == []


def test_failing_migration_leaves_the_version_before(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = (STEPS[0], ("later_two", ("CREATE TABLE half (a)", "SELECT no_such_function()")))
    monkeypatch.setattr("tests.unit.store.later.STEPS", broken)
    with later_release() as version:
        with pytest.raises(Exception, match="no_such_function"):
            open_project(path)
        with sqlite3.connect(path) as left:
            assert _version(left) == version - len(STEPS)
            assert left.execute("SELECT count(*) FROM document").fetchone() == (5,)
            assert not left.execute("SELECT 1 FROM sqlite_master WHERE name = 'half'").fetchall()


def test_damaged_file_is_not_migrated(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[-2048:] = os.urandom(2048)
    path.write_bytes(content)
    with later_release(), pytest.raises(ProjectDamagedError):
        open_project(path)
    assert read_header(path).version == header.VERSION
    assert not backup.folder_of(path).exists()


def test_restored_backup_of_an_earlier_version_is_migrated_again(path: Path) -> None:
    with later_release() as version:
        open_project(path).close()
        (kept,) = backup.list_backups(path)
        backup.restore(kept.path, path)
        assert read_header(path).version < version
        open_project(path).close()
        assert read_header(path).version == version
        assert not [each for each in examine(path).findings if each.severity is Severity.ERROR]


def test_copy_of_an_earlier_version_with_its_log(path: Path, tmp_path: Path) -> None:
    """What a killed process had written before an upgrade is in the upgraded project."""
    with running("note_and_stay", path) as process:
        assert said(process) == "written"
        for end in ("", "-wal"):
            shutil.copyfile(f"{path}{end}", tmp_path / f"copy.sciextract{end}")
    with later_release(), open_project(tmp_path / "copy.sciextract") as project:
        progress = project.document_state(1).progress
        assert progress is not None
        assert progress.note == "written before the end"


def _version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])
