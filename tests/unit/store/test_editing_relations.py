"""Deciding about relations: accept, reject, relabel, invert, add."""

from __future__ import annotations

import json

import pytest

from sciextract.documents.annotations import State
from sciextract.errors import ActionRefusedError
from sciextract.store import EntityRef, Project, RelationRef, RelationRow
from tests.unit.store.projects import (
    entity,
    guess,
    guess_relation,
    place,
    predict,
    put,
    relation,
    states,
)

METHOD, TASK = entity("M", place("graph")), entity("T", place("net"), "Task")
OTHER = entity("O", place("learns"))


def only_relation(project: Project) -> RelationRow:
    (found,) = project.document_state(1).relations
    return found


def test_accepting_a_relation_accepts_its_arguments(project: Project) -> None:
    put(project)
    predict(
        project,
        *(guess("M", place("graph")), guess("T", place("net"), "Task")),
        guess_relation("R1", "M", "T"),
    )
    done = project.actions.accept(1, RelationRef("R1"))
    assert set(states(project.document_state(1)).values()) == {State.ACCEPTED}
    assert done.items == 3


def test_rejecting_a_relation_leaves_its_arguments(project: Project) -> None:
    put(project, METHOD, TASK, relation("R1", "M", "T"))
    project.actions.reject(1, RelationRef("R1"))
    assert states(project.document_state(1)) == {
        "M": State.IMPORTED,
        "T": State.IMPORTED,
        "R1": State.REJECTED,
    }


def test_an_added_relation_goes_without_trace_when_rejected(project: Project) -> None:
    put(project, METHOD, TASK)
    project.actions.add_relation(1, "M", "T", "Uses")
    assert only_relation(project).state is State.ADDED
    project.actions.reject(1, RelationRef(only_relation(project).id))
    assert project.document_state(1).relations == []


def test_an_illegal_pair_is_refused_with_the_legal_ones(project: Project) -> None:
    put(project, METHOD, TASK)
    with pytest.raises(ActionRefusedError) as refusal:
        project.actions.add_relation(1, "T", "M", "Uses")
    assert refusal.value.message == "Uses may not lead from Task to Method; allowed there: Like"
    assert refusal.value.hint == "the other way round: Uses, Like"
    assert project.document_state(1).relations == []


def test_inverting_into_an_illegal_pair_is_refused(project: Project) -> None:
    put(project, METHOD, TASK, relation("R1", "M", "T"))
    with pytest.raises(ActionRefusedError, match="may not lead from Task to Method"):
        project.actions.invert(1, "R1")


def test_a_person_can_override_the_schema(project: Project) -> None:
    put(project, METHOD, TASK)
    project.actions.add_relation(1, "T", "M", "Uses", illegal=True)
    added = project.document_state(1).relations[0]
    assert (added.head, added.tail, added.label) == ("T", "M", "Uses")
    assert project.log(1)[0].params["illegal"] is True
    project.actions.invert(1, added.id)
    project.actions.invert(1, added.id, illegal=True)
    assert project.document_state(1).relations[0].head == "T"


def test_a_relation_of_an_entity_with_itself_is_refused(project: Project) -> None:
    put(project, METHOD)
    with pytest.raises(ActionRefusedError, match="head and tail are the same"):
        project.actions.add_relation(1, "M", "M", "Like")


def test_unknown_types_are_refused_with_the_known_ones(project: Project) -> None:
    put(project, METHOD, TASK)
    with pytest.raises(
        ActionRefusedError, match="no relation type 'Eats'; choose from: Uses, Like"
    ):
        project.actions.add_relation(1, "M", "T", "Eats")


def test_an_argument_of_a_foreign_type_is_no_reason_to_refuse(project: Project) -> None:
    put(project, entity("X", place("graph"), "Foreign"), TASK)
    project.actions.add_relation(1, "X", "T", "Uses")
    assert only_relation(project).state is State.ADDED


def test_the_same_relation_is_refused(project: Project) -> None:
    put(project, METHOD, TASK, relation("R1", "M", "T"))
    with pytest.raises(ActionRefusedError, match="'graph' Uses 'net' is there already"):
        project.actions.add_relation(1, "M", "T", "Uses")


