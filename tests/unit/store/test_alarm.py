"""Whether something is gone since the last close, and the marks of open sessions."""

from __future__ import annotations

import pytest

from sciextract.errors import ActionRefusedError
from sciextract.store import EntityRef, Project, connection, open_project
from sciextract.store.maintenance import findings
from tests.unit.store.projects import entity, place, put, reopened


def marks(project: Project) -> int:
    return int(project.connection.execute("SELECT count(*) FROM session").fetchone()[0])


def test_nothing_is_gone_after_work_and_close(project: Project) -> None:
    assert findings.drops(project.connection) == []
    put(project, entity("E1", place("net")))
    again = reopened(project)
    assert findings.drops(again.connection) == []
    again.undo()
    assert findings.drops(again.connection) == []
    again.close()


def test_what_went_without_an_event_is_told(project: Project) -> None:
    put(project, entity("E1", place("net")))
    again = reopened(project)
    again.connection.execute("DELETE FROM summary")
    again.connection.execute("DELETE FROM entity")
    again.connection.execute("DELETE FROM progress")
    assert findings.drops(again.connection) == [
        "documents: 1 at the last close, 0 now",
        "items: 1 at the last close, 0 now",
    ]
    again.close()


def test_only_who_writes_leaves_a_mark_and_takes_it_away(project: Project) -> None:
    assert marks(project) == 0
    put(project)
    assert marks(project) == 1
    with open_project(project.path, "bob") as reader:
        reader.log()
        assert (marks(reader), reader.unclean) == (1, [])
        reader.actions.flag(1)
        assert marks(reader) == 2
    assert marks(project) == 1


def test_a_refused_first_action_leaves_no_mark(project: Project) -> None:
    put(project)
    again = reopened(project)
    with pytest.raises(ActionRefusedError):
        again.actions.accept(1, EntityRef("E9"))
    assert again.actions.accept_above(0.5, 1).event_id is None
    assert marks(again) == 0
    again.close()


def test_marks_of_processes_that_are_gone_are_found_and_forgotten(project: Project) -> None:
    put(project)
    project.connection.execute("UPDATE session SET pid = ?", (2**22 + 1,))
    (left,) = connection.stale_sessions(project.connection)
    with open_project(project.path) as other:
        assert other.unclean == [left]
    connection.forget(project.connection, [left])
    assert connection.stale_sessions(project.connection) == []


def test_marks_of_other_machines_say_nothing(project: Project) -> None:
    put(project)
    project.connection.execute("UPDATE session SET pid = 1, host = 'elsewhere'")
    assert connection.stale_sessions(project.connection) == []
