"""A model's predictions into a project: only what nobody has decided is refreshed."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sciextract.documents.annotations import (
    Annotations,
    Candidates,
    LabelScore,
    Layer,
    SpanCandidate,
    State,
)
from sciextract.documents.document import AnnotatedDocument
from sciextract.store import Completeness, EntityRef, LinkRef, Project, RelationRef
from sciextract.store.ingest import ModelRun, annotations_of_source, need_prediction
from tests.unit.store.projects import (
    FIRST_MODEL,
    SECOND_MODEL,
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
    relation,
    said,
    states,
)

GRAPH, NET, LEARNS = place("graph"), place("net"), place("learns")
TWO = (guess("E1", GRAPH), guess("E2", NET, "Task"))
ALL = (*TWO, guess_relation("R1", "E1", "E2"), guess_cluster("C1", "E1", "E2"))


def labels(project: Project) -> list[tuple[str, str, State]]:
    doc = project.document_state(1)
    return [(mention.surface(doc.text), mention.label, mention.state) for mention in doc.entities]


def test_predictions_wait_undecided_and_are_not_in_view(project: Project) -> None:
    put(project)
    predict(project, *ALL)
    assert set(states(project.document_state(1)).values()) == {State.UNDECIDED}
    assert project.document(1).annotations.entities == ()
    assert project.document_state(1).entities[0].score == 0.8


def test_the_same_run_again_changes_scores_only(project: Project) -> None:
    put(project)
    predict(project, *ALL)
    before = states(project.document_state(1))
    again = (guess("X1", GRAPH, score=0.4), guess("X2", NET, "Task", score=0.3))
    predict(project, *again, guess_relation("X3", "X1", "X2"), guess_cluster("X4", "X1", "X2"))
    doc = project.document_state(1)
    assert states(doc) == before
    assert [mention.score for mention in doc.entities] == [0.4, 0.3]


def test_what_a_newer_model_does_not_repeat_goes(project: Project) -> None:
    put(project)
    predict(project, *ALL)
    predict(project, guess("E9", GRAPH), model=SECOND_MODEL)
    assert list(states(project.document_state(1))) == ["E1"]
    assert project.document_state(1).clusters == []


def test_human_decisions_are_never_changed(project: Project) -> None:
    words = [place(word) for word in ("graph", "net", "learns", "reads", "network")]
    put(project, entity("I1", words[4], "Task"))
    predict(project, *(guess(f"E{n}", words[n]) for n in range(4)))
    project.actions.accept(1, EntityRef("E0"))
    project.actions.reject(1, EntityRef("E1"))
    project.actions.set_label(1, EntityRef("E2"), "Task")
    project.actions.reject(1, EntityRef("E3"))
    project.actions.add_entity(1, [words[3]], "Task")
    before = all_state(project)
    predict(project, *(guess(f"N{n}", word) for n, word in enumerate(words)), model=SECOND_MODEL)
    predict(project, model=SECOND_MODEL)
    assert all_state(project) == before


def test_what_was_rejected_stays_rejected_and_takes_no_relations(project: Project) -> None:
    put(project)
    predict(project, *ALL)
    project.actions.reject(1, EntityRef("E2"))
    predict(project, *ALL, model=SECOND_MODEL)
    found = states(project.document_state(1))
    assert found["E2"] is found["R1"] is found["C1 E1"] is found["C1 E2"] is State.REJECTED
    assert len(found) == 5


def test_what_was_edited_is_not_proposed_again_as_it_was(project: Project) -> None:
    put(project)
    predict(project, *TWO, guess_relation("R1", "E1", "E2"))
    project.actions.set_label(1, EntityRef("E1"), "Task")
    project.actions.move_edge(1, "E1", "start", -1)
    project.actions.set_label(1, RelationRef("R1"), "Like")
    predict(project, *TWO, guess_relation("R9", "E1", "E2"), model=SECOND_MODEL)
    assert labels(project) == [
        ("A graph", "Task", State.EDITED),
        ("net", "Task", State.ACCEPTED),
    ]
    assert [edge.id for edge in project.document_state(1).relations] == ["R1"]


def test_another_label_for_what_is_decided_is_left_out(project: Project) -> None:
    put(project, entity("E1", NET, "Task"), entity("E2", GRAPH), relation("R1", "E2", "E1"))
    items = (guess("P1", NET, "Method"), guess("P2", GRAPH), guess_relation("R9", "P2", "P1"))
    predict(project, *items)
    assert [mention.id for mention in project.document_state(1).entities] == ["E2", "E1"]
    assert [edge.id for edge in project.document_state(1).relations] == ["R1"]


def test_a_symmetric_relation_in_the_other_direction_is_the_same(project: Project) -> None:
    put(project, entity("E1", GRAPH), entity("E2", NET), relation("R1", "E2", "E1", "Like"))
    items = (guess("E1", GRAPH), guess("E2", NET), guess_relation("R9", "E1", "E2", "Like"))
    predict(project, *items)
    assert [edge.id for edge in project.document_state(1).relations] == ["R1"]


@pytest.mark.parametrize(
    ("layer", "touched"),
    [
        (Layer.ENTITIES, {"R1", "C1 E1", "C1 E2"}),
        (Layer.RELATIONS, {"C1 E1", "C1 E2"}),
        (Layer.COREFERENCE, {"R1"}),
    ],
)
def test_a_done_layer_stays_as_it_is(project: Project, layer: Layer, touched: set[str]) -> None:
    put(project)
    predict(project, *ALL)
    before = states(project.document_state(1))
    project.actions.set_completeness(1, Completeness.DONE, [layer])
    predict(project, guess("N1", LEARNS), model=SECOND_MODEL)
    gone = before.keys() - states(project.document_state(1)).keys()
    assert gone == touched
    assert ("learns" in [word for word, _, _ in labels(project)]) == (layer is not Layer.ENTITIES)


def test_a_mention_joins_the_cluster_that_is_decided(project: Project) -> None:
    put(project, entity("E1", GRAPH), entity("E2", NET), cluster("G1", "E1", "E2"))
    items = (guess("E1", GRAPH), guess("E2", NET), guess("E3", LEARNS))
    predict(project, *items, guess_cluster("C1", "E1", "E3"))
    assert states(project.document_state(1))["G1 E3"] is State.UNDECIDED
    assert len(project.document_state(1).clusters) == 1


def test_a_mention_that_is_placed_is_not_pulled_elsewhere(project: Project) -> None:
    put(project, *(entity(f"E{n}", s) for n, s in enumerate((GRAPH, NET, LEARNS))))
    project.actions.new_cluster(1, ["E0", "E1"])
    items = [guess(f"P{n}", span) for n, span in enumerate((GRAPH, NET, LEARNS))]
    predict(project, *items, guess_cluster("C1", "P1", "P2"))
    (home,) = project.document_state(1).clusters
    assert [member.entity_id for member in project.document_state(1).members(home.id)] == [
        "E0",
        "E1",
        "E2",
    ]


def test_a_pair_that_a_person_took_apart_is_not_proposed_again(project: Project) -> None:
    put(project)
    predict(project, *TWO, guess_cluster("C1", "E1", "E2"))
    project.actions.reject(1, LinkRef("C1", "E2"))
    predict(project, *TWO, guess_cluster("C9", "E1", "E2"), model=SECOND_MODEL)
    found = {
        item: state for item, state in states(project.document_state(1)).items() if " " in item
    }
    assert found == {"C1 E1": State.REJECTED, "C1 E2": State.REJECTED}


def test_a_mention_that_left_is_not_proposed_there_again(project: Project) -> None:
    three = (*TWO, guess("E3", LEARNS), guess_cluster("C1", "E1", "E2", "E3"))
    put(project)
    predict(project, *three)
    project.actions.accept(1, LinkRef("C1", "E2"))
    project.actions.reject(1, LinkRef("C1", "E3"))
    predict(project, *three, model=SECOND_MODEL)
    assert states(project.document_state(1))["C1 E3"] is State.REJECTED
    assert len(project.document_state(1).links) == 3


def test_every_run_keeps_what_it_said_with_its_candidates(project: Project) -> None:
    put(project)
    found = SpanCandidate(NET, (LabelScore("Task", 0.2),))
    spoken = Annotations(TWO, candidates=Candidates(spans=(found,)))
    text = document()
    for model in (FIRST_MODEL, SECOND_MODEL):
        run = ModelRun(project, model, {})
        run.add([(1, AnnotatedDocument(text, spoken, model))])
        assert annotations_of_source(project.connection, 1, project.source_id(run.source)) == spoken
    assert project.connection.execute("SELECT count(*) FROM annotation_set").fetchone() == (2,)


def test_a_run_is_one_event_by_the_person_or_by_itself(project: Project) -> None:
    put(project)
    first = predict(project, *TWO)
    second = predict(project, *TWO, background=True)
    newest, older = project.log(2)
    assert (older.kind, older.author) == ("predict", "person:ann")
    assert (newest.kind, newest.author) == ("predict", second.source)
    assert older.params == {"model": "first@aaaaaaaa", "run": first.id}
    finished = project.connection.execute("SELECT count(finished) FROM run").fetchone()
    assert finished == (2,)


def test_documents_that_need_a_prediction(project: Project) -> None:
    for number in (1, 2, 3):
        put(project, text=f"Text {number}.", doc_key=f"d{number}")
    predict(project, number=1)
    project.actions.set_completeness(2, Completeness.DONE)
    assert need_prediction(project.connection, FIRST_MODEL) == [3]
    assert need_prediction(project.connection, SECOND_MODEL) == [1, 3]


def test_a_run_that_was_undone_is_needed_again(project: Project) -> None:
    put(project)
    predict(project, *TWO)
    project.undo()
    assert need_prediction(project.connection, FIRST_MODEL) == [1]
    project.redo()
    assert need_prediction(project.connection, FIRST_MODEL) == []


def test_predictions_for_a_document_that_was_taken_back_are_kept_but_not_shown(
    project: Project,
) -> None:
    put(project)
    text = project.document_state(1).stored.document
    project.undo()
    run = ModelRun(project, FIRST_MODEL, {})
    run.add([(1, AnnotatedDocument(text, said(*TWO), FIRST_MODEL))])
    assert (run.documents, all_state(project)) == (0, {})


def test_mentions_that_a_person_suggested_stay_and_get_their_label(project: Project) -> None:
    suggested = [
        replace(mention, source="model:other@11111111")
        for mention in (guess("S1", GRAPH, ""), guess("S2", NET, ""))
    ]
    put(project, *suggested, source="import:suggestions")
    run = ModelRun(project, FIRST_MODEL, {}, background=True, keep_suggestions=True)
    document = project.document_state(1).stored.document
    run.add([(1, AnnotatedDocument(document, said(guess("E1", GRAPH)), FIRST_MODEL))])
    waiting = State.UNDECIDED
    assert labels(project) == [("graph", "Method", waiting), ("net", "", waiting)]
    predict(project, guess("E2", GRAPH))
    assert labels(project) == [("graph", "Method", waiting)]
