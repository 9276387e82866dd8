"""One whole file after closing, and what a killed process leaves."""

from __future__ import annotations

import os
import shutil
import signal
from pathlib import Path

import pytest

from sciextract.errors import ProjectReadOnlyError
from sciextract.store import Project, open_project
from sciextract.store.filesystem import is_network, mount_types
from sciextract.store.maintenance.doctor import examine
from tests.unit.store.processes import running, said
from tests.unit.store.projects import guess, new_project, place, put


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A closed project with one abstract."""
    with new_project(tmp_path) as project:
        put(project, guess("e", place("net")))
    return project.path


def _note(project: Project) -> str:
    progress = project.document_state(1).progress
    return progress.note if progress else "not there"


@pytest.mark.parametrize("network", ["", "1"], ids=["local", "network"])
def test_one_whole_file_after_close(
    path: Path, network: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SCIEXTRACT_NETWORK_FS", network)
    with open_project(path) as project:
        project.actions.note(1, "kept")
    assert os.listdir(path.parent) == [path.name]
    copy = path.parent / "folder" / "alone.sciextract"
    copy.parent.mkdir()
    shutil.copyfile(path, copy)
    with open_project(copy) as project:
        assert _note(project) == "kept"


def test_reading_leaves_nothing_behind(path: Path) -> None:
    before = path.read_bytes()
    with open_project(path, read=True) as project:
        assert project.numbers() == [1]
        with pytest.raises(ProjectReadOnlyError):
            project.connection.execute("DELETE FROM progress")
    assert os.listdir(path.parent) == [path.name]
    assert path.read_bytes() == before


def test_journal_modes(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with open_project(path) as project:
        assert _pragma(project, "journal_mode") == "wal"
        assert _pragma(project, "synchronous") == 2
        assert _pragma(project, "foreign_keys") == 1
    monkeypatch.setenv("SCIEXTRACT_NETWORK_FS", "1")
    with open_project(path) as project:
        assert _pragma(project, "journal_mode") == "delete"
        assert _pragma(project, "synchronous") == 2
        project.actions.note(1, "over the network")
        assert not project.path.with_name(path.name + "-wal").exists()
    assert examine(path).facts["network"]


def _pragma(project: Project, name: str) -> object:
    return project.connection.execute(f"PRAGMA {name}").fetchone()[0]


def test_mount_table_tells_network_file_systems(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = f"36 25 0:32 / {tmp_path} rw,relatime shared:1 - nfs4 server:/home rw\n"
    mounts = tmp_path / "mountinfo"
    mounts.write_text(f"25 1 8:1 / / rw - ext4 /dev/sda1 rw\n{table}")
    monkeypatch.setattr("sciextract.store.filesystem._MOUNTS", mounts)
    assert is_network(tmp_path / "below" / "p.sciextract")
    assert not is_network(tmp_path.parent / "p.sciextract")
    assert mount_types("1 2 3 / /my\\040disk rw - cifs //server rw") == {"/my disk": "cifs"}


def test_killed_process_leaves_its_work(path: Path) -> None:
    with running("note_and_stay", path) as process:
        assert said(process) == "written"
        process.send_signal(signal.SIGKILL)
        process.wait()
    with open_project(path) as project:
        assert _note(project) == "written before the end"
    assert examine(path).sound
    assert os.listdir(path.parent) == [path.name]
