"""Whether something is gone since the last close."""

from __future__ import annotations

from sciextract.store import Project
from sciextract.store.maintenance.checks import count_drops
from tests.unit.store.projects import entity, place, put, reopened


def test_nothing_is_gone_after_work_and_close(project: Project) -> None:
    assert count_drops(project.connection) == []
    put(project, entity("E1", place("net")))
    again = reopened(project)
    assert count_drops(again.connection) == []
    again.undo()
    assert count_drops(again.connection) == []
    again.close()


def test_what_went_without_an_event_is_told(project: Project) -> None:
    put(project, entity("E1", place("net")))
    again = reopened(project)
    again.connection.execute("DELETE FROM summary")
    again.connection.execute("DELETE FROM entity")
    again.connection.execute("DELETE FROM progress")
    assert count_drops(again.connection) == [
        "documents: 1 at the last close, 0 now",
        "items: 1 at the last close, 0 now",
    ]
    again.close()
