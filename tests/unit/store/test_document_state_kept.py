"""The document that is kept in memory is never older than the file."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from sciextract.documents.annotations import State
from sciextract.errors import ActionRefusedError, SciextractError
from sciextract.store import (
    DocumentState,
    EntityRef,
    EntityRow,
    LinkRef,
    LinkRow,
    Project,
    documents,
    open_project,
)
from sciextract.store.state_tables import load_rows
from tests.app.review.abstracts import AGAIN, SCIERC, TEXT, gold, project_with
from tests.unit.store.projects import spread


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    with project_with(tmp_path, gold(), (TEXT, AGAIN)) as found:
        yield found


def fresh(project: Project, number: int) -> DocumentState:
    """What is in the file."""
    connection = project.connection
    return DocumentState(documents.load(connection, number), load_rows(connection, number))


def check(project: Project) -> None:
    for number in project.numbers():
        kept, read = project.document_state(number), fresh(project, number)
        assert kept.before == read.before
        assert kept.stored == read.stored


def test_an_action_reads_nothing_that_it_does_not_change(project: Project) -> None:
    first = project.document_state(1).entity("task")
    project.actions.accept(1, EntityRef("tagger1"))
    after = project.document_state(1)
    assert after.entity("task") is first
    assert after.entity("tagger1") == fresh(project, 1).entity("tagger1")


def test_changes_of_others_are_seen(project: Project) -> None:
    check(project)
    with open_project(project.path, "bob") as other:
        other.actions.reject(1, EntityRef("task"))
    found = project.document_state(1).entity("task")
    assert found is not None
    assert found.state is State.REJECTED
    check(project)


def test_what_others_write_without_the_log_is_seen(project: Project) -> None:
    check(project)
    with open_project(project.path, "bob") as other, other.writing() as connection:
        connection.execute("UPDATE entity SET label = 'Task' WHERE id = 'f1'")
    check(project)


def test_what_was_not_done_is_not_kept(project: Project) -> None:
    project.document_state(1)
    with pytest.raises(ZeroDivisionError), project.writing():
        work = project.document_state(1)
        row = work.entity("task")
        assert row is not None
        work.drop(row)
        project.save(work, project.context(1))
        raise ZeroDivisionError
    assert project.document_state(1).entity("task") == row
    check(project)


def test_a_refusal_leaves_no_trace(project: Project) -> None:
    with pytest.raises(ActionRefusedError):
        project.actions.add_relation(1, "task", "task", "USED-FOR")
    check(project)


def test_a_draft_that_is_changed_changes_no_other(project: Project) -> None:
    mine = project.document_state(1)
    row = mine.entity("task")
    assert row is not None
    mine.drop(row)
    assert project.document_state(1).entity("task") == row


@pytest.mark.parametrize("seed", range(5))
def test_actions_undo_and_redo_at_random(project: Project, seed: int) -> None:
    chance = random.Random(seed)
    for _ in range(40):
        _act(project, chance)
        check(project)


def _act(project: Project, chance: random.Random) -> None:
    doc = project.document_state(1)
    rows: list[EntityRow] = list(doc.all_entities)
    gone = [LinkRow("gone", "gone", None, State.ADDED, 0, 0)]
    if not rows:
        with suppress(SciextractError):
            project.undo()
        return
    entity, link = chance.choice(rows).id, chance.choice(doc.links or gone)
    actions = project.actions
    deeds: list[Callable[[], object]] = [
        lambda: actions.accept(1, EntityRef(entity)),
        lambda: actions.reject(1, EntityRef(entity)),
        lambda: actions.set_label(1, EntityRef(entity), chance.choice(SCIERC.entity_labels)),
        lambda: actions.move_edge(1, entity, "end", chance.choice((-1, 1))),
        lambda: actions.leave(1, entity),
        lambda: actions.reject(1, LinkRef(link.cluster_id, link.entity_id)),
        lambda: actions.invert(1, (chance.choice(doc.relations).id if doc.relations else "gone")),
        lambda: spread(project, 1, entity),
        lambda: actions.accept_above(0.5, 2),
        project.undo,
        project.undo,
        project.redo,
    ]
    with suppress(SciextractError):
        chance.choice(deeds)()
