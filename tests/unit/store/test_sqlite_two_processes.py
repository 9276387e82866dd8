"""Two processes on one project: a writer waits, never fails silently, and nothing is lost."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from sciextract.errors import ProjectBusyError, ProjectReplacedError
from sciextract.store import Project, open_project, sqlite
from sciextract.store.sqlite_errors import problems
from sciextract.store.state_tables import find_differing
from tests.unit.store.processes import running, said, tell
from tests.unit.store.projects import guess, new_project, place, put

pytestmark = pytest.mark.full


@pytest.fixture(params=["", "1"], ids=["local", "network"])
def path(tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A closed project with one abstract, on a local and on a network file system."""
    monkeypatch.setenv("SCIEXTRACT_NETWORK_FS", request.param)
    with new_project(tmp_path) as project:
        put(project, guess("e", place("net")))
    return project.path


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> Iterator[float]:
    """Waiting takes a moment, not half a minute."""
    monkeypatch.setattr(sqlite, "BUSY_SECONDS", 0.2)
    yield 0.2


def test_locked_project_is_busy_after_waiting(path: Path, impatient: float) -> None:
    with open_project(path) as project, running("hold", path) as other:
        assert said(other) == "held"
        begin = time.monotonic()
        with pytest.raises(ProjectBusyError, match="another process has been writing") as caught:
            project.actions.note(1, "too early")
        assert time.monotonic() - begin >= impatient
        assert "try again" in caught.value.hint
        tell(other)
        assert other.wait(30) == 0
        project.actions.note(1, "in time")
        assert _note(project) == "in time"


def test_waiting_is_said_after_a_second(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with open_project(path) as project, running("hold", path, 1.5) as other:
        assert said(other) == "held"
        tell(other)
        project.actions.note(1, "after waiting")
        assert _note(project) == "after waiting"
    assert [record for record in caplog.messages if "waiting for another process" in record]


def test_writer_waits_until_the_lock_is_free(path: Path) -> None:
    with open_project(path) as project, running("hold", path, 0.3) as other:
        assert said(other) == "held"
        tell(other)
        begin = time.monotonic()
        assert project.actions.note(1, "after waiting").event_id is not None
        assert time.monotonic() - begin > 0.1
        assert _note(project) == "after waiting"


def test_two_writers_lose_nothing(path: Path) -> None:
    with running("note", path, "ann", 200) as ann, running("note", path, "ben", 200) as ben:
        for process in (ann, ben):
            assert said(process) == "ready"
        for process in (ann, ben):
            tell(process)
        for process in (ann, ben):
            assert said(process) == "done"
            assert process.wait(30) == 0
    with open_project(path) as project:
        notes = [event for event in project.log() if event.kind == "note"]
        authors = [note.author for note in notes]
        assert {name: authors.count(name) for name in set(authors)} == {
            "person:ann": 200,
            "person:ben": 200,
        }
        assert _note(project) in ("ann 199", "ben 199")
        assert find_differing(project.connection) == []
        assert problems(project.connection) == []


def test_coming_and_going_at_once_fails_nobody(path: Path) -> None:
    """The last one to close settles the file while the next one opens it."""
    with (
        running("come_and_go", path, "ann", 25) as ann,
        running("come_and_go", path, "ben", 25) as ben,
    ):
        for process in (ann, ben):
            assert said(process) == "ready"
        for process in (ann, ben):
            tell(process)
        for process in (ann, ben):
            assert said(process) == "done"
            assert process.wait(30) == 0
    with open_project(path) as project:
        assert sum(event.kind == "note" for event in project.log()) == 50
        assert problems(project.connection) == []


def test_reader_sees_what_another_writes(path: Path) -> None:
    with open_project(path) as mine, open_project(path, "ben", read=True) as seen:
        before = seen.data_version()
        mine.actions.note(1, "news")
        assert seen.data_version() != before
        assert _note(seen) == "news"


def test_closing_does_not_wait_for_others(path: Path) -> None:
    project = open_project(path)
    project.actions.note(1, "x")
    with running("note_and_stay", path) as other:
        assert said(other) == "written"
        begin = time.monotonic()
        project.close()
        assert time.monotonic() - begin < 5
    with open_project(path) as again:
        assert _note(again) == "written before the end"


def test_long_reader_stops_no_writer(tmp_path: Path) -> None:
    """On a local file system; the last one to close makes one file of it."""
    project = new_project(tmp_path)
    put(project)
    with running("read", project.path) as reader:
        assert said(reader) == "reading"
        begin = time.monotonic()
        project.actions.note(1, "while it reads")
        project.close()
        assert time.monotonic() - begin < 5
        tell(reader)
        assert reader.wait(30) == 0
    with open_project(project.path) as again:
        assert _note(again) == "while it reads"
    assert [file.name for file in tmp_path.iterdir()] == [project.path.name]


def test_killed_writer_does_not_stand_in_the_way(path: Path, impatient: float) -> None:
    with running("hold", path) as other:
        assert said(other) == "held"
        other.kill()
        other.wait()
        with open_project(path) as project:
            project.actions.note(1, "goes on")
            assert _note(project) == "goes on"


def _note(project: Project) -> str:
    progress = project.document_state(1).progress
    return progress.note if progress else "not there"


_LOOK = """
import sys
from sciextract.store import open_project
with open_project(sys.argv[1], read=True) as project:
    print(project.connection.execute("SELECT sum(flagged) FROM progress").fetchone()[0])
"""


def test_a_second_opening_in_one_process_costs_the_first_no_lock(path: Path) -> None:
    """Closing a plain descriptor of the file would drop SQLite's locks, and lose what follows."""
    with open_project(path, "ann") as desk:
        desk.actions.note(1, "x")
        open_project(path, "ann").close()
        seen = [_seen(path)]
        desk.actions.flag(1)
        seen.append(_seen(path))
    assert seen == ["0", "1"]


def _seen(path: Path) -> str:
    words = [sys.executable, "-c", _LOOK, str(path)]
    root = str(Path(__file__).parents[3])
    done = subprocess.run(
        words, capture_output=True, text=True, check=True, env={**os.environ, "PYTHONPATH": root}
    )
    return done.stdout.strip()


def test_a_file_that_was_replaced_is_left_alone_and_what_was_done_is_saved_beside(
    path: Path,
) -> None:
    other = Path(shutil.copy(path, path.with_name("other")))
    project = open_project(path)
    project.actions.note(1, "before")
    os.replace(other, path)
    content = path.read_bytes()
    with pytest.raises(ProjectReplacedError, match="it was replaced by another file"):
        project.actions.note(1, "after")
    saved = path.with_name("p.replaced.sciextract")
    with pytest.raises(ProjectReplacedError, match="saved as") as caught:
        project.close()
    assert caught.value.hint == f"sciextract merge {saved} --project {path}"
    assert path.read_bytes() == content
    assert not sqlite.has_log(path)
    for file, note in ((path, ""), (saved, "before")):
        with open_project(file) as found:
            assert problems(found.connection) == []
            assert _note(found) == note
    assert {file.name for file in path.parent.iterdir()} == {path.name, saved.name}


def test_a_file_that_is_gone_is_not_written_until_it_is_back(path: Path) -> None:
    aside = path.with_name("aside")
    with open_project(path) as project:
        project.actions.note(1, "before")
        path.rename(aside)
        with pytest.raises(ProjectReplacedError, match="moved or removed"):
            project.actions.note(1, "while away")
        aside.rename(path)
        assert _note(project) == "before"
        project.actions.note(1, "back again")
    with open_project(path) as project:
        assert _note(project) == "back again"
