"""One document through the pipeline: windows, candidates, batches, texts of every size."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from sciextract.inference import candidates
from sciextract.inference.batching import SINGLE, Batching
from sciextract.inference.decoding import RelationLayout
from sciextract.inference.pipeline import Labels, RawPrediction
from sciextract.inference.settings import DecodeSettings, PerTask
from tests.unit.inference import fakes

SETTINGS = DecodeSettings(thresholds=PerTask(0.5, 0.4, 0.5))


def _same(left: RawPrediction, right: RawPrediction) -> None:
    np.testing.assert_array_equal(left.mentions.spans, right.mentions.spans)
    np.testing.assert_allclose(left.mentions.types, right.mentions.types, rtol=1e-5)
    assert [(r.head, r.tail, r.label) for r in left.relations] == [
        (r.head, r.tail, r.label) for r in right.relations
    ]
    assert [c.mentions for c in left.clusters] == [c.mentions for c in right.clusters]


def test_many_windows_predict_what_one_window_predicts() -> None:
    long = fakes.random_document(1, sentences=60, words=20)
    windowed, whole = fakes.pipeline(limit=510), fakes.pipeline(limit=100_000)
    predicted = windowed.predict(long, SETTINGS)
    assert len(windowed.network.windows) > 2  # type: ignore[attr-defined]
    assert max(len(w.input_ids) for w in windowed.network.windows) <= 512  # type: ignore[attr-defined]
    assert len(predicted.relations) > 5 and len(predicted.clusters) > 5
    _same(predicted, whole.predict(long, SETTINGS))


def test_clusters_join_mentions_of_different_windows() -> None:
    long = fakes.random_document(1, sentences=60, words=20)
    predicted = fakes.pipeline(limit=200).predict(long, SETTINGS)
    reach = [
        predicted.mentions.spans[cluster.mentions[-1], 0]
        - predicted.mentions.spans[cluster.mentions[0], 0]
        for cluster in predicted.clusters
    ]
    assert max(reach) > 200


def test_many_links_are_scored_in_calls_with_the_mentions_that_each_needs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    document = fakes.random_document(5, sentences=9, words=9)
    whole = fakes.pipeline().predict(document, SETTINGS)
    monkeypatch.setattr(candidates, "LINKS_PER_CALL", 7)
    assert len(whole.links.links) > 3 * 7
    parts = fakes.pipeline().predict(document, SETTINGS)
    assert parts.links.links.tolist() == whole.links.links.tolist()
    assert parts.links.probabilities.tolist() == whole.links.probabilities.tolist()
    assert parts.clusters == whole.clusters


@pytest.mark.parametrize(
    "batching", [SINGLE, Batching(2), Batching(7), Batching(None, 100), Batching(3, 400)]
)
def test_batches_change_nothing(batching: Batching) -> None:
    documents = [fakes.random_document(seed, sentences=3 + seed, words=9) for seed in range(5)]
    one = fakes.pipeline(limit=60)
    for single, batched in zip(
        [one.predict(document, SETTINGS) for document in documents],
        one.predict_batch(documents, SETTINGS, batching),
        strict=True,
    ):
        _same(single, batched)


@pytest.mark.parametrize("seed", range(6))
def test_candidates_hold_the_predictions_and_change_none(seed: int) -> None:
    text = fakes.random_document(seed, sentences=4, words=12)
    plain = fakes.pipeline().predict(text, SETTINGS)
    rich = fakes.pipeline().predict(text, replace(SETTINGS, candidates=True))
    chosen = np.flatnonzero(rich.mentions.predicted)
    assert len(rich.mentions) > len(chosen)
    np.testing.assert_array_equal(rich.mentions.spans[chosen], plain.mentions.spans)
    place = {int(row): at for at, row in enumerate(chosen)}
    assert [(place[r.head], place[r.tail], r.label, r.score) for r in rich.relations] == [
        (r.head, r.tail, r.label, r.score) for r in plain.relations
    ]
    assert [tuple(place[m] for m in c.mentions) for c in rich.clusters] == [
        c.mentions for c in plain.clusters
    ]
    assert {tuple(pair) for pair in plain.pairs.pairs.tolist()} <= {
        (place[a], place[b]) for a, b in rich.pairs.pairs.tolist() if a in place and b in place
    }


def test_labels_that_are_not_wanted_are_as_if_the_model_had_none() -> None:
    pipeline, document = fakes.pipeline(), fakes.random_document(2, sentences=4, words=12)
    wanted = frozenset({pipeline.labels.entities[0]})
    every = pipeline.predict(document, SETTINGS)
    some = pipeline.predict(document, replace(SETTINGS, only=wanted))
    assert set(every.mentions.labels) != {0}
    assert len(some.mentions) and set(some.mentions.labels) == {0}
    assert not some.mentions.types[:, 2:].any()


def test_a_document_without_words_predicts_nothing() -> None:
    predicted = fakes.pipeline().predict(fakes.document([], []), SETTINGS)
    assert not len(predicted.mentions) and not predicted.relations and not predicted.clusters
    assert predicted.mentions.types.shape == (0, 3)


def test_one_word_is_enough() -> None:
    everything = DecodeSettings(thresholds=PerTask(0.0, 0.0, 0.0))
    predicted = fakes.pipeline().predict(fakes.document(["a"], [1]), everything)
    assert predicted.mentions.spans.tolist() == [[0, 0]]
    assert not predicted.relations and not predicted.clusters


def test_relations_stay_inside_their_sentence() -> None:
    text = fakes.random_document(3, sentences=8, words=6)
    predicted = fakes.pipeline().predict(text, SETTINGS)
    starts = predicted.mentions.spans[:, 0] // 6
    assert predicted.relations
    assert all(starts[r.head] == starts[r.tail] for r in predicted.relations)


def test_a_schema_without_relations_and_coreference_predicts_entities_only() -> None:
    bare = Labels(("Task",), RelationLayout((), frozenset()), False, 3)
    predicted = fakes.pipeline(labels=bare).predict(
        fakes.random_document(2, sentences=3, words=8), SETTINGS
    )
    assert len(predicted.mentions) and not predicted.relations and not predicted.clusters


def test_thresholds_of_zero_and_one_are_possible() -> None:
    text = fakes.random_document(4, sentences=3, words=8)
    everything = fakes.pipeline().predict(text, DecodeSettings(thresholds=PerTask(0.0, 0.0, 0.0)))
    nothing = fakes.pipeline().predict(text, DecodeSettings(thresholds=PerTask(1.0, 1.0, 1.0)))
    assert len(everything.mentions) > 5 and everything.relations and everything.clusters
    assert not len(nothing.mentions)
