"""Mentions without a type are predicted as members of clusters, and nowhere else."""

from __future__ import annotations

from dataclasses import replace

from sciextract.inference.decoding import RelationLayout
from sciextract.inference.promise import keep_promise
from sciextract.inference.results import annotate
from sciextract.inference.settings import DecodeSettings, PerTask
from tests.unit.inference.fakes import LABELS, pipeline, random_document

UNTYPED = replace(LABELS, entities=("Task", ""), relations=RelationLayout((), frozenset()))
SETTINGS = DecodeSettings(thresholds=PerTask(0.4, 0.5, 0.5), candidates=True)


def test_they_are_there_for_their_cluster_only() -> None:
    model, text = pipeline(labels=UNTYPED), random_document(3, 6, 12)
    raw = model.predict(text, SETTINGS)
    lonely = set(range(len(raw.mentions))) - {m for c in raw.clusters for m in c.mentions}
    assert any(raw.mentions.predicted[m] and raw.mentions.labels[m] == 1 for m in lonely)
    found = annotate(model, text, SETTINGS).annotations
    untyped = {entity.id for entity in found.entities if not entity.label}
    assert untyped and untyped <= {m for c in found.clusters for m in c.mentions}
    assert len(found.clusters) == len(raw.clusters)


def test_nobody_is_offered_an_empty_label() -> None:
    found = annotate(pipeline(labels=UNTYPED), random_document(3, 6, 12), SETTINGS).annotations
    assert all(
        alternative.label for entity in found.entities for alternative in entity.alternatives
    )
    assert found.candidates and found.candidates.spans
    assert all(label.label for span in found.candidates.spans for label in span.labels)
    assert all(span.labels for span in found.candidates.spans)


def test_a_promise_leaves_them_with_what_they_refer_to() -> None:
    predicted = annotate(pipeline(labels=UNTYPED), random_document(3, 6, 12), SETTINGS)
    kept = keep_promise(predicted, [("entity", "Task", 0.0)])
    assert kept.annotations == predicted.annotations and not kept.held_back
    none = keep_promise(predicted, [("entity", "Task", 1.1)])
    assert set(none.held_back) == {"entity Task"}
    left = none.annotations
    assert {entity.id for entity in left.entities} == {m for c in left.clusters for m in c.mentions}
