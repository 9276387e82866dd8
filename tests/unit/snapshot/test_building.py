"""Snapshots of projects: what goes in with which states and layers, what the manifest says, and what is refused."""

from __future__ import annotations

import json
import tracemalloc
from pathlib import Path

import jsonschema
import pytest

from sciextract.documents.annotations import Annotations, Cluster, Layer, State
from sciextract.documents.document import Document
from sciextract.errors import OutputError, SchemaError, TrainingDataError
from sciextract.snapshot import gathering
from sciextract.snapshot.documents import Split
from sciextract.snapshot.files import (
    build_snapshot,
    read_snapshot,
    read_undecided,
    too_few_to_compare,
)
from sciextract.store import EntityRef, LinkRef, Project, open_project
from tests.shared_data import ROOT
from tests.unit.snapshot.abstracts import put_gold, texts
from tests.unit.store.projects import (
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
)

TEXT = texts(Split.TRAIN)[0]


def proposed(project: Project, text: str = TEXT) -> int:
    """An abstract with what a model proposes: three mentions of one thing, a task, a relation."""
    put(project, text=text)
    number = project.numbers()[-1]
    predict(
        project,
        guess("A", place("net", 0, text)),
        guess("B", place("graph", 0, text), "Task"),
        guess("C", place("net", 1, text)),
        guess("D", place("number", 0, text)),
        guess_relation("R", "A", "B"),
        guess_cluster("X", "A", "C", "D"),
        number=number,
    )
    return number


def built(project: Project, folder: Path) -> Annotations:
    """The annotations of the only document of train."""
    build_snapshot(project, folder / "s")
    (found,) = read_snapshot(folder / "s").train
    return found.annotated.annotations


def by_word(annotations: Annotations, text: str = TEXT) -> dict[str, State]:
    return {
        f"{entity.span.of(text)}{entity.span.char_start}": entity.state
        for entity in annotations.entities
    }


def test_every_item_goes_in_with_its_state(project: Project, tmp_path: Path) -> None:
    number = proposed(project)
    first, *_ = project.document_state(number).entities
    project.actions.accept(number, EntityRef(first.id))
    last = next(e for e in project.document_state(number).entities if e.surface(TEXT) == "number")
    project.actions.reject(number, EntityRef(last.id))
    found = built(project, tmp_path)
    assert sorted(entity.state for entity in found.entities) == sorted(
        [State.ACCEPTED, State.UNDECIDED, State.UNDECIDED, State.REJECTED]
    )
    assert [relation.state for relation in found.relations] == [State.UNDECIDED]
    assert {entity.source.partition("/")[0] for entity in found.entities} == {
        "model:first@aaaaaaaa"
    }


def test_a_mention_that_was_sent_out_of_a_cluster_stays_in_as_rejected(
    project: Project, tmp_path: Path
) -> None:
    number = proposed(project)
    doc = project.document_state(number)
    third = doc.entities[-1]
    (link,) = doc.links_of(third.id)
    project.actions.accept(number, LinkRef(link.cluster_id, doc.entities[1].id))
    project.actions.reject(number, LinkRef(link.cluster_id, third.id))
    (found,) = built(project, tmp_path).clusters
    states = dict(zip(found.mentions, found.mention_states, strict=True))
    assert states[third.id] is State.REJECTED
    assert len(states) == 3
    assert set(states.values()) == {State.ACCEPTED, State.REJECTED}


def test_lines_are_exchange_records_whose_scierc_fields_leave_out_what_is_rejected(
    project: Project, tmp_path: Path
) -> None:
    number = proposed(project)
    third = project.document_state(number).entities[-1]
    (link,) = project.document_state(number).links_of(third.id)
    project.actions.reject(number, LinkRef(link.cluster_id, third.id))
    build_snapshot(project, tmp_path / "s")
    record = json.loads((tmp_path / "s" / "train.jsonl").read_text("utf-8"))
    jsonschema.validate(
        record, json.loads((ROOT / "schemas" / "export.schema.json").read_text("utf-8"))
    )
    assert [len(mentions) for mentions in record["clusters"]] == [2]
    assert record["training"] == {"complete": [], "origin": "project"}


def test_a_cluster_that_was_rejected_as_a_whole_stays_in(project: Project, tmp_path: Path) -> None:
    put(project, text=TEXT)
    pair = (guess("A", place("net", 0, TEXT)), guess("B", place("net", 1, TEXT)))
    predict(project, *pair, guess_cluster("X", "A", "B"))
    (link, _) = project.document_state(1).links
    project.actions.reject(1, LinkRef(*link.key))
    (found,) = built(project, tmp_path).clusters
    assert (found.state, found.mention_states, len(found.mentions)) == (State.REJECTED, (), 2)


