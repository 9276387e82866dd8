"""A project that another program writes into while it is open, and the log that sciextract copies into it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from sciextract.errors import ProjectDamagedError, ProjectReplacedError
from sciextract.store import create_project, open_project, sqlite
from sciextract.store.sqlite_errors import problems
from tests.unit.store.projects import guess, new_project, place, put, small_schema


@pytest.fixture
def path(tmp_path: Path) -> Path:
    with new_project(tmp_path) as project:
        put(project, guess("e", place("net")))
    return project.path


@pytest.mark.parametrize("other", ["an older state", "another project", "what is no project"])
def test_a_file_that_was_overwritten_in_place_keeps_what_was_written_into_it(
    path: Path, tmp_path: Path, other: str
) -> None:
    """As ``cp`` and ``rsync --inplace`` do: the inode stays."""
    copy = Path(shutil.copy(path, tmp_path / "older"))
    with open_project(path) as project:
        project.actions.note(1, "in the file")
    if other == "another project":
        copy.unlink()
        create_project(copy, small_schema()).close()
    elif other == "what is no project":
        copy.write_bytes(b"no project " * 5_000)
    project = open_project(path)
    project.actions.note(1, "in the log")
    content = copy.read_bytes()
    path.write_bytes(content)
    with pytest.raises(ProjectReplacedError, match="overwritten in place"):
        project.actions.note(1, "after")
    with pytest.raises(ProjectReplacedError, match=r"p\.aside-\d+\.sciextract-wal"):
        project.close()
    assert path.read_bytes() == content
    assert not sqlite.has_log(path)


def test_a_long_log_is_copied_into_the_file_and_other_processes_notice_nothing(path: Path) -> None:
    with open_project(path) as project, open_project(path) as other:
        size = path.stat().st_size
        for number in range(30):
            project.actions.note(1, f"{number} note " * 100_000)
        assert path.stat().st_size > size
        assert path.with_name(path.name + "-wal").stat().st_size < 3 * sqlite._LOG_BYTES
        other.actions.note(1, "by another one")
        project.actions.flag(1)
    with open_project(path) as found:
        assert problems(found.connection) == []
        progress = found.document_state(1).progress
        assert progress is not None and progress.note == "by another one"


def test_a_log_of_another_file_is_set_aside(path: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.sciextract"
    create_project(other, small_schema()).close()
    with open_project(other) as project:
        put(project, guess("f", place("net")))
        shutil.copy(f"{other}-wal", f"{path}-wal")
    content = path.read_bytes()
    with pytest.raises(ProjectDamagedError, match="does not fit"):
        open_project(path)
    assert path.read_bytes() == content
    with open_project(path) as project:
        assert problems(project.connection) == []
