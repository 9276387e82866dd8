"""A full disk: nothing half-written, earlier actions whole, and work goes on once there is room."""

from __future__ import annotations

from pathlib import Path

import pytest

from sciextract.errors import ProjectFullError
from sciextract.store import DocumentState, Project, open_project
from sciextract.store.actions.editing import Edit
from sciextract.store.document_state import Context
from sciextract.store.ingest import Import
from sciextract.store.maintenance import backup
from sciextract.store.maintenance.doctor import examine
from tests.unit.store import filling
from tests.unit.store.processes import running, said
from tests.unit.store.projects import new_project

FIRST = 10


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A closed project with ten long abstracts."""
    with new_project(tmp_path) as project:
        Import(project, "import:first.jsonl", {}).add(filling.many(0, FIRST))
    return project.path


def _limit(project: Project, pages: int) -> None:
    """Let the file grow by so many pages from now on."""
    used = project.connection.execute("PRAGMA page_count").fetchone()[0]
    project.connection.execute(f"PRAGMA max_page_count = {used + pages}")


def _unlimited(project: Project) -> None:
    project.connection.execute("PRAGMA max_page_count = 1073741823")


def test_import_stops_between_batches(path: Path) -> None:
    with open_project(path) as project:
        _limit(project, 60)
        run, batches = Import(project, "import:more.jsonl", {}), 0
        with pytest.raises(ProjectFullError, match="disk is full") as caught:
            for batches in range(1_000):
                run.add(filling.many(100 + 5 * batches, 5))
        assert "free some disk space" in caught.value.hint
        assert 0 < batches < 1_000
        assert len(project.numbers()) == FIRST + 5 * batches == FIRST + run.counts.documents
        _unlimited(project)
        run.add(filling.many(100 + 5 * batches, 5))
        assert len(project.numbers()) == FIRST + 5 * (batches + 1)
        assert [event.kind for event in project.log()] == ["import", "import", "schema"]
    assert examine(path).sound


def test_bulk_action_is_all_or_nothing(path: Path) -> None:
    def accept_and_note(doc: DocumentState, context: Context) -> None:
        filling._accept_all(doc, context)
        Edit(doc, context).set_progress(note="long " * 2_000)  # more than free pages take

    with open_project(path) as project:
        project.actions.note(1, "before")
        before = project.log()
        _limit(project, 0)
        with pytest.raises(ProjectFullError):
            project.perform("all", {}, project.numbers(), accept_and_note)
        assert project.log() == before
        _unlimited(project)
        outcome = project.perform("all", {}, project.numbers(), accept_and_note)
        assert outcome.documents == FIRST
    assert examine(path).sound


@pytest.mark.parametrize("kind", ["import", "bulk"])
@pytest.mark.parametrize("network", ["", "1"], ids=["local", "network"])
def test_limit_of_the_operating_system(
    path: Path, kind: str, network: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The write itself fails, in the file or in its journal, in the middle of a transaction."""
    monkeypatch.setenv("SCIEXTRACT_NETWORK_FS", network)
    finished = []
    with running("fill", path, kind, path.stat().st_size + 200_000) as process:
        while (answer := said(process)).isdigit():
            finished.append(int(answer))
        assert answer == "ProjectFullError"
        assert process.wait(30) == 0
    with open_project(path) as project:
        assert len(project.numbers()) == FIRST + (5 * len(finished) if kind == "import" else 0)
        project.actions.note(1, "there is room again")
        assert examine(path).sound


def test_backup_that_does_not_fit_is_not_begun(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backup, "free_bytes", lambda folder: 10_000)
    with open_project(path) as project:
        with pytest.raises(ProjectFullError, match="10,000 are free") as caught:
            project.actions.accept_above(0.1)
        assert "remove old backups" in caught.value.hint
        assert [event.kind for event in project.log()] == ["import", "schema"]
    assert not backup.folder_of(path).exists()
