"""Undo and redo refuse what others have built on, and say who did what."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from sciextract.documents.annotations import State
from sciextract.errors import UndoRefusedError
from sciextract.store import EntityRef, Project, RelationRef, open_project
from tests.unit.store.projects import (
    OTHER_TEXT,
    all_state,
    cluster,
    document,
    entity,
    guess,
    guess_cluster,
    guess_relation,
    place,
    predict,
    put,
    put_all,
    states,
)

WORDS = ("graph", "net", "learns", "reads", "network")
FIVE = tuple(entity(f"E{n}", place(word)) for n, word in enumerate(WORDS, start=1))
TWO_CLUSTERS = (cluster("C1", "E1", "E2", "E3"), cluster("C2", "E4", "E5"))


@pytest.fixture
def bob(project: Project) -> Iterator[Project]:
    with open_project(project.path, "bob") as opened:
        yield opened


def proposals(project: Project) -> None:
    put_all(project, [(document(), []), (document(OTHER_TEXT, "e"), [])])
    predict(
        project,
        *(
            guess("E1", place("graph")),
            guess("E2", place("net"), "Task"),
            guess("E3", place("learns")),
        ),
        *(guess_relation("R1", "E1", "E2"), guess_cluster("C1", "E1", "E3")),
    )


def test_a_refusal_names_who_and_which_event(project: Project, bob: Project) -> None:
    put(project, *FIVE)
    project.actions.accept(1, EntityRef("E1"))
    event = bob.actions.set_label(1, EntityRef("E1"), "Task").event_id
    before = all_state(project)
    with pytest.raises(UndoRefusedError) as refusal:
        project.undo()
    assert f"person:bob did 'label' (event {event}) changed the same entity in 'd'" in (
        refusal.value.message
    )
    assert refusal.value.hint == f"undo that first: sciextract undo --event {event}"
    assert all_state(project) == before


def test_what_a_refusal_advises_works(project: Project, bob: Project) -> None:
    put(project, *FIVE)
    project.actions.accept(1, EntityRef("E1"))
    event = bob.actions.set_label(1, EntityRef("E1"), "Task").event_id
    project.undo(event)
    project.undo()
    assert states(project.document_state(1))["E1"] is State.IMPORTED


def test_an_import_that_others_built_on_is_not_undone(project: Project, bob: Project) -> None:
    put(project, *FIVE)
    bob.actions.add_relation(1, "E1", "E2", "Like")
    with pytest.raises(UndoRefusedError, match="since then person:bob did 'add relation'"):
        project.undo()


def test_an_entity_that_a_relation_needs_is_not_taken_away(project: Project, bob: Project) -> None:
    put(project, *FIVE)
    bob.actions.note(1, "the layer is in progress")
    project.actions.add_entity(1, [place("parts")], "Task")
    added = next(
        mention.id for mention in project.document_state(1).entities if mention.state is State.ADDED
    )
    bob.actions.add_relation(1, "E1", added, "Uses")
    with pytest.raises(
        UndoRefusedError, match=r"person:bob did 'add relation'.*\(a relation needs"
    ):
        project.undo()


def test_an_acceptance_that_a_relation_needs_is_not_taken_back(
    project: Project, bob: Project
) -> None:
    proposals(project)
    project.actions.accept(1, EntityRef("E1"))
    bob.actions.accept(1, RelationRef("R1"))
    with pytest.raises(UndoRefusedError, match=r"person:bob did 'accept'.*\(a relation needs"):
        project.undo()


def test_a_join_is_not_undone_when_it_would_leave_a_mention_alone(
    project: Project, bob: Project
) -> None:
    put(project, *FIVE)
    project.actions.new_cluster(1, ["E1", "E2"])
    home = project.document_state(1).clusters[0].id
    project.actions.join(1, "E3", home)
    bob.actions.leave(1, "E2")
    with pytest.raises(UndoRefusedError, match=r"person:bob did 'leave'.* needs two mentions"):
        project.undo()


def test_redo_does_not_double_what_others_have_added_since(project: Project, bob: Project) -> None:
    put(project)
    project.actions.add_entity(1, [place("parts")], "Task")
    project.undo()
    event = bob.actions.add_entity(1, [place("parts")], "Task").event_id
    with pytest.raises(UndoRefusedError, match=rf"event {event}\).*the same mention is there"):
        project.redo()


def test_redo_does_not_put_a_mention_into_two_clusters(project: Project, bob: Project) -> None:
    put(project, *FIVE, *TWO_CLUSTERS[1:])
    bob.actions.leave(1, "E5")
    project.actions.new_cluster(1, ["E1", "E2"])
    project.undo()
    bob.actions.new_cluster(1, ["E2", "E3"])
    with pytest.raises(UndoRefusedError, match=r"person:bob did 'new cluster'"):
        project.redo()


def test_there_is_nothing_to_undo_about_a_schema_or_an_unknown_event(project: Project) -> None:
    with pytest.raises(UndoRefusedError, match=r"event 1 \(schema\) cannot be undone"):
        project.undo(1)
    with pytest.raises(UndoRefusedError, match="there is no action 99 in the log"):
        project.undo(99)


def test_undo_itself_is_not_undone(project: Project) -> None:
    put(project)
    project.actions.flag(1)
    project.undo()
    with pytest.raises(UndoRefusedError, match=r"event 4 \(undo\) cannot be undone"):
        project.undo(project.log(1)[0].id)
