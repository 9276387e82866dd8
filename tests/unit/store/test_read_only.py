"""Files, folders and media that take no writes: read what is there, and say why nothing is written."""

from __future__ import annotations

import os
import shutil
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from sciextract.errors import ProjectReadOnlyError
from sciextract.store import open_project, sqlite
from sciextract.store.maintenance.doctor import examine
from sciextract.store.sqlite import mode_for
from tests.unit.store.processes import running, said
from tests.unit.store.projects import guess, new_project, place, put


@pytest.fixture
def path() -> Iterator[Path]:
    """A closed project in a folder of its own that is writable again after the test."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "folder"
        folder.mkdir()
        with new_project(folder) as project:
            put(project, guess("e", place("net")))
            project.actions.note(1, "stored")
        yield project.path
        folder.chmod(0o755)


@pytest.fixture
def fixed(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The medium of the project takes no writes from now on."""
    monkeypatch.setattr(sqlite, "is_read_only_medium", lambda path: True)


def _leave_log(path: Path) -> None:
    """What a killed process leaves: the file, and a log with what is newer."""
    with running("note_and_stay", path) as process:
        assert said(process) == "written"
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert sqlite.has_log(path)


def test_read_only_file(path: Path) -> None:
    path.chmod(0o444)
    with running("show_mode", path, drop_root=True) as process:
        assert said(process) == "read stored"
        assert said(process).startswith("ProjectReadOnlyError")


def test_read_only_folder(path: Path) -> None:
    before = path.read_bytes()
    path.parent.chmod(0o555)
    with running("show_mode", path, drop_root=True) as process:
        assert said(process) == "read stored"
        assert said(process).startswith("ProjectReadOnlyError")
    assert path.read_bytes() == before
    assert os.listdir(path.parent) == [path.name]


def test_read_only_folder_with_the_log_of_a_killed_process(path: Path) -> None:
    """What the log holds is shown, although it cannot be moved into the file here."""
    _leave_log(path)
    for file in path.parent.iterdir():
        file.chmod(0o444)
    path.parent.chmod(0o555)
    with running("show_mode", path, drop_root=True) as process:
        assert said(process) == "read written before the end"
        assert said(process).startswith("ProjectReadOnlyError")


def test_read_only_folder_with_a_log_that_cannot_be_read(path: Path) -> None:
    """Never an older state in silence: the log belongs to the project."""
    _leave_log(path)
    path.with_name(path.name + "-shm").unlink()
    for file in path.parent.iterdir():
        file.chmod(0o444)
    path.parent.chmod(0o555)
    with running("show_mode", path, drop_root=True) as process:
        answer = said(process)
    assert answer.startswith("ProjectReadOnlyError")
    assert f"{path.name}-wal" in answer


def test_file_of_another_user(path: Path) -> None:
    path.chmod(0o000)
    with running("show_mode", path, drop_root=True) as process:
        assert said(process).startswith("ProjectReadOnlyError")


@pytest.mark.usefixtures("fixed")
def test_read_only_medium_is_opened_immutable(path: Path) -> None:
    before = path.read_bytes()
    with open_project(path) as project:
        assert project.mode == "immutable"
        assert project.document(1, frozenset({"undecided"})).annotations.entities  # type: ignore[arg-type]
        with pytest.raises(ProjectReadOnlyError) as caught:
            project.actions.note(1, "never")
        assert "copy the project" in caught.value.hint
        assert os.listdir(path.parent) == [path.name]
    assert path.read_bytes() == before


@pytest.mark.usefixtures("fixed")
def test_read_only_medium_with_a_log_is_not_read_without_it(path: Path) -> None:
    _leave_log(path)
    assert mode_for(path) == "read"
    with open_project(path) as project:
        progress = project.document_state(1).progress
        assert progress is not None
        assert progress.note == "written before the end"
        with pytest.raises(ProjectReadOnlyError):
            project.actions.note(1, "never")


@pytest.mark.usefixtures("fixed")
def test_doctor_on_a_read_only_medium(path: Path) -> None:
    before = path.read_bytes()
    found = examine(path)
    assert found.sound
    assert found.facts["mode"] == "immutable"
    assert [finding.check for finding in found.findings if "not looked at" in finding.message] == [
        "words"
    ]
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("medium", "file", "folder", "log", "mode"),
    [
        (False, True, True, False, "write"),
        (False, True, True, True, "write"),
        (False, False, True, False, "read"),
        (False, True, False, False, "read"),
        (False, False, False, True, "read"),
        (True, True, True, False, "immutable"),
        (True, False, False, False, "immutable"),
        (True, True, True, True, "read"),
    ],
)
def test_mode(
    path: Path,
    medium: bool,
    file: bool,
    folder: bool,
    log: bool,
    mode: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if log:
        path.with_name(path.name + "-wal").write_bytes(b"log")
    rights = {path: file, path.resolve().parent: folder}
    monkeypatch.setattr(sqlite, "is_read_only_medium", lambda path: medium)
    monkeypatch.setattr(os, "access", lambda place, how: rights[place])
    assert mode_for(path) == mode


def test_wal_file_in_a_read_only_folder_is_immutable(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file that was not settled, without its log: readers of WAL files need a place for their index."""
    copy = path.with_name("copy.sciextract")
    with open_project(path) as project:
        project.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        shutil.copyfile(path, copy)
    monkeypatch.setattr(os, "access", lambda place, how: False)
    assert mode_for(copy) == "immutable"
    with open_project(copy) as project:
        assert project.numbers() == [1]
    assert not copy.with_name(copy.name + "-shm").exists()
