"""Entities below the threshold are predicted where a sure relation speaks for them, and nowhere else."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sciextract.inference.decoding import Mentions, ScoredPairs, rescue_mentions
from sciextract.inference.pipeline import RawPrediction
from sciextract.inference.results import calibrate
from sciextract.inference.settings import DecodeSettings, PerTask, Rescue
from tests.unit.inference import fakes

THRESHOLDS = PerTask(0.5, 0.4, 0.5)
SETTINGS = DecodeSettings(thresholds=THRESHOLDS, rescue=Rescue(0.2, 0.6))

Span = tuple[int, int]


def _rescued(
    spans: dict[Span, float], pairs: dict[tuple[int, int], float], **changes: object
) -> list[Span]:
    """The predicted spans of some with these scores; ``pairs`` are the relation scores by their numbers."""
    scores = np.array(list(spans.values()), dtype=np.float32)
    types = np.stack([1 - scores, scores], axis=1)
    mentions = Mentions(np.array(list(spans)), types, scores >= THRESHOLDS.entity)
    sure = np.array(list(pairs.values()), dtype=np.float32)
    scored = ScoredPairs(
        np.array(list(pairs), dtype=np.int64).reshape(-1, 2), np.stack([1 - sure, sure], axis=1)
    )
    found = rescue_mentions(mentions, scored, replace(SETTINGS, **changes))  # type: ignore[arg-type]
    return [(a, b) for a, b in found.spans[found.predicted].tolist()]


def test_a_sure_relation_to_a_prediction_rescues() -> None:
    spans = {(0, 0): 0.9, (2, 2): 0.3, (4, 4): 0.3}
    assert _rescued(spans, {(0, 1): 0.6, (0, 2): 0.59}) == [(0, 0), (2, 2)]
    assert _rescued(spans, {(0, 1): 0.9}, rescue=None) == [(0, 0)]
    assert _rescued(spans, {}) == [(0, 0)]


def test_a_span_that_is_hardly_likely_is_not_rescued() -> None:
    assert _rescued({(0, 0): 0.9, (2, 2): 0.19}, {(0, 1): 0.99}) == [(0, 0)]


def test_the_rescued_rescue_no_others() -> None:
    spans = {(0, 0): 0.9, (2, 2): 0.3, (4, 4): 0.3}
    assert _rescued(spans, {(0, 1): 0.7, (1, 2): 0.9}) == [(0, 0), (2, 2)]


def test_the_likelier_of_two_overlapping_spans_is_rescued() -> None:
    spans = {(0, 0): 0.9, (2, 3): 0.3, (3, 4): 0.4}
    pairs = {(0, 1): 0.9, (0, 2): 0.7}
    assert _rescued(spans, pairs) == [(0, 0), (3, 4)]
    assert _rescued({(0, 0): 0.9, (2, 4): 0.3, (3, 4): 0.4}, pairs) == [(0, 0), (3, 4)]
    nested = _rescued({(0, 0): 0.9, (2, 4): 0.3, (3, 4): 0.4}, pairs, nesting=True)
    assert nested == [(0, 0), (2, 4), (3, 4)]


def _predictions(raw: RawPrediction) -> list[Span]:
    return [(a, b) for a, b in raw.mentions.spans[raw.mentions.predicted].tolist()]


def _relations(raw: RawPrediction) -> set[tuple[Span, Span, str]]:
    spans = [(a, b) for a, b in raw.mentions.spans.tolist()]
    return {
        (spans[relation.head], spans[relation.tail], relation.label) for relation in raw.relations
    }


@given(st.integers(0, 200), st.floats(0.05, 0.45), st.floats(0.4, 0.9), st.booleans())
def test_in_a_pipeline(seed: int, entity: float, relation: float, nesting: bool) -> None:
    document = fakes.random_document(seed, sentences=3, words=9)
    plain = replace(SETTINGS, rescue=None, nesting=nesting)
    settings = replace(plain, rescue=Rescue(entity, relation))
    before, after = (fakes.pipeline().predict(document, chosen) for chosen in (plain, settings))
    new = set(_predictions(after)) - set(_predictions(before))
    assert set(_predictions(before)) <= set(_predictions(after))
    assert _relations(before) <= _relations(after)
    score = dict(zip(map(tuple, after.mentions.spans.tolist()), after.mentions.scores, strict=True))
    ends = {
        end
        for found in after.relations
        if found.score >= relation
        for end in (found.head, found.tail)
    }
    spans = [(a, b) for a, b in after.mentions.spans.tolist()]
    for span in new:
        assert entity - 1e-6 <= score[span] < THRESHOLDS.entity
        assert span in {spans[row] for row in ends}
    rich = fakes.pipeline().predict(document, replace(settings, candidates=True))
    assert _predictions(rich) == _predictions(after) and _relations(rich) == _relations(after)


def test_something_is_rescued_in_the_pipeline_and_linked_like_the_others() -> None:
    before, after = [], []
    for seed in range(30):
        document = fakes.random_document(seed, sentences=3, words=9)
        before.append(fakes.pipeline().predict(document, replace(SETTINGS, rescue=None)))
        after.append(fakes.pipeline().predict(document, SETTINGS))
    assert sum(len(_predictions(prediction)) for prediction in after) > sum(
        len(_predictions(prediction)) for prediction in before
    )
    linked = {
        (prediction.mentions.scores[row] < THRESHOLDS.entity)
        for prediction in after
        for cluster in prediction.clusters
        for row in cluster.mentions
    }
    assert linked == {True, False}


def test_a_scale_moves_the_rescue_along() -> None:
    warm = DecodeSettings(
        THRESHOLDS, PerTask(1.6, 1.5, 1.9), PerTask(-0.9, -0.7, -1.2), Rescue(0.2, 0.6)
    )
    assert warm.plain.rescue != warm.rescue
    document = fakes.random_document(3, sentences=3, words=9)
    raw = fakes.pipeline().predict(document, warm)
    shown = calibrate(raw, warm).mentions
    assert shown.scores[shown.predicted].min() >= 0.2 - 1e-6
    assert _predictions(raw) == _predictions(fakes.pipeline().predict(document, warm.plain))


@pytest.mark.parametrize("task", ["entity", "relation"])
def test_a_threshold_of_ones_own_means_what_it_says(task: str) -> None:
    assert SETTINGS.with_thresholds({task: 0.8}).rescue is None
    assert SETTINGS.with_thresholds({"coreference": 0.8}).rescue == SETTINGS.rescue
