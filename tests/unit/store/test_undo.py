"""Undo and redo: events that turn an earlier event around."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from sciextract.documents.annotations import Layer, State
from sciextract.errors import UndoRefusedError
from sciextract.store import Completeness, EntityRef, LinkRef, Project, RelationRef, open_project
from sciextract.store.actions.api import Actions
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
    relation,
    reopened,
    spread,
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


@pytest.mark.parametrize(
    "act",
    [
        lambda actions: actions.reject(1, EntityRef("E1")),
        lambda actions: actions.merge(1, "C1", "C2"),
        lambda actions: actions.split(1, "C1", "E2"),
        lambda actions: actions.join(1, "E3", "C2"),
        lambda actions: actions.leave(1, "E4"),
        lambda actions: actions.new_cluster(1, ["E1", "E4"]),
        lambda actions: actions.set_label(1, EntityRef("E1"), "Task"),
        lambda actions: actions.add_relation(1, "E1", "E3", "Like"),
        lambda actions: actions.mark_done(1),
    ],
    ids=["cascade", "merge", "split", "join", "leave", "new", "label", "add", "done"],
)
def test_undo_and_redo_of_actions_are_exact(
    project: Project, act: Callable[[Actions], object]
) -> None:
    put(project, *FIVE, *TWO_CLUSTERS, relation("R1", "E1", "E2", "Like"))
    before = all_state(project)
    act(project.actions)
    after = all_state(project)
    assert after != before
    project.undo()
    assert all_state(project) == before
    project.redo()
    assert all_state(project) == after


def test_undo_of_bulk_actions_in_several_documents(project: Project) -> None:
    proposals(project)
    before = all_state(project)
    project.actions.accept_above(0.0)
    spread(project, 1, "E2")
    assert len(all_state(project)[2]) == 2
    event, outcome = project.undo()
    assert (event.kind, outcome.documents) == ("all identical in the project", 2)
    project.undo()
    assert all_state(project) == before


def test_undo_of_a_run_and_of_an_import(project: Project) -> None:
    put(project, *FIVE)
    before = all_state(project)
    predict(project, guess("P1", place("tuned")))
    project.undo()
    assert all_state(project) == before
    project.undo()
    assert all_state(project) == {}
    assert project.numbers() == []
    project.redo()
    assert all_state(project) == before


def test_an_import_after_its_undo_brings_everything_back(project: Project) -> None:
    put(project, *FIVE, *TWO_CLUSTERS)
    before = states(project.document_state(1))
    project.undo()
    assert put(project, *FIVE, *TWO_CLUSTERS).documents == 1
    assert states(project.document_state(1)) == before


def test_undo_goes_back_to_the_beginning_and_redo_to_the_end_over_restarts(
    project: Project,
) -> None:
    proposals(project)
    steps = [all_state(project)]
    actions = project.actions
    acts: list[Callable[[], object]] = [
        lambda: actions.accept(1, RelationRef("R1")),
        lambda: actions.reject(1, EntityRef("E1")),
        lambda: actions.add_entity(1, [place("parts")], "Task"),
        lambda: actions.note(1, "odd"),
    ]
    for act in acts:
        act()
        steps.append(all_state(project))
    again = project
    for state in reversed(steps[:-1]):
        again = reopened(again)
        again.undo()
        assert all_state(again) == state
    for state in steps[1:]:
        again = reopened(again)
        again.redo()
        assert all_state(again) == state
    with pytest.raises(UndoRefusedError, match="ann has nothing to redo"):
        again.redo()
    again.close()


def test_nothing_to_undo_and_nothing_to_redo_write_nothing(bob: Project) -> None:
    before = bob.connection.total_changes, len(bob.log())
    with pytest.raises(UndoRefusedError, match="person:bob has nothing to undo"):
        bob.undo()
    with pytest.raises(UndoRefusedError, match="person:bob has nothing to redo"):
        bob.redo()
    assert (bob.connection.total_changes, len(bob.log())) == before


def test_everybody_undoes_their_own_actions(project: Project, bob: Project) -> None:
    put(project, *FIVE)
    project.actions.reject(1, EntityRef("E1"))
    bob.actions.reject(1, EntityRef("E2"))
    assert project.undo()[0].author == "person:ann"
    assert bob.undo()[0].author == "person:bob"


def test_a_new_action_ends_what_can_be_redone(project: Project, bob: Project) -> None:
    put(project, *FIVE)
    project.actions.flag(1)
    project.undo()
    bob.actions.note(1, "the other's actions do not matter")
    project.actions.reject(1, EntityRef("E1"))
    with pytest.raises(UndoRefusedError, match="ann has nothing to redo"):
        project.redo()


def test_mentions_that_an_import_put_into_two_clusters_may_go_and_come_back(
    project: Project,
) -> None:
    put(project, *FIVE, cluster("C1", "E1", "E2", "E3"), cluster("C2", "E3", "E4", "E5"))
    before = all_state(project)
    project.actions.leave(1, "E3")
    project.undo()
    assert all_state(project) == before


def test_an_old_event_can_be_undone_by_number_when_nothing_depends_on_it(project: Project) -> None:
    put(project, *FIVE)
    event = project.actions.reject(1, EntityRef("E1")).event_id
    project.actions.reject(1, EntityRef("E2"))
    project.undo(event)
    assert states(project.document_state(1))["E1"] is State.IMPORTED
    with pytest.raises(UndoRefusedError, match=f"event {event} .* is undone already"):
        project.undo(event)


def test_whoever_undoes_can_redo(project: Project, bob: Project) -> None:
    put(project, *FIVE)
    bob.actions.note(1, "x")
    event = project.actions.flag(1).event_id
    bob.undo(event)
    with pytest.raises(UndoRefusedError, match="person:ann has nothing to redo"):
        project.redo()
    assert bob.redo()[0].id == event


def test_a_run_in_the_background_can_be_undone_by_number_and_redone(project: Project) -> None:
    put(project)
    predict(project, guess("E1", place("net")), background=True)
    event = project.log(1)[0].id
    project.undo(event)
    assert project.document_state(1).entities == []
    project.redo()
    assert states(project.document_state(1)) == {"E1": State.UNDECIDED}


def test_what_happened_in_between_and_was_taken_back_does_not_stand_in_the_way(
    project: Project,
) -> None:
    put(project, *FIVE, cluster("C1", "E1", "E2", "E3"), cluster("C2", "E3", "E4", "E5"))
    before = all_state(project)
    project.actions.reject(1, LinkRef("C1", "E3"))
    project.actions.accept(1, LinkRef("C2", "E3"))
    for turn in (project.undo, project.redo, project.undo, project.undo):
        turn()
    assert all_state(project) == before


def test_completeness_comes_back(project: Project) -> None:
    proposals(project)
    project.actions.mark_done(1, [Layer.ENTITIES], "accept")
    project.undo()
    assert set(states(project.document_state(1)).values()) == {State.UNDECIDED}
    project.redo()
    project.actions.accept(1, LinkRef("C1", "E3"))
    project.undo()
    progress = project.document_state(1).progress
    assert progress is not None
    assert (progress.entities, progress.coreference) == ("done", "untouched")


def test_a_layer_that_others_began_since_is_no_reason_to_refuse(
    project: Project, bob: Project
) -> None:
    put(project, *FIVE)
    project.actions.accept(1, EntityRef("E1"))
    project.undo()
    bob.actions.accept(1, EntityRef("E2"))
    project.redo()
    assert states(project.document_state(1))["E1"] is State.ACCEPTED


def test_a_layer_stays_begun_while_later_decisions_hold(project: Project, bob: Project) -> None:
    put(project, *FIVE)
    project.actions.accept(1, EntityRef("E1"))
    bob.actions.accept(1, EntityRef("E2"))
    project.undo()
    progress = project.document_state(1).progress
    assert progress is not None
    assert progress.entities == "in progress"
    assert states(project.document_state(1))["E2"] is State.ACCEPTED


def test_what_was_said_of_a_layer_itself_is_turned_exactly(project: Project, bob: Project) -> None:
    put(project, *FIVE)
    bob.actions.accept(1, EntityRef("E1"))
    project.actions.set_completeness(1, Completeness.UNTOUCHED)
    before = all_state(project)
    project.undo()
    project.redo()
    assert all_state(project) == before


def test_two_windows_of_one_author_undo_the_same_history(project: Project, tmp_path: Path) -> None:
    put(project, *FIVE)
    with open_project(project.path, "ann") as other:
        project.actions.reject(1, EntityRef("E1"))
        other.actions.reject(1, EntityRef("E2"))
        assert project.undo()[0].params == {"entity": "E2"}
        assert other.undo()[0].params == {"entity": "E1"}