def test_layers_that_are_done(project: Project, tmp_path: Path) -> None:
    first, second, third = texts(Split.TRAIN, 3)
    put_gold(project, first)
    put_gold(project, second, (Layer.ENTITIES,))
    put_gold(project, third, ())
    build_snapshot(project, tmp_path / "s")
    snapshot = read_snapshot(tmp_path / "s")
    assert [example.complete for example in snapshot.train] == [
        frozenset(Layer),
        frozenset({Layer.ENTITIES}),
        frozenset(),
    ]
    train = snapshot.manifest.splits[Split.TRAIN]
    assert train.complete == {"entities": 2, "relations": 1, "coreference": 1}


def test_a_schema_without_coreference_has_no_such_layer(tmp_path: Path) -> None:
    with new_project(tmp_path, coreference=False) as project:
        put_gold(project, TEXT)
        build_snapshot(project, tmp_path / "s")
    (found,) = read_snapshot(tmp_path / "s").train
    assert found.complete == {Layer.ENTITIES, Layer.RELATIONS}
    assert found.annotated.annotations.clusters == ()


def test_the_manifest_counts(project: Project, tmp_path: Path) -> None:
    number = proposed(project)
    first = project.document_state(number).entities[0]
    project.actions.accept(number, EntityRef(first.id))
    put_gold(project, texts(Split.GATE)[0])
    manifest = build_snapshot(project, tmp_path / "s")
    train = manifest.splits[Split.TRAIN]
    assert (train.documents, manifest.project, manifest.schema) == (1, "p", "small")
    assert train.labels["entities"]["Method"] == {"positive": 1, "negative": 0, "masked": 2}
    assert train.labels["relations"]["Uses"] == {"positive": 0, "negative": 0, "masked": 1}
    assert train.verdicts["coreference"] == {"positive": 0, "negative": 0, "masked": 3}
    assert train.suggested_by == {"first@aaaaaaaa": 1}
    assert manifest.splits[Split.GATE].suggested_by == {}
    assert manifest.splits[Split.GATE].origins == {"project": 1}
    assert read_snapshot(tmp_path / "s").manifest == manifest


def test_the_same_project_gives_the_same_bytes(project: Project, tmp_path: Path) -> None:
    for text in [*texts(Split.TRAIN, 3), *texts(Split.DEV)]:
        put_gold(project, text)
    put(project, text=texts(Split.TRAIN, 1, "bees")[0])
    for name in ("one", "two"):
        build_snapshot(project, tmp_path / name)
    for file in (tmp_path / "one").iterdir():
        assert file.read_bytes() == (tmp_path / "two" / file.name).read_bytes()


def test_a_project_that_can_only_be_read(project: Project, tmp_path: Path) -> None:
    put_gold(project, TEXT)
    project.close()
    with open_project(project.path, read=True) as opened:
        assert build_snapshot(opened, tmp_path / "s").splits[Split.TRAIN].documents == 1


