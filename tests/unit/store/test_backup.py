"""Backups: dated, whole, the newest ten, consistent while others write; and bringing one back."""

from __future__ import annotations

import os
import signal
import sqlite3
import sys
import time
from collections.abc import Callable
from contextlib import closing, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from sciextract.cli.main import main
from sciextract.errors import (
    NotAProjectError,
    ProjectBusyError,
    ProjectDamagedError,
    ProjectError,
    ProjectMissingError,
)
from sciextract.store import Project, open_project
from sciextract.store.maintenance import backup
from sciextract.store.maintenance.backup import (
    KEPT,
    MANUAL,
    folder_of,
    list_backups,
    newest_sound,
    restore,
)
from sciextract.store.sqlite import connect
from sciextract.store.sqlite_errors import problems
from sciextract.store.state_tables import find_differing
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
    progress = project.document_state(1).progress
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
        assert problems(kept.connection) == []


def test_a_backup_is_as_private_as_the_project(path: Path) -> None:
    with open_project(path) as project:
        path.chmod(0o600)
        assert project.backup("kept").path.stat().st_mode & 0o777 == 0o600


def test_newest_ten_are_kept(path: Path) -> None:
    with open_project(path) as project:
        made = [project.backup(f"number {number}") for number in range(KEPT + 3)]
    assert list_backups(path) == made[:2:-1]


def test_backups_that_were_asked_for_are_not_pushed_out_by_others(path: Path) -> None:
    with open_project(path) as project:
        asked = project.backup(MANUAL)
        others = [project.backup("before import") for _ in range(KEPT + 1)]
        assert list_backups(path) == [*others[:0:-1], asked]
        again = [project.backup(MANUAL) for _ in range(KEPT)]
    assert list_backups(path) == [*again[::-1], *others[:0:-1]]


def test_clock_that_goes_backwards_does_not_prune_the_newest(
    path: Path, clock: type[_Clock]
) -> None:
    made = []
    with open_project(path) as project:
        for number in range(KEPT + 2):
            clock.at = NOW - timedelta(days=number)
            made.append(project.backup(f"number {number}"))
    assert list_backups(path) == made[:1:-1]
    assert len({kept.at for kept in made}) == len(made)


def test_backups_of_the_same_moment_have_names_of_their_own(
    path: Path, clock: type[_Clock]
) -> None:
    with open_project(path) as project:
        first, second = project.backup("same"), project.backup("same")
    assert first.path != second.path
    assert [kept.path for kept in list_backups(path)] == [second.path, first.path]


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
    for made_path in made:
        with closing(connect(made_path, "immutable")) as kept:
            assert problems(kept) == []
            assert find_differing(kept) == []


def test_killed_backup_leaves_nothing_that_looks_whole(path: Path) -> None:
    folder = folder_of(path)
    folder.mkdir()
    partial = folder / ".2026-01-01T00-00-00.000_killed.sciextract.0.partial"
    partial.write_bytes(path.read_bytes()[:5000])
    fresh = folder / ".2026-01-01T00-00-00.001_other-process.sciextract.1.partial"
    fresh.write_bytes(b"being written")
    an_hour_ago = time.time() - 3_700
    os.utime(partial, (an_hour_ago, an_hour_ago))
    assert list_backups(path) == []
    with open_project(path) as project:
        project.backup("next")
    assert not partial.exists()
    assert fresh.exists()


def test_the_folder_of_backups_is_its_owners_alone(path: Path) -> None:
    with open_project(path) as project:
        project.backup("next")
    assert folder_of(path).stat().st_mode & 0o777 == 0o700


def test_what_killed_restores_left_is_named_and_removed(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    old = path.with_name(f".{path.name}.0a.partial")
    journal = path.with_name(f".{path.name}.0a.partial-journal")
    fresh = path.with_name(f".{path.name}.0b.partial")
    for file in (old, journal, fresh):
        file.write_bytes(b"a copy")
    for file in (old, journal):
        os.utime(file, (time.time() - 3_700,) * 2)
    with pytest.raises(SystemExit, match="0"):
        main(["backup", "--project", str(path)])
    told = capsys.readouterr().err
    assert all(file.name in told for file in (old, journal, fresh))
    assert (old.exists(), journal.exists(), fresh.exists()) == (False, False, True)
    assert "if none is, remove it" in told


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


def test_a_restore_killed_at_any_step_leaves_a_project_under_its_name(path: Path) -> None:
    with open_project(path) as project:
        project.actions.note(1, "first")
        made = project.backup("test")
    for step in range(1, 100):
        with open_project(path) as project:
            project.actions.note(1, "second")
        ended = _killed_restore(made.path, path, step)
        assert path.exists()
        assert "second" in {_note_in(path), *map(_note_in, _set_aside(path))}
        if ended:
            break
    assert 10 < step < 99
    assert _note_in(path) == "first"
    assert not any(file.samefile(path) for file in _set_aside(path))


def _killed_restore(made: Path, path: Path, step: int) -> bool:
    """Kill a restore just before its nth step that the file system sees; says whether it came to its end."""
    child = os.fork()
    if not child:
        seen = 0

        def before(event: str, _: object) -> None:
            nonlocal seen
            if event in {"open", "sqlite3.connect", "os.link", "os.rename", "os.remove"}:
                seen += 1
                if seen == step:
                    os.kill(os.getpid(), signal.SIGKILL)

        with suppress(BaseException):
            sys.addaudithook(before)
            restore(made, path)
            os._exit(0)
        os._exit(1)
    ended = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert ended in {0, -signal.SIGKILL}
    return ended == 0


def _set_aside(path: Path) -> list[Path]:
    return list(path.parent.glob(f"{path.name}*.before-restore"))


def _note_in(path: Path) -> str:
    with closing(connect(path, "immutable")) as found:
        assert problems(found) == []
        return str(found.execute("SELECT note FROM progress").fetchone()[0])


@pytest.mark.parametrize("link", [os.link, os.symlink])
def test_restore_refuses_the_project_itself(path: Path, link: Callable[..., None]) -> None:
    other = path.with_name("other.sciextract")
    link(path, other)
    before = path.read_bytes()
    for backup_file in (path, other):
        with pytest.raises(ProjectError, match="is the project"):
            restore(backup_file, path)
    assert path.read_bytes() == before


def test_restore_of_a_damaged_backup_changes_nothing(path: Path) -> None:
    with open_project(path) as project:
        made = project.backup("test")
        project.actions.note(1, "later")
    content = made.path.read_bytes()
    made.path.write_bytes(content[:-2048] + b"\xa5" * 2048)
    with pytest.raises(ProjectDamagedError):
        restore(made.path, path)
    assert _note_in(path) == "later"
    assert {file.name for file in path.parent.iterdir()} == {path.name, folder_of(path).name}


def test_restore_through_a_link_leaves_the_link(path: Path, tmp_path: Path) -> None:
    with open_project(path) as project:
        made = project.backup("test")
    (tmp_path / "elsewhere").mkdir()
    link = tmp_path / "elsewhere" / "p.sciextract"
    link.symlink_to(path)
    path.chmod(0o600)
    kept = restore(made.path, link)
    assert link.is_symlink()
    assert kept is not None
    assert kept.parent == path.parent
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_missing_project_tells_of_the_one_set_aside(path: Path) -> None:
    with open_project(path) as project:
        made = project.backup("test")
    kept = restore(made.path, path)
    path.unlink()
    with pytest.raises(ProjectMissingError, match="before-restore ") as e:
        open_project(path)
    assert e.value.hint == f"sciextract backup --restore {kept} --project {path}"


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
