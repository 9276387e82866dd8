"""A scale changes what scores say, and nothing that is predicted."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sciextract.documents.document import AnnotatedDocument
from sciextract.inference.results import annotate, calibrate, calibrated_scores
from sciextract.inference.settings import DecodeSettings, PerTask, calibrated_score
from tests.unit.inference import fakes

PLAIN = DecodeSettings(thresholds=PerTask(0.5, 0.4, 0.5))
TEMPERATURES, SHIFTS = PerTask(1.6, 1.5, 1.9), PerTask(-0.9, -0.7, -1.2)
probabilities = st.floats(1e-6, 1 - 1e-6)
temperatures = st.floats(0.25, 4)
shifts = st.floats(-3, 3)


def _scaled(settings: DecodeSettings) -> DecodeSettings:
    moved = {
        task: calibrated_score(
            getattr(settings.thresholds, task), getattr(TEMPERATURES, task), getattr(SHIFTS, task)
        )
        for task in ("entity", "relation", "coreference")
    }
    return replace(settings.with_thresholds(moved), temperatures=TEMPERATURES, shifts=SHIFTS)


def test_by_hand() -> None:
    assert calibrated_score(0.8, 2.0, 0.0) == pytest.approx(2 / 3)  # odds of 4 become 2
    assert calibrated_score(0.5, 1.0, float(np.log(3))) == pytest.approx(0.75)
    assert calibrated_score(0.0, 2.0, 1.0) == 0 and calibrated_score(1.0, 2.0, -1.0) == 1


@given(probabilities, temperatures, shifts)
def test_plain_settings_take_a_score_back(score: float, temperature: float, shift: float) -> None:
    same, none = PerTask(*[temperature] * 3), PerTask(*[shift] * 3)
    settings = DecodeSettings(PerTask(score, score, score), same, none)
    own = settings.plain.thresholds.relation
    assert calibrated_score(own, temperature, shift) == pytest.approx(score, rel=1e-4, abs=1e-9)
    assert settings.plain.plain == settings.plain


@given(st.lists(probabilities, min_size=2, max_size=9), temperatures, shifts)
def test_the_order_of_scores_stays(values: list[float], temperature: float, shift: float) -> None:
    scores = calibrated_scores(np.array(values, dtype=np.float64), temperature, shift)
    assert (np.diff(scores[np.argsort(values)]) >= 0).all()
    single = [calibrated_score(value, temperature, shift) for value in values]
    np.testing.assert_allclose(scores, single, rtol=1e-5)


def _parts(found: AnnotatedDocument) -> tuple[object, ...]:
    items = found.annotations
    return (
        [(entity.id, entity.label) for entity in items.entities],
        [(relation.head, relation.tail, relation.label) for relation in items.relations],
        [cluster.mentions for cluster in items.clusters],
    )


@pytest.mark.parametrize("seed", range(3))
def test_predictions_stay_and_scores_move(seed: int) -> None:
    document = fakes.random_document(seed, sentences=6, words=12)
    before = annotate(fakes.pipeline(), document, PLAIN)
    after = annotate(fakes.pipeline(), document, _scaled(PLAIN))
    assert len(before.annotations.relations) > 1 and len(before.annotations.clusters) > 1
    assert _parts(before) == _parts(after)
    old, new = before.annotations, after.annotations
    entities = zip(old.entities, new.entities, strict=True)
    assert all(_near(one.score, other.score, 1.6, -0.9) for one, other in entities)
    relations = zip(old.relations, new.relations, strict=True)
    assert all(_near(one.score, other.score, 1.5, -0.7) for one, other in relations)
    for one, other in zip(old.clusters, new.clusters, strict=True):
        pairs = zip(one.mention_scores, other.mention_scores, strict=True)
        assert all(_near(first, second, 1.9, -1.2) for first, second in pairs)


def _near(plain: float | None, shown: float | None, temperature: float, shift: float) -> bool:
    """Whether a score is scaled so; both have four digits."""
    assert plain is not None and shown is not None
    return abs(calibrated_score(plain, temperature, shift) - shown) < 5e-3


def test_candidates_begin_at_the_score_that_is_shown() -> None:
    document = fakes.random_document(1, sentences=6, words=12)
    settings = replace(_scaled(PLAIN), candidates=True, candidate_score=0.2)
    found = annotate(fakes.pipeline(), document, settings).annotations.candidates
    assert found is not None
    shown = [label.score for span in found.spans for label in span.labels]
    assert shown and min(shown) >= 0.2 and min(shown) < 0.3


def test_without_a_scale_the_very_prediction_comes_back() -> None:
    raw = fakes.pipeline().predict(fakes.random_document(1, 2, 6), PLAIN)
    assert calibrate(raw, PLAIN) is raw
