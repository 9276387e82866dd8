"""Deciding about entities: accept, reject, relabel, move, add."""

from __future__ import annotations

import json

import pytest

from sciextract.documents.annotations import Span, State
from sciextract.errors import ActionRefusedError
from sciextract.store import Completeness, EntityRef, EntityRow, Project, RelationRef
from tests.unit.store.projects import (
    TEXT,
    cluster,
    entity,
    guess,
    guess_cluster,
    guess_relation,
    place,
    predict,
    put,
    relation,
    states,
)

GRAPH, NET, LEARNS = place("graph"), place("net"), place("learns")


def row(project: Project, entity_id: str) -> EntityRow:
    found = project.document_state(1).entity(entity_id)
    assert found is not None
    return found


def refused(problem: str) -> pytest.RaisesExc[ActionRefusedError]:
    return pytest.raises(ActionRefusedError, match=problem)


def test_accepting_a_proposal_begins_the_layer(project: Project) -> None:
    put(project)
    predict(project, guess("E1", NET))
    done = project.actions.accept(1, EntityRef("E1"), seconds=2.5)
    assert row(project, "E1").state is State.ACCEPTED
    assert (done.documents, done.items, done.warnings) == (1, 1, ())
    progress = project.document_state(1).progress
    assert progress is not None
    assert progress.entities is Completeness.IN_PROGRESS
    assert progress.relations is Completeness.UNTOUCHED


def test_accepting_twice_makes_no_event(project: Project) -> None:
    put(project)
    predict(project, guess("E1", NET))
    project.actions.accept(1, EntityRef("E1"))
    events = len(project.log())
    assert project.actions.accept(1, EntityRef("E1")).event_id is None
    assert len(project.log()) == events


def test_rejecting_takes_relations_and_cluster_links_along_as_one_event(project: Project) -> None:
    put(
        project,
        *(entity("E1", GRAPH), entity("E2", NET, "Task"), entity("E3", LEARNS)),
        *(relation("R1", "E1", "E2"), relation("R2", "E3", "E1", "Like")),
        *(relation("R3", "E3", "E2"), cluster("C1", "E1", "E2", "E3")),
    )
    events = len(project.log())
    done = project.actions.reject(1, EntityRef("E1"))
    found = states(project.document_state(1))
    gone = {item for item, state in found.items() if state is State.REJECTED}
    assert gone == {"E1", "R1", "R2", "C1 E1"}
    assert done.items == 4
    assert len(project.log()) == events + 1


def test_rejecting_one_of_two_mentions_takes_the_cluster_apart(project: Project) -> None:
    put(project, entity("E1", GRAPH), entity("E2", NET), cluster("C1", "E1", "E2"))
    project.actions.reject(1, EntityRef("E1"))
    found = states(project.document_state(1))
    assert found["C1 E2"] is State.REJECTED
    assert found["E2"] is State.IMPORTED
    assert project.document(1).annotations.clusters == ()


def test_what_a_person_added_goes_without_trace_when_rejected(project: Project) -> None:
    put(project)
    project.actions.add_entity(1, [NET], "Method")
    added = project.document_state(1).entities[0]
    assert added.state is State.ADDED
    project.actions.reject(1, EntityRef(added.id))
    assert project.document_state(1).entities == []


def test_proposals_about_an_added_entity_go_with_it(project: Project) -> None:
    put(project)
    project.actions.add_entity(1, [NET], "Method")
    added = project.document_state(1).entities[0]
    predict(
        project,
        *(guess("P1", NET), guess("P2", LEARNS, "Task")),
        *(guess_relation("R1", "P1", "P2"), guess_cluster("C1", "P1", "P2")),
    )
    assert project.document_state(1).relations[0].head == added.id
    project.actions.reject(1, EntityRef(added.id))
    doc = project.document_state(1)
    assert doc.entity(added.id) is None
    assert doc.relations == []
    assert all(state is State.REJECTED for item, state in states(doc).items() if " " in item)


