"""What a snapshot's line holds comes back exactly: text, tokens, items with their states, complete layers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from sciextract.documents.annotations import Annotations, Cluster, Layer, State
from sciextract.documents.document import AnnotatedDocument
from sciextract.formats.base import Source
from sciextract.formats.json_values import parse_object
from sciextract.formats.jsonl import parse_record
from sciextract.snapshot.documents import (
    Origin,
    TrainingDocument,
    Verdict,
    from_read,
    to_line,
    verdicts_of,
)
from sciextract.snapshot.gathering import positives
from sciextract.text.analyse import analyse
from tests.strategies import annotated_documents


@st.composite
def training_documents(draw: st.DrawFn) -> TrainingDocument:
    """Documents whose entities cut tokens, with a state for each mention of a cluster."""
    found = draw(annotated_documents(states=tuple(State)))
    clusters = tuple(_with_states(draw, cluster) for cluster in found.annotations.clusters)
    annotations = replace(found.annotations, clusters=clusters)
    text = found.document.text
    document = replace(found.document, tokens=analyse(text, []), fields={"complete": "no"})
    return TrainingDocument(
        AnnotatedDocument(document, annotations),
        draw(st.frozensets(st.sampled_from(Layer))),
        draw(st.sampled_from(Origin)),
    )


def _with_states(draw: st.DrawFn, cluster: Cluster) -> Cluster:
    count = len(cluster.mentions)
    states = draw(st.lists(st.sampled_from(State), min_size=count, max_size=count))
    return replace(cluster, mention_states=tuple(states) if draw(st.booleans()) else ())


def _read(line: str) -> TrainingDocument | None:
    record = parse_object(line.encode().decode(), "train.jsonl", 1)
    return from_read(parse_record(record, Source("train.jsonl"), 1))


@given(training_documents())
def test_a_line_gives_back_what_was_written(document: TrainingDocument) -> None:
    line = to_line(document)
    assert "\n" not in line
    found = _read(line)
    assert found == document
    assert found is not None
    assert found.annotated.document.fields == {}
    assert verdicts_of(found) == verdicts_of(document)


@given(training_documents())
def test_masks_hold_in_every_layer(document: TrainingDocument) -> None:
    verdicts = verdicts_of(document)
    annotations = document.annotated.annotations
    undecided = {entity for entity, found in verdicts.entities.items() if found is Verdict.MASKED}
    for relation in annotations.relations:
        if {relation.head, relation.tail} & undecided:
            assert verdicts.relations[relation.id] is Verdict.MASKED
    for pair, found in verdicts.pairs.items():
        if set(pair) & undecided:
            assert found is Verdict.MASKED
    assert not undecided & verdicts.settled
    assert document.complete >= {Layer.COREFERENCE} or not verdicts.settled


@given(training_documents())
def test_positives_are_what_the_verdicts_call_positive(document: TrainingDocument) -> None:
    verdicts, found = verdicts_of(document), positives(document.annotated).annotations
    assert {entity.id for entity in found.entities} == _positive(verdicts.entities)
    assert {relation.id for relation in found.relations} == _positive(verdicts.relations)
    assert _mentions(found) <= _positive(verdicts.mentions)


def _positive(verdicts: Mapping[Any, Verdict]) -> set[Any]:
    return {verdict for verdict, found in verdicts.items() if found is Verdict.POSITIVE}


def _mentions(annotations: Annotations) -> set[tuple[str, str]]:
    return {
        (cluster.id, mention) for cluster in annotations.clusters for mention in cluster.mentions
    }
