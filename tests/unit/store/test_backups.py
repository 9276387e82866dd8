"""Backups: dated, whole, the newest ten, consistent while others write; and bringing one back."""

from __future__ import annotations

import os
import signal
import sqlite3
import time
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from sciextract.errors import NotAProjectError, ProjectBusyError
from sciextract.store import Project, open_project
from sciextract.store.file.connection import connect
from sciextract.store.health import backup
from sciextract.store.health.backup import KEPT, folder_of, list_backups, newest_sound, restore
from sciextract.store.health.integrity import problems
from sciextract.store.log.rebuild import differing
from tests.unit.store.processes import running, said
from tests.unit.store.projects import guess, new_project, place, put

NOW = datetime(2026, 3, 29, 1, 59, 59, tzinfo=UTC)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A closed project with one abstract."""
    with new_project(tmp_path) as project:
        put(project, guess("e", place("net")))
    return project.path


class _Clock(datetime):
    """A clock that the tests set."""

    at = NOW

    @classmethod
    def now(cls, tz: object = None) -> datetime:  # type: ignore[override]
        return cls.at


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> type[_Clock]:
    """The clock of backup names."""
    monkeypatch.setattr(backup, "datetime", _Clock)
    monkeypatch.setattr(_Clock, "at", NOW)
    return _Clock


def _note(project: Project) -> str:
    progress = project.draft(1).progress
    return progress.note if progress else "not there"


def test_backup_is_a_whole_project(path: Path) -> None:
    with open_project(path) as project:
        project.actions.note(1, "kept")
        made = project.backup("before  a/test!")
        assert made.reason == "before-a-test"
        assert made.bytes == made.path.stat().st_size
        project.actions.note(1, "later")
    assert list_backups(path) == [made]
    with open_project(made.path) as kept:
        assert _note(kept) == "kept"
        assert kept.unclean == []
        assert problems(kept.connection) == []


def test_newest_ten_are_kept(path: Path) -> None:
    with open_project(path) as project:
        made = [project.backup(f"number {number}") for number in range(KEPT + 3)]
    assert list_backups(path) == made[:2:-1]


def test_clock_that_goes_backwards_does_not_prune_the_newest(
    path: Path, clock: type[_Clock]
) -> None:
    made = []
    with open_project(path) as project:
        for number in range(KEPT + 2):
            clock.at = NOW - timedelta(days=number)
            made.append(project.backup(f"number {number}"))
    assert list_backups(path) == made[:1:-1]
    assert len({each.at for each in made}) == len(made)


def test_backups_of_the_same_moment_have_names_of_their_own(
    path: Path, clock: type[_Clock]
) -> None:
    with open_project(path) as project:
        first, second = project.backup("same"), project.backup("same")
    assert first.path != second.path
    assert [each.path for each in list_backups(path)] == [second.path, first.path]


def test_other_files_are_neither_listed_nor_removed(path: Path) -> None:
    folder = folder_of(path)
    folder.mkdir()
    others = ["my_notes.txt", "copy_of_p.sciextract", "2026-01-01T00-00-00.000_x.sciextract-wal"]
    for name in others:
        (folder / name).write_text("mine")
    with open_project(path) as project:
        for _ in range(KEPT + 1):
            project.backup("test")
    assert len(list_backups(path)) == KEPT
    assert all((folder / name).read_text() == "mine" for name in others)


def test_backup_while_another_process_writes(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Small steps, so that many writes fall between them: the backup ends, and shows one moment."""
    monkeypatch.setattr(backup, "_PAGES_A_STEP", 1)
    with running("keep_noting", path) as writer, open_project(path) as project:
        assert said(writer) == "writing"
        made = [project.backup("while writing").path for _ in range(5)]
        before = project.data_version()
        while project.data_version() == before:  # it is writing still
            time.sleep(0.001)
        writer.kill()
    for each in made:
        with closing(connect(each, "immutable")) as kept:
            assert problems(kept) == []
            assert differing(kept) == []