def test_an_edited_entity_keeps_what_it_was_over_further_edits(project: Project) -> None:
    put(project)
    predict(project, guess("E1", NET))
    project.actions.set_label(1, EntityRef("E1"), "Task")
    project.actions.move_edge(1, "E1", "start", -1)
    edited = row(project, "E1")
    assert (edited.state, edited.label, edited.score) == (State.EDITED, "Task", 0.8)
    assert edited.surface(TEXT) == "graph net"
    was = {"label": "Method", "fragments": [[NET.char_start, NET.char_end]]}
    assert json.loads(edited.was or "") == was


def test_an_added_entity_stays_added_when_edited(project: Project) -> None:
    put(project)
    project.actions.add_entity(1, [NET], "Method")
    added = project.document_state(1).entities[0].id
    project.actions.set_label(1, EntityRef(added), "Task")
    edited = row(project, added)
    assert (edited.state, edited.label, edited.was) == (State.ADDED, "Task", None)


def test_the_label_it_has_already_means_accept(project: Project) -> None:
    put(project)
    predict(project, guess("E1", NET))
    project.actions.set_label(1, EntityRef("E1"), "Method")
    assert (row(project, "E1").state, row(project, "E1").was) == (State.ACCEPTED, None)


def test_unknown_labels_are_refused_with_the_known_ones(project: Project) -> None:
    put(project, entity("E1", NET))
    with refused("no entity type 'Dog'; choose from: Method, Task"):
        project.actions.set_label(1, EntityRef("E1"), "Dog")
    with refused("no entity type ''; choose from"):
        project.actions.add_entity(1, [GRAPH], "")


def test_a_label_that_makes_relations_illegal_only_warns(project: Project) -> None:
    put(project, entity("E1", GRAPH), entity("E2", NET, "Task"), relation("R1", "E1", "E2"))
    done = project.actions.set_label(1, EntityRef("E1"), "Task")
    assert done.warnings == ("Uses from Task to Task is not a legal pair any more",)
    assert states(project.document_state(1))["R1"] is State.IMPORTED


def test_the_same_entity_is_refused(project: Project) -> None:
    put(project, entity("E1", NET), entity("E2", NET, "Task"), entity("E3", GRAPH))
    with refused("'net' is a Method already"):
        project.actions.set_label(1, EntityRef("E2"), "Method")
    with refused("'net' is a Method already"):
        project.actions.add_entity(1, [NET], "Method")
    with refused("'net' is a Method already"):
        project.actions.set_fragments(1, "E3", [NET])


def test_an_edit_to_what_is_proposed_accepts_the_proposal_and_takes_everything_along(
    project: Project,
) -> None:
    put(project)
    shorter, other = guess("E1", NET), guess("E3", place("network"), "Task")
    links = guess_cluster("C1", "E1", "E4")
    uses, proposed = guess_relation("R1", "E1", "E3"), guess_relation("R2", "E2", "E4", "Like")
    whole = Span(GRAPH.char_start, NET.char_end)
    predict(project, shorter, guess("E2", whole), other, guess("E4", LEARNS), links, uses, proposed)
    project.actions.accept(1, RelationRef("R1"))
    project.actions.join(1, "E1", "C1")
    before, events = states(project.document_state(1)), len(project.log())
    project.actions.move_edge(1, "E1", "start", -1)
    assert row(project, "E1").state is State.REJECTED
    assert row(project, "E2").state is State.ACCEPTED
    doc = project.document_state(1)
    moved, stays = doc.relation("R1"), doc.relation("R2")
    assert moved is not None and (moved.head, moved.tail, moved.state) == ("E2", "E3", State.EDITED)
    assert stays is not None and stays.state is State.UNDECIDED
    assert [link.entity_id for link in doc.members("C1")] == ["E2", "E4"]
    assert len(project.log()) == events + 1
    project.undo()
    assert states(project.document_state(1)) == before


def test_a_type_that_is_proposed_for_the_same_words_accepts_that_proposal(project: Project) -> None:
    put(project)
    predict(project, guess("E1", NET), guess("E2", NET, "Task"))
    project.actions.set_label(1, EntityRef("E1"), "Task")
    assert row(project, "E1").state is State.REJECTED
    assert row(project, "E2").state is State.ACCEPTED


