"""Adapters of a project: what is learned from decisions, and what of it is in the file."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from sciextract import Extractor
from sciextract.cli.main import make_app
from sciextract.documents.annotations import Layer, Span, State
from sciextract.documents.document import AnnotatedDocument
from sciextract.documents.schema_file import load_schema, parse_schema
from sciextract.errors import ModelMismatchError
from sciextract.inference.adapter.states import EncoderStates
from sciextract.learning.adapter import learn
from sciextract.store import EntityRef, Project, create_project, open_project
from sciextract.store.events import Change, join_changes, replay
from sciextract.store.ingest import Import
from sciextract.store.label_changes import add_type
from sciextract.store.maintenance.doctor import examine
from sciextract.text.analyse import make_document
from sciextract.workflows.active.queues import QueueOrder, make_queue
from sciextract.workflows.active.ranking import By
from sciextract.workflows.export_project import ExportJob
from sciextract.workflows.import_files import import_files
from sciextract.workflows.learn import (
    Learner,
    adapter_run,
    find_untouched,
    finished_of,
    learn_from_project,
    suggest_with,
)
from sciextract.workflows.predict_project import predict_project
from tests.unit.workflows.alloys import ALLOYS, OWN, finish, text


@pytest.fixture(scope="module")
def states() -> EncoderStates:
    return EncoderStates(Extractor.load("sci", threads=1))


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    with create_project(tmp_path / "p.sciextract", OWN, "ann") as project:
        documents = [make_document(alloy, text(alloy)) for alloy in ALLOYS]
        Import(project, "import:t", {}).add(
            [(AnnotatedDocument(document), ()) for document in documents]
        )
        yield project


def suggested(project: Project, number: int) -> set[tuple[str, str]]:
    doc = project.document_state(number)
    return {
        (row.fragments[0].of(doc.text), row.label)
        for row in doc.entities
        if row.state is State.UNDECIDED
    }


def test_suggestions_for_own_labels_after_three_abstracts(
    project: Project, states: EncoderStates
) -> None:
    for number in (1, 2, 3):
        finish(project, number)
    report = suggest_with(project, learn_from_project(project, states))
    assert (report.documents, report.source) == (3, f"model:{states.extractor.model}+adapter/1")
    for number in (4, 5, 6):
        expected = {(ALLOYS[number - 1], "Alloy"), ("annealing", "Heat treatment")}
        assert suggested(project, number) == expected
    assert {row.state for row in project.document_state(1).entities} == {State.ADDED}


def test_a_project_that_came_through_jsonl_learns_the_same(
    project: Project, states: EncoderStates, tmp_path: Path
) -> None:
    for number in (1, 2, 3):
        finish(project, number)
    add_type(project, "entity", "Furnace")
    found = project.document_state(3).entities[0]
    project.actions.reject(3, EntityRef(found.id))
    finish(project, 4)
    ExportJob("jsonl", str(tmp_path / "x.jsonl")).run(project)
    with create_project(tmp_path / "new.sciextract", project.schema) as copy:
        import_files(copy, [str(tmp_path / "x.jsonl")])
        both = [learn_from_project(source, states).adapter for source in (project, copy)]
    first, second = (adapter.heads.entities.head for adapter in both if adapter)
    assert np.array_equal(first.linear, second.linear)
    assert np.array_equal(first.inner, second.inner)


def test_later_runs_replace_earlier_ones_and_decisions_stay(
    project: Project, states: EncoderStates
) -> None:
    for number in (1, 2):
        finish(project, number)
    suggest_with(project, learn_from_project(project, states))
    accepted = next(iter(project.document_state(6).entities))
    project.actions.accept(6, EntityRef(accepted.id))
    sizes = []
    for number in (3, 4):
        finish(project, number)
        suggest_with(project, learn_from_project(project, states))
        sizes.append(
            [
                project.connection.execute(
                    f"SELECT count(*) FROM {table} WHERE document_id = 5"
                ).fetchone()[0]
                for table in ("annotation_set", "change")
            ]
        )
    assert sizes == [[1, 2], [1, 2]]  # the import, and one run
    assert find_untouched(project) == [5]
    [kept] = [row for row in project.document_state(6).entities if row.id == accepted.id]
    assert kept.state is State.ACCEPTED
    assert project.sources[kept.source_id] == f"model:{states.extractor.model}+adapter/1"
    project.undo()  # the person's own last action, not the run
    assert project.log(1)[0].target == project.log()[2].id
    project.close()
    assert examine(project.path).sound


def test_learning_is_the_same_again_and_only_reads(project: Project, states: EncoderStates) -> None:
    finish(project, 1)
    before = project.log(1)[0].id
    document = project.document_state(4).stored.document
    first, second = (learn_from_project(project, states).annotate(document) for _ in range(2))
    assert first == second
    assert project.log(1)[0].id == before


def test_labels_that_come_and_go(project: Project, states: EncoderStates) -> None:
    for number in (1, 2, 3):
        finish(project, number)
    names = {"name": "fewer", "coreference": False, "relations": []}
    entities = [{"label": label, "key": label[0].lower(), "colour": "#112233"} for label in NEW]
    project.set_schema(parse_schema(names | {"entities": entities}, "schema of the test"))
    suggest_with(project, learn_from_project(project, states))
    found = set.union(*(suggested(project, number) for number in (4, 5, 6)))
    assert {label for _, label in found} == {"Alloy"}


NEW = ("Alloy", "Furnace")


def test_contradictory_decisions_are_learned_from_in_the_same_way_each_time(
    project: Project, states: EncoderStates
) -> None:
    finish(project, 1)
    finish(project, 2)
    of = project.document_state(3).text
    for word, label in (("steel", "Heat treatment"), ("annealing", "Alloy")):
        start = of.index(word)
        project.actions.add_entity(3, [Span(start, start + len(word))], label)
    project.actions.mark_done(3)
    before = len(project.log())
    first, second = (learn_from_project(project, states) for _ in range(2))
    document = project.document(4).document
    found = [extractor.annotate(document).annotations.entities for extractor in (first, second)]
    labels = [[(entity.span, entity.label, entity.score) for entity in side] for side in found]
    assert labels[0] == labels[1] and finished_of(first) == 3
    suggest_with(project, first)
    assert {entity.label for entity in project.document(3).annotations.entities} == {
        "Alloy", "Heat treatment",
    }  # fmt: skip
    assert len(project.log()) == before + 1


def test_hardly_anything_to_learn_from(project: Project, states: EncoderStates) -> None:
    nothing = learn_from_project(project, states)
    assert suggest_with(project, nothing).documents == len(ALLOYS)
    assert not any(suggested(project, number) for number in project.numbers())
    project.actions.mark_done(1)  # an abstract without a single entity
    project.actions.add_entity(2, [Span(0, 2)], "Alloy")  # and one with a single decision
    project.actions.reject(2, EntityRef(project.document_state(2).entities[0].id))
    for empty in ("", "   ", "!"):
        learn_from_project(project, states).annotate(make_document("e", empty))


def test_an_untrained_adapter_predicts_as_the_model(states: EncoderStates) -> None:
    schema = load_schema("scierc")
    document = make_document("d", "We train a parser for dependency parsing on the treebank.")
    mine = learn([], schema, states).annotate(document).annotations
    its = states.extractor.annotate(document).annotations
    for one, other in ((mine.entities, its.entities), (mine.relations, its.relations)):
        assert [entity.label for entity in one] == [entity.label for entity in other]
        assert [entity.score for entity in one] == pytest.approx(
            [entity.score for entity in other], abs=0.01
        )
    assert mine.entities


SAMPLES = (
    "We train a parser for dependency parsing on the treebank. The parser beats a tagger on news text.",
    "A neural network is used for speech recognition. It improves accuracy over the hidden Markov model.",
    "We compare two taggers for named entity recognition. The tagger uses character embeddings.",
)


@pytest.fixture
def scierc(tmp_path: Path, states: EncoderStates) -> Iterator[Project]:
    """Three predicted abstracts; in the first two everything is rejected and done, which teaches the opposite."""
    with create_project(tmp_path / "s.sciextract", load_schema("scierc"), "ann") as project:
        documents = [make_document(str(place), text) for place, text in enumerate(SAMPLES)]
        Import(project, "import:t", {}).add(
            [(AnnotatedDocument(document), ()) for document in documents]
        )
        predict_project(project, states.extractor.with_settings(candidates=True))
        for number in (1, 2):
            project.actions.mark_done(number, undecided="reject")
        yield project


def test_layers_that_are_off_are_the_models_own_items(
    scierc: Project, states: EncoderStates
) -> None:
    adapter = learn_from_project(scierc, states)
    for sample in SAMPLES:
        document = make_document("d", sample)
        its = states.extractor.with_settings(candidates=True).annotate(document).annotations
        assert its.entities and its.relations
        assert adapter.annotate(document).annotations.entities != its.entities
        assert adapter.using(()).annotate(document).annotations == its
        related = adapter.using([Layer.RELATIONS]).annotate(document).annotations
        assert (related.entities, related.clusters) == (its.entities, its.clusters)
        assert related.relations, "between the model's own entities"
        linked = adapter.using([Layer.COREFERENCE]).annotate(document).annotations
        assert (linked.entities, linked.relations) == (its.entities, its.relations)


def test_relations_and_clusters_that_are_off_are_the_models_own_between_shown_mentions(
    scierc: Project, states: EncoderStates
) -> None:
    scierc.actions.accept(3, EntityRef(scierc.document_state(3).entities[0].id))
    adapter = learn_from_project(scierc, states)
    document = make_document("d", " ".join(SAMPLES))
    its = states.extractor.with_settings(candidates=True).annotate(document).annotations
    # No threshold: else this adapter, which learned the opposite, shows no mention of the model.
    low = dict.fromkeys(("entity", "relation", "coreference"), 0.01)
    adapter = adapter.with_settings(low, candidates=True)
    shown = (
        adapter.using([Layer.ENTITIES])
        .with_settings(low, candidates=True)
        .annotate(document)
        .annotations
    )
    spans = {entity.id: entity.span for entity in (*its.entities, *shown.entities)}
    there = {entity.span for entity in shown.entities}
    expected = [
        (
            spans[relation.head],
            spans[relation.tail],
            relation.label,
            relation.score,
            relation.source,
        )
        for relation in its.relations
        if {spans[relation.head], spans[relation.tail]} <= there
    ]
    assert expected == [
        (
            spans[relation.head],
            spans[relation.tail],
            relation.label,
            relation.score,
            relation.source,
        )
        for relation in shown.relations
    ]
    restricted = [
        [spans[id_] for id_ in cluster.mentions if spans[id_] in there] for cluster in its.clusters
    ]
    assert [cluster for cluster in restricted if len(cluster) > 1] == [
        [spans[id_] for id_ in cluster.mentions] for cluster in shown.clusters
    ]
    assert expected and shown.clusters, "the samples say something"


def test_what_is_off_keeps_the_model_as_its_source(scierc: Project, states: EncoderStates) -> None:
    before = scierc.document_state(3)
    adapter = learn_from_project(scierc, states)
    run = adapter_run(scierc, adapter.model, 2, ())
    document = before.stored.document
    own = adapter.using(()).annotate(document).annotations
    for shown in (adapter.annotate(document).annotations, own):
        run.add([(3, adapter.annotate(document))], {3: shown})
    after = scierc.document_state(3)
    for one, other in ((before.entities, after.entities), (before.relations, after.relations)):
        rows = [
            {(row.label, row.score, scierc.sources[row.source_id]) for row in side}
            for side in (one, other)
        ]
        assert rows[0] == rows[1] and rows[0]


def test_abstracts_that_are_begun_are_not_counted_as_done(
    scierc: Project, states: EncoderStates
) -> None:
    scierc.actions.accept(3, EntityRef(scierc.document_state(3).entities[0].id))
    learned = Learner(scierc.path, "sci").learn()
    assert (learned.finished, learned.done) == (3, 2)


def test_until_two_are_finished_the_best_few_are_shown(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sciextract.workflows.learn.MOST_AT_FIRST", 1)
    learner = Learner(project.path, "sci")
    for finished in (1, 2):
        finish(project, finished)
        learner.learn()
        [made] = learner.predict([6])
        scores = [entity.score or 0.0 for entity in made.predicted.annotations.entities]
        shown = [entity.score for entity in made.shown.entities]
        assert len(scores) > 1
        assert shown == ([max(scores)] if finished == 1 else scores)


def test_queue_and_annotate_work_from_decisions(project: Project, states: EncoderStates) -> None:
    order = QueueOrder(By.ENTROPY)
    with pytest.raises(ModelMismatchError, match="lacks"):
        make_queue(project, order, lambda done, of: None)
    for number in (1, 2, 3):
        finish(project, number)
    made = make_queue(project, order, lambda done, of: None)
    assert set(made.queue.numbers) == {4, 5, 6}
    assert made.model == f"{states.extractor.model}+adapter"
    project.close()
    result = CliRunner().invoke(make_app(), ["annotate", "--project", str(project.path), "--json"])
    assert result.exit_code == 0, result.output
    with open_project(project.path) as again:
        assert suggested(again, 4)


VALUES = st.fixed_dictionaries({"a": st.integers(0, 2), "b": st.integers(0, 2)})


@given(st.lists(VALUES | st.none(), min_size=3, max_size=6), st.integers(1, 5))
def test_joined_changes_do_the_same(states: list[dict[str, int] | None], at: int) -> None:
    """Rows come, change and go; however the series is cut in two, it is the same in one."""
    states = [None, *states]
    changes = [made for before, after in pairwise(states) if (made := difference(before, after))]
    cut = min(at, len(changes))
    assert replay(join_changes(changes[:cut], changes[cut:])) == replay(changes)


def difference(before: dict[str, int] | None, after: dict[str, int] | None) -> Change | None:
    if before == after:
        return None
    if before is None or after is None:
        return Change("entity", ("e",), before, after)
    names = [name for name in after if after[name] != before[name]]
    old, new = ({name: arrays[name] for name in names} for arrays in (before, after))
    return Change("entity", ("e",), old, new)
