"""From rows to annotated documents: the current view, with or without what is undecided."""

from __future__ import annotations

from sciextract.documents.annotations import Annotations, State
from sciextract.store import EntityRef, Project
from sciextract.store.document_state import EVERYTHING, WITH_UNDECIDED
from sciextract.store.rows import IN_VIEW
from sciextract.store.state_tables import summarise, tally
from tests.unit.store.projects import (
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
)

GRAPH, NET, LEARNS, READS = (place(word) for word in ("graph", "net", "learns", "reads"))


def mixed(project: Project) -> None:
    """Two imported entities and a rejected one; one proposal with relation and links to the others."""
    put(
        project,
        *(entity("E1", NET, "Task"), entity("E2", GRAPH), entity("E3", LEARNS)),
        *(relation("R1", "E2", "E1"), relation("R2", "E2", "E3", "Like")),
        cluster("C1", "E1", "E2", "E3"),
    )
    project.actions.reject(1, EntityRef("E3"))
    items = (guess("P1", READS), guess("P2", GRAPH))
    predict(
        project, *items, guess_relation("R9", "P1", "P2", "Like"), guess_cluster("C9", "P1", "P2")
    )


def seen(project: Project, states: frozenset[State]) -> Annotations:
    return project.document(1, states).annotations


def test_the_current_view(project: Project) -> None:
    mixed(project)
    view = seen(project, IN_VIEW)
    assert [mention.id for mention in view.entities] == ["E2", "E1"]
    assert [edge.id for edge in view.relations] == ["R1"]
    assert [group.mentions for group in view.clusters] == [("E2", "E1")]
    assert project.document(1).document == document()


def test_with_what_is_undecided(project: Project) -> None:
    mixed(project)
    view = seen(project, WITH_UNDECIDED)
    assert [mention.id for mention in view.entities] == ["E2", "E1", "P1"]
    assert [edge.id for edge in view.relations] == ["R1", "R9"]
    assert [group.mentions for group in view.clusters] == [("E2", "E1", "P1")]


def test_everything(project: Project) -> None:
    mixed(project)
    view = seen(project, EVERYTHING)
    assert [mention.id for mention in view.entities] == ["E2", "E1", "E3", "P1"]
    assert {edge.id for edge in view.relations} == {"R1", "R2", "R9"}
    assert view.entities[2].state is State.REJECTED


def test_items_without_their_entities_are_left_out(project: Project) -> None:
    mixed(project)
    view = seen(project, frozenset({State.UNDECIDED}))
    assert [mention.id for mention in view.entities] == ["P1"]
    assert (view.relations, view.clusters) == ((), ())


def test_one_mention_alone_is_a_cluster_only_if_it_was_imported_so(project: Project) -> None:
    put(project, entity("E1", NET), entity("E2", GRAPH), cluster("C1", "E1"))
    predict(project, guess("P1", READS), guess("P2", LEARNS), guess_cluster("C2", "P1", "P2"))
    project.actions.accept(1, EntityRef("P1"))
    assert [group.mentions for group in seen(project, IN_VIEW).clusters] == [("E1",)]


def test_scores_and_sources_are_told(project: Project) -> None:
    put(project)
    run = predict(
        project, guess("P1", READS, score=0.7), guess("P2", GRAPH), guess_cluster("C", "P1", "P2")
    )
    view = seen(project, WITH_UNDECIDED)
    assert [(mention.score, mention.source) for mention in view.entities] == [
        (0.8, run.source),
        (0.7, run.source),
    ]
    assert view.clusters[0].mention_scores == (0.6, 0.6)
    assert view.clusters[0].source == run.source


def test_documents_are_streamed_in_their_order(project: Project) -> None:
    put_all(project, [(document(f"Text {n}.", f"d{n}"), []) for n in range(600)])
    assert [doc.document.doc_key for doc in project.stream()] == [f"d{n}" for n in range(600)]


def test_counts_of_a_document(project: Project) -> None:
    mixed(project)
    state = project.document_state(1)
    found = summarise(state, tally(state))
    assert (found.entities, found.relations, found.clusters) == (3, 2, 1)
    assert (found.undecided, found.decided) == (3, 3)
    assert found.least_score == 0.6
    assert abs(found.uncertainty - (0.4 + 0.6 + 0.8) / 3) < 1e-9
