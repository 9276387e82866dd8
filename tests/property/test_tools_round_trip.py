"""Annotation tools: what is written and not counted as lost comes back, for every text and every nesting."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from sciextract.documents.annotations import Annotations, Entity, State
from sciextract.documents.document import AnnotatedDocument
from sciextract.formats import open_writer, read
from sciextract.formats.label_studio import INCLUSIVE_ENDS
from tests.shared_data import shared_path
from tests.strategies import annotated_documents, said_of
from tests.tiers import examples

FEW = settings(max_examples=examples(120), deadline=None, suppress_health_check=list(HealthCheck))
TOOLS = pytest.mark.parametrize("tool", ["prodigy", "doccano", "labelstudio"])


def written(path: Path, tool: str, *documents: AnnotatedDocument) -> Counter[str]:
    writer = open_writer(tool, path)
    for document in documents:
        writer.write(document)
    writer.close()
    return writer.losses


def read_all(path: Path, tool: str | None) -> list[AnnotatedDocument]:
    items = list(read([path], tool))
    assert all(isinstance(item, AnnotatedDocument) for item in items), items
    return [item for item in items if isinstance(item, AnnotatedDocument)]


def name(entity: Entity) -> tuple[Any, ...]:
    return entity.fragments, entity.label


def layers(annotations: Annotations) -> tuple[Counter[Any], Counter[Any], Counter[Any]]:
    """The three layers by content, for ids change on import."""
    names = {
        entity.id: name(entity) for entity in annotations.entities if entity.state != "rejected"
    }
    return (
        Counter(names.values()),
        Counter(
            (names.get(relation.head), names.get(relation.tail), relation.label)
            for relation in annotations.relations
            if relation.state is not State.REJECTED
            and {relation.head, relation.tail} <= names.keys()
        ),
        Counter(
            frozenset(Counter(names[m] for m in cluster.mentions if m in names).items())
            for cluster in annotations.clusters
            if cluster.state is not State.REJECTED and any(m in names for m in cluster.mentions)
        ),
    )


def missing(losses: Counter[str], *words: str) -> int:
    return sum(count for kind, count in losses.items() if kind.startswith(words))


@TOOLS
@FEW
@given(document=annotated_documents(attributes=True))
def test_only_counted_losses_are_missing(
    tool: str, document: AnnotatedDocument, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("tool") / "made.jsonl"
    losses = written(path, tool, document)
    (back,) = read_all(path, tool)
    assert back.document.text == document.document.text
    assert back.document.doc_key == document.document.doc_key
    assert back.document.tokens.problems(len(back.document.text)) == []
    said, again = said_of(document.annotations), said_of(back.annotations)
    assert again <= said and len(said) - len(again) <= missing(losses, "attribute", "second value")
    expected, found = layers(document.annotations), layers(back.annotations)
    entities = missing(losses, "discontinuous", "entity", "second entity")
    relations = missing(losses, "relation")
    assert not found[0] - expected[0] and (expected[0] - found[0]).total() == entities
    assert not found[1] - expected[1] and (expected[1] - found[1]).total() == relations
    if not missing(losses, "mention", "cluster", "second entity"):
        assert found[2] == expected[2]
    assert found[2].total() == expected[2].total() - missing(losses, "cluster")


@TOOLS
@FEW
@given(document=annotated_documents(attributes=True))
def test_the_second_export_is_the_first(
    tool: str, document: AnnotatedDocument, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("tool")
    written(folder / "first.jsonl", tool, document)
    again = read_all(folder / "first.jsonl", tool)
    assert not written(folder / "second.jsonl", tool, *again)
    third = read_all(folder / "second.jsonl", tool)
    assert [layers(item.annotations) for item in third] == [layers(e.annotations) for e in again]
    assert [said_of(item.annotations) for item in third] == [said_of(e.annotations) for e in again]


SAMPLES = [
    ("doccano", "formats/doccano/scierc-constructed-export.jsonl"),
    ("doccano", "formats/doccano/sequence_labeling-export.jsonl"),
    ("doccano", "formats/doccano/relation_extraction-export.json"),
    ("labelstudio", "formats/label-studio/scierc-constructed-export.json"),
    ("labelstudio", "formats/label-studio/named_entity-completion-old-format.json"),
]


@pytest.mark.parametrize(("tool", "sample"), SAMPLES)
def test_a_real_sample_is_recognised_and_comes_back(tool: str, sample: str, tmp_path: Path) -> None:
    documents = read_all(shared_path(sample), None)
    assert documents and any(document.annotations.entities for document in documents)
    remarks = [remark for document in documents for remark in document.warnings]
    assert remarks == ([f"{INCLUSIVE_ENDS.remark} (once)"] if "old-format" in sample else [])
    for other in ("prodigy", "doccano", "labelstudio"):
        path = tmp_path / f"{other}.json"
        assert not written(path, other, *documents)
        again = read_all(path, None)
        assert [layers(e.annotations) for e in again] == [layers(e.annotations) for e in documents]
        assert [e.document.text for e in again] == [e.document.text for e in documents]


def test_scierc_survives_every_tool(tmp_path: Path) -> None:
    documents = read_all(shared_path("scierc/dev.jsonl"), None)[:20]
    for tool in ("prodigy", "labelstudio"):
        path = tmp_path / "made.json"
        losses = written(path, tool, *documents)
        again = read_all(path, None)
        assert not losses, (tool, losses)
        assert [layers(e.annotations) for e in again] == [layers(e.annotations) for e in documents]