def test_a_symmetric_relation_is_the_same_in_both_directions(project: Project) -> None:
    put(project, METHOD, TASK, relation("R1", "M", "T", "Like"))
    with pytest.raises(ActionRefusedError, match="is there already") as refusal:
        project.actions.add_relation(1, "T", "M", "Like")
    assert "direction makes no difference" in refusal.value.hint


def test_new_symmetric_relations_are_made_in_text_order(project: Project) -> None:
    put(project, METHOD, TASK)
    project.actions.add_relation(1, "T", "M", "Like")
    assert (only_relation(project).head, only_relation(project).tail) == ("M", "T")


def test_imported_symmetric_relations_keep_their_direction(project: Project) -> None:
    put(project, METHOD, TASK, relation("R1", "T", "M", "Like"))
    project.actions.accept(1, RelationRef("R1"))
    assert (only_relation(project).head, only_relation(project).tail) == ("T", "M")


def test_relabelling_into_a_relation_that_is_there_is_refused(project: Project) -> None:
    put(project, METHOD, TASK, relation("R1", "M", "T"), relation("R2", "T", "M", "Like"))
    with pytest.raises(ActionRefusedError, match="'net' Like 'graph' is there already"):
        project.actions.set_label(1, RelationRef("R1"), "Like")


def test_relabelling_into_a_relation_that_is_proposed_accepts_the_proposal(
    project: Project,
) -> None:
    put(project)
    ends = guess("M", METHOD.span), guess("T", TASK.span, "Task")
    relations = guess_relation("R1", "M", "T"), guess_relation("R2", "T", "M", "Like")
    predict(project, *ends, *relations)
    project.actions.set_label(1, RelationRef("R1"), "Like")
    doc = project.document_state(1)
    assert [(row.id, row.state) for row in doc.relations] == [
        ("R1", State.REJECTED), ("R2", State.ACCEPTED)
    ]  # fmt: skip


def test_an_edited_relation_keeps_what_it_was(project: Project) -> None:
    put(project, METHOD, OTHER, relation("R1", "M", "O", "Like"))
    project.actions.invert(1, "R1")
    edited = only_relation(project)
    assert (edited.head, edited.tail, edited.state) == ("O", "M", State.EDITED)
    assert json.loads(edited.was or "") == {"label": "Like", "head": "M", "tail": "O"}


def test_editing_a_proposed_relation_accepts_its_arguments(project: Project) -> None:
    put(project)
    predict(
        project,
        *(guess("M", place("graph")), guess("T", place("net"), "Task")),
        guess_relation("R1", "M", "T"),
    )
    project.actions.set_label(1, RelationRef("R1"), "Like")
    assert states(project.document_state(1)) == {
        "M": State.ACCEPTED,
        "T": State.ACCEPTED,
        "R1": State.EDITED,
    }


def test_adding_a_rejected_relation_accepts_it_in_either_direction_if_symmetric(
    project: Project,
) -> None:
    put(project, METHOD, TASK, relation("R1", "T", "M", "Like"))
    project.actions.reject(1, RelationRef("R1"))
    project.actions.add_relation(1, "M", "T", "Like")
    assert (only_relation(project).id, only_relation(project).state) == ("R1", State.ACCEPTED)


def test_a_relation_of_a_rejected_mention_brings_the_mention_back(project: Project) -> None:
    put(project, METHOD, TASK, relation("R1", "M", "T"))
    project.actions.reject(1, EntityRef("T"))
    project.actions.accept(1, RelationRef("R1"))
    assert set(states(project.document_state(1)).values()) == {State.IMPORTED, State.ACCEPTED}
    assert states(project.document_state(1))["T"] is State.ACCEPTED


def test_a_rejected_relation_does_not_come_back_beside_its_twin(project: Project) -> None:
    put(project, METHOD, OTHER, relation("R1", "M", "O", "Like"))
    project.actions.reject(1, RelationRef("R1"))
    put(project, METHOD, OTHER, relation("R2", "M", "O", "Like"), source="import:other.jsonl")
    assert only_relation(project).state is State.REJECTED