def test_a_rejected_entity_does_not_come_back_beside_its_twin(project: Project) -> None:
    put(project, entity("E1", NET), entity("E2", NET, "Task"))
    project.actions.reject(1, EntityRef("E1"))
    project.actions.set_label(1, EntityRef("E2"), "Method")
    with refused("'net' is a Method already"):
        project.actions.accept(1, EntityRef("E1"))


def test_adding_what_was_rejected_or_proposed_accepts_it(project: Project) -> None:
    put(project, entity("E1", NET))
    predict(project, guess("E1", NET), guess("E2", GRAPH))
    project.actions.reject(1, EntityRef("E1"))
    project.actions.add_entity(1, [NET], "Method")
    project.actions.add_entity(1, [GRAPH], "Method")
    found = project.document_state(1).entities
    assert [(mention.id, mention.state) for mention in found] == [
        ("E2", State.ACCEPTED),
        ("E1", State.ACCEPTED),
    ]


@pytest.mark.parametrize(
    "spans",
    [[], [Span(3, 3)], [Span(5, 4)], [Span(0, len(TEXT) + 1)], [Span(-1, 2)], [NET, GRAPH]],
    ids=["none", "empty", "turned round", "too long", "before the text", "not ascending"],
)
def test_spans_that_are_no_part_of_the_text_are_refused(
    project: Project, spans: list[Span]
) -> None:
    put(project)
    with pytest.raises(ActionRefusedError):
        project.actions.add_entity(1, spans, "Method")


def test_edges_move_by_whole_tokens_to_the_edges_of_the_text_and_no_further(
    project: Project,
) -> None:
    put(project, entity("E1", Span(NET.char_start, NET.char_end - 1)))
    project.actions.move_edge(1, "E1", "end", 1)
    assert row(project, "E1").surface(TEXT) == "net", "an edge inside a token goes to its end first"
    project.actions.move_edge(1, "E1", "start", -2)
    assert row(project, "E1").surface(TEXT) == "A graph net"
    with refused("would be empty or leave the text"):
        project.actions.move_edge(1, "E1", "start", -1)
    with refused("would be empty or leave the text"):
        project.actions.move_edge(1, "E1", "end", -3)
    with refused("unknown edge 'middle'; choose from: start, end"):
        project.actions.move_edge(1, "E1", "middle", 1)


def test_edges_move_by_characters_but_not_onto_blanks(project: Project) -> None:
    put(project, entity("E1", NET))
    for _ in range(2):
        project.actions.move_edge(1, "E1", "start", 1, characters=True)
    assert row(project, "E1").surface(TEXT) == "t"
    project.actions.move_edge(1, "E1", "end", 1, characters=True)
    assert row(project, "E1").surface(TEXT) == "t l"
    project.actions.move_edge(1, "E1", "end", -1, characters=True)
    assert row(project, "E1").surface(TEXT) == "t"
    with refused("would be empty or leave the text"):
        project.actions.move_edge(1, "E1", "start", 1, characters=True)


def test_edges_of_discontinuous_entities_belong_to_their_outer_fragments(project: Project) -> None:
    put(project, entity("E1", [GRAPH, LEARNS]))
    project.actions.move_edge(1, "E1", "start", -1)
    assert row(project, "E1").fragments == (Span(0, GRAPH.char_end), LEARNS)
    with refused("would be empty or leave the text"):
        project.actions.move_edge(1, "E1", "start", 3)


def test_an_item_that_is_not_there_is_refused_with_a_reason(project: Project) -> None:
    put(project)
    with refused(r"the entity E9 is not in this abstract \(any more\)"):
        project.actions.accept(1, EntityRef("E9"))


def test_a_refusal_changes_nothing(project: Project) -> None:
    put(project, entity("E1", NET))
    before = project.document_state(1), len(project.log())
    with pytest.raises(ActionRefusedError):
        project.actions.set_label(1, EntityRef("E1"), "Dog")
    assert states(project.document_state(1)) == states(before[0])
    assert len(project.log()) == before[1]
