"""Annotations from files: nothing is refused, nothing that a person decided is changed."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sciextract.documents.annotations import Annotations, Entity, State
from sciextract.documents.document import AnnotatedDocument
from sciextract.store import EntityRef, LinkRef, Project, RelationRef, documents
from sciextract.store.document_state import EVERYTHING
from sciextract.store.ingest import Import
from tests.unit.store.projects import (
    TEXT,
    all_state,
    cluster,
    document,
    entity,
    guess,
    guess_cluster,
    guess_relation,
    new_project,
    place,
    predict,
    put,
    put_all,
    relation,
    states,
)

GRAPH, NET, LEARNS, READS = (place(word) for word in ("graph", "net", "learns", "reads"))
GOLD = (
    *(entity("E1", GRAPH), entity("E2", NET, "Task"), entity("E3", [GRAPH, LEARNS])),
    *(relation("R1", "E1", "E2"), relation("R2", "E2", "E1", "Like")),
    *(cluster("C1", "E1", "E3"), cluster("C2", "E3"), cluster("C3", "E2", "E3")),
)


def test_what_is_imported_comes_back_as_it_was(project: Project) -> None:
    counts = put(project, *GOLD)
    assert (counts.documents, counts.known, counts.items) == (1, 0, 10)
    found = project.document(1).annotations
    assert {mention.id for mention in found.entities} == {"E1", "E2", "E3"}
    assert {(edge.head, edge.tail) for edge in found.relations} == {("E1", "E2"), ("E2", "E1")}
    assert {frozenset(group.mentions) for group in found.clusters} == {
        frozenset(mentions) for mentions in (["E1", "E3"], ["E3"], ["E2", "E3"])
    }
    assert {mention.source for mention in found.entities} == {"import:gold.jsonl"}


def test_the_same_import_twice_changes_nothing(project: Project) -> None:
    put(project, *GOLD)
    before = all_state(project)
    counts = put(project, *GOLD)
    assert (counts.documents, counts.known, counts.items) == (0, 1, 0)
    assert all_state(project) == before


def test_the_same_import_after_all_kinds_of_decisions_changes_nothing(project: Project) -> None:
    put(project, *GOLD)
    actions = project.actions
    actions.set_label(1, EntityRef("E1"), "Task")
    actions.invert(1, "R2")
    actions.reject(1, LinkRef("C3", "E3"))
    actions.reject(1, RelationRef("R1"))
    before = all_state(project)
    assert put(project, *GOLD).against_decisions == 5
    assert all_state(project) == before


def test_a_split_cluster_stays_split(project: Project) -> None:
    words = ("graph", "net", "learns", "reads")
    items = [entity(f"E{n}", place(word)) for n, word in enumerate(words)]
    put(project, *items, cluster("C1", "E0", "E1", "E2", "E3"))
    project.actions.split(1, "C1", "E2")
    before = all_state(project)
    put(project, *items, cluster("C1", "E0", "E1", "E2", "E3"))
    assert all_state(project) == before


def test_states_ids_and_sources_of_our_own_exports_are_kept(project: Project) -> None:
    put(project, *GOLD)
    predict(project, guess("P1", READS), guess("P2", NET, "Task"))
    project.actions.accept(1, EntityRef("P1"))
    project.actions.set_label(1, EntityRef("E1"), "Task")
    exported = project.document(1, EVERYTHING)
    with new_project(project.path.parent / "..", "bob") as copy:
        Import(copy, "import:export.jsonl", {}).add([(exported, ())])
        assert copy.document(1, EVERYTHING).annotations == exported.annotations


def test_an_import_decides_what_was_undecided(project: Project) -> None:
    put(project)
    items = (guess("P1", GRAPH), guess("P2", NET, "Task"))
    predict(project, *items, guess_relation("R9", "P1", "P2"), guess_cluster("C9", "P1", "P2"))
    items = (entity("E1", GRAPH), entity("E2", NET, "Task"))
    counts = put(project, *items, relation("R1", "E1", "E2"), cluster("C1", "E1", "E2"))
    doc = project.document_state(1)
    assert set(states(doc).values()) == {State.IMPORTED}
    assert (counts.items, len(doc.entities), len(doc.clusters)) == (5, 2, 1)
    assert doc.clusters[0].state is State.IMPORTED
    assert project.sources[doc.entities[0].source_id] == "import:gold.jsonl"


def test_an_undecided_cluster_decides_nothing(project: Project) -> None:
    put(project)
    predict(project, guess("P1", GRAPH), guess("P2", NET), guess_cluster("C9", "P1", "P2"))
    before = all_state(project)
    put(project, guess("E1", GRAPH), guess("E2", NET), guess_cluster("C1", "E1", "E2"))
    assert all_state(project) == before


def test_proposed_clusters_give_way_to_imported_ones(project: Project) -> None:
    put(project)
    items = [guess(f"P{n}", span) for n, span in enumerate((GRAPH, NET, LEARNS))]
    predict(project, *items, guess_cluster("C9", "P0", "P1"))
    put(project, entity("E1", GRAPH), entity("E2", LEARNS), cluster("C1", "E1", "E2"))
    assert [group.id for group in project.document_state(1).clusters] == ["C1"]


def test_what_a_person_rejected_stays_so_and_is_counted(project: Project) -> None:
    put(project, *GOLD)
    project.actions.reject(1, EntityRef("E2"))
    counts = put(project, *GOLD, source="import:other.jsonl")
    assert (
        counts.against_decisions == 5
    )  # the mention, its two relations, its place in a cluster of two
    assert {
        item for item, s in states(project.document_state(1)).items() if s is State.REJECTED
    } == {*("E2", "R1", "R2", "C3 E2", "C3 E3")}


def test_new_relations_of_a_rejected_mention_are_left_out(project: Project) -> None:
    items = (entity("E1", GRAPH), entity("E2", NET, "Task"))
    put(project, *items)
    project.actions.reject(1, EntityRef("E2"))
    counts = put(project, *items, relation("R1", "E1", "E2"), cluster("C1", "E1", "E2"))
    assert counts.against_decisions == 3
    assert project.document_state(1).relations == []
    assert project.document_state(1).clusters == []


def test_what_a_person_edited_does_not_come_back_as_it_was(project: Project) -> None:
    put(project, entity("E1", NET))
    project.actions.set_label(1, EntityRef("E1"), "Task")
    assert put(project, entity("X1", NET), source="import:b.jsonl").against_decisions == 1
    assert [mention.label for mention in project.document_state(1).entities] == ["Task"]


def test_what_is_decided_decides_the_mentions_that_it_needs(project: Project) -> None:
    und = State.UNDECIDED
    items = (entity("E1", GRAPH, state=und), entity("E2", NET, "Task", state=und))
    put(project, *items, relation("R1", "E1", "E2"))
    assert set(states(project.document_state(1)).values()) == {State.IMPORTED}


def test_gold_is_never_changed_or_refused_only_flagged(project: Project) -> None:
    broken = (
        entity("E1", NET, "Dog"),
        entity("E2", NET, "Dog"),
        relation("R1", "E2", "E1", "Eats"),
    )
    counts = put(project, *broken, warnings=("unknown entity label 'Dog'",))
    assert counts.flagged == 1
    progress = project.document_state(1).progress
    assert progress is not None
    assert (progress.flagged, progress.warned) == (True, 1)
    assert set(states(project.document_state(1)).values()) == {State.IMPORTED}
    assert len(project.document_state(1).entities) == 2


def test_a_flag_that_a_person_cleared_is_not_set_again_by_the_same_warnings(
    project: Project,
) -> None:
    put(project, warnings=("unknown entity label 'Dog'",))
    project.actions.flag(1, False)
    put(project, warnings=("unknown entity label 'Dog'",))
    progress = project.document_state(1).progress
    assert progress is not None and not progress.flagged


def test_two_imports_of_gold_both_stay(project: Project) -> None:
    put(project, entity("E1", NET, "Task"), source="import:a.jsonl")
    put(project, entity("E1", NET, "Method"), source="import:b.jsonl")
    found = project.document_state(1).entities
    assert sorted(mention.label for mention in found) == ["Method", "Task"]
    assert len({mention.id for mention in found}) == 2


def test_a_relation_without_its_entities_is_left_out(project: Project) -> None:
    put(project, entity("E1", NET), relation("R1", "E1", "E9"), cluster("C1", "E8", "E9"))
    assert states(project.document_state(1)) == {"E1": State.IMPORTED}


@pytest.mark.parametrize("bad", ["", "\ud800"])
def test_ids_that_cannot_be_kept_are_replaced(project: Project, bad: str) -> None:
    put(project, entity(bad, NET), entity("E2", GRAPH, "Task"), relation("R1", bad, "E2"))
    (made,) = project.document_state(1).relations
    assert made.head not in ("", "\ud800")


def test_names_of_files_that_are_no_text_are_shown_as_escapes(project: Project) -> None:
    put(project, entity("E1", NET), source="import:caf\udce9.txt")
    assert project.document(1).annotations.entities[0].source == "import:caf\\udce9.txt"


@pytest.mark.parametrize(
    "text",
    ["a\ud800b", "nul \x00 inside", "\x00", "crlf\r\nlf\ncr\r", "😀 e\u0301 \u00a0 \u2028", ""],
    ids=["surrogate", "nul", "only nul", "line ends", "unicode", "empty"],
)
def test_texts_are_kept_exactly(project: Project, text: str) -> None:
    put(project, text=text, doc_key="k\ud800")
    stored = project.document_state(1).stored.document
    assert stored == document(text, "k\ud800")
    assert documents.find(project.connection, document(text)) is not None


def test_two_records_of_one_text_are_both_kept(project: Project) -> None:
    put_all(project, [(document(TEXT, "a", doi="10.1000/x", year=2001), [])], "import:a.bib")
    put_all(project, [(document(TEXT, "b", pmid="77", year=1999), [])], "import:b.ris")
    put_all(project, [(document(TEXT, "b", pmid="77", year=1999), [])], "import:b.ris")
    found = list(documents.records(project.connection, 1))
    assert [(record.doc_key, record.source) for record in found] == [
        ("a", "import:a.bib"),
        ("b", "import:b.ris"),
    ]
    assert project.numbers() == [1]
    fields = project.document_state(1).stored.document.fields
    assert fields == {"doi": "10.1000/x", "year": 2001, "pmid": "77"}


def test_bibliographic_fields_with_lone_surrogates_do_not_stop_an_import(project: Project) -> None:
    fields = {"title": "T \ud800", "journal": "J \ud800", "doi": "10.1000/\ud800", "pmid": "1"}
    put_all(project, [(document(TEXT, "a", **fields), [])])
    assert project.document_state(1).stored.document.fields == fields


def test_all_or_nothing_of_a_batch(project: Project) -> None:
    twisted = Entity("E1", (), "Method")
    good = AnnotatedDocument(document(), Annotations())
    bad = AnnotatedDocument(document("Other."), Annotations((twisted,)))
    before = len(project.log())
    job = Import(project, "import:x", {})
    with pytest.raises(IndexError):
        job.add([(good, ()), (bad, ())])
    assert (project.numbers(), len(project.log()), job.counts.documents) == ([], before, 0)
    job.add([(replace(good, warnings=("odd",)), ())])
    assert project.numbers() == [1]