def test_killed_backup_leaves_nothing_that_looks_whole(path: Path) -> None:
    folder = folder_of(path)
    folder.mkdir()
    partial = folder / "2026-01-01T00-00-00.000_killed.sciextract.partial"
    partial.write_bytes(path.read_bytes()[:5000])
    fresh = folder / "2026-01-01T00-00-00.001_other-process.sciextract.partial"
    fresh.write_bytes(b"being written")
    an_hour_ago = time.time() - 3_700
    os.utime(partial, (an_hour_ago, an_hour_ago))
    assert list_backups(path) == []
    with open_project(path) as project:
        project.backup("next")
    assert not partial.exists()
    assert fresh.exists()


def test_failed_backup_leaves_nothing(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(source: Path, target: Path) -> None:
        raise KeyboardInterrupt

    with open_project(path) as project:
        monkeypatch.setattr(os, "replace", interrupted)
        with pytest.raises(KeyboardInterrupt):
            project.backup("interrupted")
        monkeypatch.undo()
        assert not list(folder_of(path).iterdir())
        project.actions.note(1, "the project can be used")


def test_restore_keeps_the_present_file(path: Path) -> None:
    with open_project(path) as project:
        project.actions.note(1, "first")
        made = project.backup("test")
        project.actions.note(1, "second")
    kept = restore(made.path, path)
    assert kept is not None
    with open_project(path) as project:
        assert _note(project) == "first"
    with open_project(kept) as project:
        assert _note(project) == "second"
    assert list_backups(path) == [made]


def test_restore_twice_keeps_both(path: Path) -> None:
    with open_project(path) as project:
        made = project.backup("test")
    assert restore(made.path, path) != restore(made.path, path)


def test_restore_of_a_lost_project(path: Path) -> None:
    with open_project(path) as project:
        made = project.backup("test")
    path.unlink()
    assert restore(made.path, path) is None
    with open_project(path) as project:
        assert project.numbers() == [1]


def test_restore_refuses_while_another_process_has_it_open(path: Path) -> None:
    with open_project(path) as project:
        made = project.backup("test")
    with running("note_and_stay", path) as other:
        assert said(other) == "written"
        with pytest.raises(ProjectBusyError, match="open in another"):
            restore(made.path, path)
    with open_project(path) as project:
        assert _note(project) == "written before the end"


def test_restore_after_a_kill_keeps_what_the_log_held(path: Path) -> None:
    with open_project(path) as project:
        made = project.backup("test")
    with running("note_and_stay", path) as other:
        assert said(other) == "written"
        other.send_signal(signal.SIGKILL)
        other.wait()
    kept = restore(made.path, path)
    assert kept is not None
    with open_project(kept) as project:
        assert _note(project) == "written before the end"
    with open_project(path) as project:
        assert _note(project) == ""


def test_restore_over_a_damaged_project(path: Path) -> None:
    with open_project(path) as project:
        made = project.backup("test")
    path.write_bytes(path.read_bytes()[:3000])
    kept = restore(made.path, path)
    assert kept is not None
    assert kept.stat().st_size == 3000
    with open_project(path) as project:
        assert project.numbers() == [1]


def test_restore_refuses_what_is_no_project(path: Path, tmp_path: Path) -> None:
    other = tmp_path / "notes.txt"
    other.write_text("no project at all")
    before = path.read_bytes()
    with pytest.raises(NotAProjectError):
        restore(other, path)
    assert path.read_bytes() == before


def test_newest_sound_backup(path: Path) -> None:
    with open_project(path) as project:
        sound = project.backup("sound")
        damaged = project.backup("damaged later")
    damaged.path.write_bytes(damaged.path.read_bytes()[:20_000])
    assert newest_sound(path) == sound
    sound.path.unlink()
    assert newest_sound(path) is None


def test_project_wide_actions_back_up_first(path: Path) -> None:
    with open_project(path) as project:
        project.actions.accept_above(0.1)
        (made,) = list_backups(path)
        assert made.reason == "accept-above"
        with sqlite3.connect(made.path) as kept:
            assert kept.execute(
                "SELECT count(*) FROM event WHERE kind LIKE 'accept%'"
            ).fetchone() == (0,)
        project.actions.accept_above(0.1, number=1)
        assert list_backups(path) == [made]