def test_undecided_abstracts_are_chosen_by_hash_and_never_held_out(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put_gold(project, TEXT)
    free = texts(Split.TRAIN, 6, "bees")
    put_all(project, [(document(text), ()) for text in free])
    put_all(project, [(document(text), ()) for text in texts(Split.GATE, 3, "bees")])
    assert build_snapshot(project, tmp_path / "all").undecided == 6
    found = list(read_undecided(tmp_path / "all"))
    assert {document.text for document in found} == set(free)
    assert all(isinstance(document, Document) and len(document.tokens) for document in found)
    monkeypatch.setattr(gathering.Gathering.choose_undecided, "__defaults__", (2,))
    assert build_snapshot(project, tmp_path / "few").undecided == 2
    few = [document.text for document in read_undecided(tmp_path / "few")]
    assert few == [document.text for document in found[:2]]


@pytest.mark.parametrize("text", [None, TEXT])
def test_nothing_to_train_on(project: Project, tmp_path: Path, text: str | None) -> None:
    if text:
        put(project, text=text)
    with pytest.raises(TrainingDataError, match="nobody has decided") as caught:
        build_snapshot(project, tmp_path / "s")
    assert "--base" in caught.value.hint
    assert not [path for path in tmp_path.iterdir() if path.is_dir()]


def test_everything_is_held_out(project: Project, tmp_path: Path) -> None:
    put_gold(project, texts(Split.GATE)[0])
    put_gold(project, texts(Split.DEV)[0], ())
    with pytest.raises(TrainingDataError, match="all 2 abstracts with decisions are held out"):
        build_snapshot(project, tmp_path / "s")


def test_a_failure_leaves_the_earlier_snapshot(project: Project, tmp_path: Path) -> None:
    put_gold(project, TEXT)
    build_snapshot(project, tmp_path / "s")
    before = (tmp_path / "s" / "train.jsonl").read_bytes()
    project.undo()
    project.undo()
    with pytest.raises(TrainingDataError):
        build_snapshot(project, tmp_path / "s")
    assert (tmp_path / "s" / "train.jsonl").read_bytes() == before


def test_nothing_positive_is_a_warning(project: Project, tmp_path: Path) -> None:
    number = proposed(project)
    for row in project.document_state(number).entities:
        project.actions.reject(number, EntityRef(row.id))
    manifest = build_snapshot(project, tmp_path / "s")
    assert "nothing positive" in manifest.warnings[0]
    assert manifest.splits[Split.TRAIN].verdicts["entities"]["negative"] == 4


def test_labels_without_an_example_and_empty_splits_are_warnings(
    project: Project, tmp_path: Path
) -> None:
    put_gold(project, TEXT)
    warnings = build_snapshot(project, tmp_path / "s").warnings
    assert [warning.partition(":")[0].partition(".")[0] for warning in warnings] == [
        "relations without a positive example in train",
        "dev is empty",
        "too few abstracts are held out to tell small differences of two models (0 with 0 gold entities; 30 with 300 do)",
    ]
    assert "Like" in warnings[0]


@pytest.mark.parametrize(
    ("documents", "entities", "finished", "words"),
    [
        (4, 60, 20, "cross-validation over 20 finished ones"),
        (30, 100, 150, "cross-validation over 150 finished ones"),
        (1, 0, 9, "the present model will stay in use"),
        (6, 60, 9, "only a clearly better model will be used"),
        (29, None, 145, "cross-validation over 145"),
    ],
)
def test_what_tells_two_models_apart(
    documents: int, entities: int | None, finished: int, words: str
) -> None:
    assert words in too_few_to_compare(documents, finished, entities)


@pytest.mark.parametrize("entities", [300, None])
def test_enough_to_compare_needs_no_words(entities: int | None) -> None:
    assert too_few_to_compare(30, 150, entities) == ""


def test_labels_that_the_schema_lost(project: Project, tmp_path: Path) -> None:
    put(project, entity("E", place("net", 0, TEXT), "Gene"), text=TEXT)
    with pytest.raises(SchemaError, match=r"'Gene' \(1\).*it has Method, Task") as caught:
        build_snapshot(project, tmp_path / "s")
    assert "sciextract search --label" in caught.value.hint
    project.actions.reject(1, EntityRef(project.document_state(1).entities[0].id))
    assert build_snapshot(project, tmp_path / "s").splits[Split.TRAIN].documents == 1


def test_a_folder_that_cannot_be_written(project: Project, tmp_path: Path) -> None:
    put_gold(project, TEXT)
    (tmp_path / "file").write_text("x", "utf-8")
    with pytest.raises(OutputError):
        build_snapshot(project, tmp_path / "file" / "s")


def test_documents_go_through_one_by_one(project: Project, tmp_path: Path) -> None:
    long = [f"{text} {'A fish swims. ' * 40}" for text in texts(Split.TRAIN, 400)]
    items = (entity("E", place("net", 0, long[0])),)
    put_all(project, [(document(text), items) for text in long])
    build_snapshot(project, tmp_path / "first")  # imports what is imported on first use
    tracemalloc.start()
    manifest = build_snapshot(project, tmp_path / "s")
    _, peak_bytes = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    written_bytes = sum((tmp_path / "s" / name).stat().st_size for name in manifest.files)
    assert peak_bytes < written_bytes / 3


def test_clusters_of_hostile_sources_stay_text(project: Project, tmp_path: Path) -> None:
    hostile = "A net \x1b[31m of [12] \u2028 graphs. The net =1+1."
    put(
        project,
        entity("E", place("net", 0, hostile)),
        entity("F", place("net", 1, hostile)),
        Cluster("C", ("E", "F"), state=State.IMPORTED),
        text=hostile,
        source="import:\x1b[2J.jsonl",
    )
    put_gold(project, TEXT)
    project.actions.mark_done(1, tuple(Layer))
    build_snapshot(project, tmp_path / "s")
    snapshot = read_snapshot(tmp_path / "s")
    documents = (*snapshot.train, *snapshot.dev, *snapshot.gate)
    assert hostile in [document.annotated.document.text for document in documents]
