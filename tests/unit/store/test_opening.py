"""Opening: what is not a project, damaged, newer or locked has its own error and a next step."""

from __future__ import annotations

import gzip
import os
import shutil
import sqlite3
from pathlib import Path

import pytest

from sciextract import atomic
from sciextract.errors import (
    ExitCode,
    NotAProjectError,
    ProjectDamagedError,
    ProjectError,
    ProjectMissingError,
    ProjectVersionError,
)
from sciextract.store import create_project, open_project, opening
from sciextract.store.maintenance.doctor import examine
from sciextract.store.sqlite import VERSION
from tests.unit.store.projects import guess, new_project, place, put, small_schema


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A closed project with forty abstracts."""
    with new_project(tmp_path) as project:
        for number in range(40):
            put(project, guess("e", place("net")), doc_key=f"d{number}", text=_text(number))
    return project.path


def _text(number: int) -> str:
    return f"A graph net learns number {number}. " + "It learns more and more. " * 20


def test_missing_file(tmp_path: Path) -> None:
    with pytest.raises(ProjectMissingError, match="no such project") as caught:
        open_project(tmp_path / "none.sciextract")
    assert caught.value.exit_code == ExitCode.MISSING
    assert "init" in caught.value.hint
    assert not list(tmp_path.iterdir())


def test_folder(tmp_path: Path) -> None:
    with pytest.raises(NotAProjectError, match="is a folder"):
        open_project(tmp_path)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"just some notes\n",
        b"%PDF-1.7 " + bytes(200),
        gzip.compress(b"abstract " * 40),
        b"SQLite",
        b"\x00" * 4096,
    ],
    ids=["empty", "text", "pdf", "gzip", "six letters", "zeros"],
)
def test_other_file_stays_as_it_is(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "p.sciextract"
    path.write_bytes(content)
    with pytest.raises((NotAProjectError, ProjectDamagedError)):
        open_project(path)
    assert path.read_bytes() == content
    assert os.listdir(tmp_path) == ["p.sciextract"]


def test_database_of_another_program(tmp_path: Path) -> None:
    path = tmp_path / "p.sciextract"
    with sqlite3.connect(path) as other:
        other.execute("CREATE TABLE meta (key, value)")
    before = path.read_bytes()
    with pytest.raises(NotAProjectError, match="another program"):
        open_project(path)
    assert path.read_bytes() == before


@pytest.mark.parametrize("version", [0, VERSION + 1])
def test_other_version(path: Path, version: int) -> None:
    with sqlite3.connect(path) as project:
        project.execute(f"PRAGMA user_version = {version}")
    before = path.read_bytes()
    with pytest.raises(
        ProjectVersionError, match=f"version {version}.*version.* {VERSION}"
    ) as caught:
        open_project(path)
    assert "SciExtract that wrote it" in caught.value.hint
    assert path.read_bytes() == before


def test_other_version_that_only_the_log_tells(path: Path) -> None:
    """After a kill the version may stand in the write-ahead log, not in the file yet."""
    newer = sqlite3.connect(path, isolation_level=None)
    newer.execute("PRAGMA journal_mode = WAL")
    newer.execute("PRAGMA user_version = 9")
    for end in ("", "-wal", "-shm"):
        shutil.copyfile(f"{path}{end}", f"{path.with_name('copy.sciextract')}{end}")
    newer.close()
    with pytest.raises(ProjectVersionError, match="version 9"):
        open_project(path.with_name("copy.sciextract"))


@pytest.mark.parametrize("size", [1, 15, 16, 60, 99])
def test_cut_in_the_header(path: Path, size: int) -> None:
    path.write_bytes(path.read_bytes()[:size])
    with pytest.raises((ProjectDamagedError, NotAProjectError)):
        open_project(path)


@pytest.mark.parametrize("share", [0.3, 0.5])
def test_cut_in_the_middle_is_seen_at_once(path: Path, share: float) -> None:
    whole = path.read_bytes()
    path.write_bytes(whole[: int(len(whole) * share)])
    with pytest.raises(ProjectDamagedError) as caught:
        open_project(path)
    assert "doctor" in caught.value.hint


def test_flipped_bytes_in_a_page(path: Path) -> None:
    """Opening stays cheap; what meets the damage says so, and the doctor sees it."""
    content = bytearray(path.read_bytes())
    for page in range(4096, len(content) - 4096, 4096):
        content[page : page + 64] = os.urandom(64)
    path.write_bytes(content)
    with pytest.raises(ProjectDamagedError, match="damaged") as caught:
        _work_on(path)
    assert "doctor" in caught.value.hint
    found = examine(path)
    assert found.damaged
    assert not found.sound


def _work_on(path: Path) -> None:
    with open_project(path) as project:
        for number in project.numbers():
            project.document(number)


def test_name_with_odd_characters(tmp_path: Path) -> None:
    folder = tmp_path / "50% of #1? [α] 😀"
    folder.mkdir()
    with new_project(folder) as project:
        put(project)
    with open_project(project.path) as again:
        assert again.numbers() == [1]


def test_create_refuses_what_is_there(path: Path) -> None:
    before = path.read_bytes()
    with pytest.raises(ProjectError, match="exists already"):
        create_project(path, small_schema())
    assert path.read_bytes() == before


def test_create_where_nothing_can_be(tmp_path: Path) -> None:
    with pytest.raises(ProjectError, match="no such folder"):
        create_project(tmp_path / "no folder" / "p.sciextract", small_schema())


def test_create_on_a_file_system_without_links(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Memory sticks (exFAT) know no hard links."""
    monkeypatch.setattr(os, "link", _no_links)
    with new_project(tmp_path) as project:
        put(project)
    assert os.listdir(tmp_path) == ["p.sciextract"]
    with pytest.raises(FileExistsError), atomic.creating(project.path) as partial:
        partial.touch()


def _no_links(source: Path, target: Path) -> None:
    raise PermissionError(1, "Operation not permitted")


def test_failed_creation_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opening, "create_tables", _interrupted)
    with pytest.raises(KeyboardInterrupt):
        create_project(tmp_path / "p.sciextract", small_schema())
    assert not list(tmp_path.iterdir())


def _interrupted(connection: sqlite3.Connection) -> None:
    raise KeyboardInterrupt
