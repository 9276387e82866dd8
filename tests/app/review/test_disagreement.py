"""The order by disagreement: what models and people differ on comes first."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

import pytest

from sciextract.documents.annotations import Annotations, Cluster, Entity, Relation, State
from sciextract.documents.document import AnnotatedDocument, ModelId
from sciextract.store import EntityRef, LinkRef, Project, RelationRef
from sciextract.store.ingest import Import, ModelRun
from sciextract_app.review.desk import Desk
from sciextract_app.review.queue import Order, VoteCache
from tests.app.review.abstracts import Said, document, gold, project_with

OLDER, OLDEST = ModelId("older", "b" * 64), ModelId("oldest", "c" * 64)


def run(project: Project, said: Annotations, model: ModelId) -> None:
    job = ModelRun(project, model, {})
    job.add([(1, AnnotatedDocument(document(doc_key="d1"), said, model))])


def brought_in(project: Project, said: Annotations, source: str = "import:ben.sciextract") -> None:
    """What another person said, kept beside, as merging keeps it where both have worked."""
    job = Import(project, source, {})
    job.add([(AnnotatedDocument(document(doc_key="d1"), said), ())])


def other_view() -> Said:
    """Another label, a mention less, a relation the other way, a cluster taken apart."""
    right = gold()
    entities = dict(right.entities)
    entities["encoder"] = replace(entities["encoder"], label="Material")
    del entities["lexicon"]
    relations = tuple(
        replace(each, head=each.tail, tail=each.head) if each.head == "tagger1" else each
        for each in right.relations
    )
    first, second = right.clusters
    return Said(entities, relations, (replace(first, mentions=("tagger1", "tagger2")), second))


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """An older model and then the one whose proposals are shown."""
    project = project_with(tmp_path, None)
    run(project, other_view().annotations, OLDER)
    run(project, gold().annotations, ModelId("new", "a" * 64))
    return project


def disagreement_of(project: Project) -> dict[object, float]:
    desk = Desk(project, 1, order=Order.DISAGREEMENT)
    votes = VoteCache().of(project.connection, desk.state.open_view)
    view = desk.state.open_view
    return {item: votes.disagreement(view, item) for item in desk.state.open_queue.items}


def surface(project: Project, item: EntityRef) -> str:
    draft = project.document_state(1)
    return next(row.surface(draft.text) for row in draft.entities if row.id == item.id)


def encoder(project: Project) -> float:
    """How far they differ about the first lattice encoder."""
    found = disagreement_of(project)
    return next(
        value
        for item, value in found.items()
        if isinstance(item, EntityRef) and surface(project, item) == "lattice encoder"
    )


def differing(project: Project) -> set[object]:
    return {item for item, value in disagreement_of(project).items() if value > 0}


def test_what_two_models_differ_on(project: Project) -> None:
    found = differing(project)
    names = {surface(project, item) for item in found if isinstance(item, EntityRef)}
    assert names == {"lattice encoder", "label lexicon"}
    relations = [item for item in found if isinstance(item, RelationRef)]
    rows = [project.document_state(1).relation(each.id) for each in relations]
    assert sorted((row.label, row.tail) for row in rows if row) == [
        *(("PART-OF", "tagger2"), ("USED-FOR", "task"))  # of the lexicon, and the one turned around
    ]
    links = {item for item in found if isinstance(item, LinkRef)}
    assert links == {LinkRef("of tagger1", "it"), LinkRef("of tagger1", "approach")}


def test_it_comes_first_and_the_rest_in_text_order(project: Project) -> None:
    desk = Desk(project, 1, order=Order.DISAGREEMENT)
    first, found = desk.state.open_queue.undecided, differing(project)
    assert set(first[: len(found)]) == found
    desk.set_order(Order.TEXT)
    in_text = [item for item in desk.state.open_queue.undecided if item not in found]
    assert first[len(found) :] == in_text


def test_deciding_goes_along_it(project: Project) -> None:
    desk = Desk(project, 1, order=Order.DISAGREEMENT)
    first, second = desk.state.open_queue.undecided[:2]
    assert desk.focus == first
    assert not desk.press("enter").problem
    assert desk.focus == second


def test_more_sources_weigh(project: Project) -> None:
    run(project, other_view().annotations, OLDEST)
    run(project, gold().annotations, ModelId("new", "d" * 64))
    assert encoder(project) == 1.0
    brought_in(project, gold().annotations)
    assert encoder(project) == pytest.approx(0.8)


def test_two_people(tmp_path: Path) -> None:
    project = project_with(tmp_path, gold())
    said = other_view().annotations
    theirs = Annotations(
        tuple(replace(e, state=State.ACCEPTED) for e in said.entities),
        tuple(replace(r, state=State.ACCEPTED) for r in said.relations),
        tuple(replace(c, state=State.ACCEPTED) for c in said.clusters),
    )
    with project.writing() as connection:
        before = connection.execute("SELECT max(id) FROM event").fetchone()[0]
    brought_in(project, theirs)
    assert EntityRef("lexicon") in differing(project)
    project.undo(before + 1)
    assert differing(project) == set()  # what was undone was not said


def test_what_they_left_undecided_they_did_not_say(tmp_path: Path) -> None:
    project = project_with(tmp_path, gold())
    said = gold().annotations
    first, *rest = said.entities
    brought_in(project, Annotations((replace(first, state=State.ACCEPTED), *rest)))
    assert len(differing(project)) == len(rest)


def test_silence_about_a_layer_is_no_disagreement(tmp_path: Path) -> None:
    project = project_with(tmp_path, gold())
    brought_in(project, Annotations(gold().annotations.entities))
    assert differing(project) == set()


def test_a_symmetric_relation_has_no_direction(tmp_path: Path) -> None:
    project = project_with(tmp_path, gold())
    said = gold().annotations
    turned = tuple(
        replace(each, head=each.tail, tail=each.head) if each.label == "CONJUNCTION" else each
        for each in said.relations
    )
    run(project, replace(said, relations=turned), OLDER)
    assert differing(project) == set()


def test_one_source_agrees_with_itself(tmp_path: Path) -> None:
    assert differing(project_with(tmp_path, gold())) == set()
    assert Desk(project_with_nothing(tmp_path), order=Order.DISAGREEMENT).waiting == 0


def project_with_nothing(tmp_path: Path) -> Project:
    (tmp_path / "empty").mkdir()
    return project_with(tmp_path / "empty", None)


def test_a_key_is_quick(tmp_path: Path) -> None:
    """Sixty mentions, forty relations, eight sources; measured without a screen, under load too."""
    project = project_with(tmp_path, None, (LONG,))
    for number in range(8):
        said, model = dense(number), ModelId("m", f"{number}" * 64)
        job = ModelRun(project, model, {})
        job.add([(1, AnnotatedDocument(document(LONG, "d1"), said, model))])
    desk = Desk(project, 1, order=Order.DISAGREEMENT)
    times = []
    for _ in range(40):
        begin = time.process_time()
        desk.press("enter")
        times.append(time.process_time() - begin)
    assert sorted(times)[37] < 0.05


LONG = " ".join(f"word{place}" for place in range(400)) + "."


def dense(seed: int) -> Annotations:
    spans = document(LONG).tokens.spans
    entities = tuple(
        Entity(f"e{place}", (spans[6 * place],), "Task" if place % (seed + 2) else "Method", 0.9)
        for place in range(60)
    )
    relations = tuple(
        Relation(f"r{place}", f"e{place}", f"e{place + 1}", "USED-FOR", 0.9) for place in range(40)
    )
    cluster = Cluster("c", tuple(f"e{place}" for place in range(0, 60, seed + 3)), 0.9)
    return Annotations(entities, relations, (cluster,))
