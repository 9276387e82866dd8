"""The scale of scores is found again, and is not taken where it does not help."""

from __future__ import annotations

import numpy as np
import pytest

from sciextract_trainer.calibration import AS_IT_IS, Items, calibrate_task, fit_scale


def _items(count: int, temperature: float, shift: float, seed: int = 0) -> Items:
    """Items whose own probabilities have to be scaled so to be right as often as they say."""
    random = np.random.default_rng(seed)
    odds = random.normal(0, 2, count)
    likely = 1 / (1 + np.exp(-(odds / temperature + shift)))
    return Items(1 / (1 + np.exp(-odds)), random.random(count) < likely, np.arange(count) // 4)


@pytest.mark.parametrize(("temperature", "shift"), [(1.0, 0.0), (2.0, -1.0), (0.6, 0.5)])
def test_the_scale_is_found_again(temperature: float, shift: float) -> None:
    found = fit_scale(_items(20_000, temperature, shift))
    assert found is not None
    assert found.temperature == pytest.approx(temperature, rel=0.08)
    assert found.shift == pytest.approx(shift, abs=0.08)


def _loss(items: Items, temperature: float, shift: float) -> float:
    """Mean negative log-likelihood of what the scores say: right, or not."""
    scores = items.scores(temperature, shift)
    return float(-np.log(np.where(items.hits, scores, 1 - scores)).mean())


def test_the_likelihood_is_the_best_one_nearby() -> None:
    items = _items(500, 2.0, -1.0)
    found = fit_scale(items)
    assert found is not None
    least = _loss(items, *found)
    for temperature, shift in [(1.1, 0), (0.9, 0), (1, 0.1), (1, -0.1)]:
        assert least <= _loss(items, found.temperature * temperature, found.shift + shift) + 1e-3


def test_errors_fall_on_documents_that_the_scale_was_not_fitted_on() -> None:
    found = calibrate_task(_items(2_000, 2.0, -1.0))
    assert found is not None and found.ece_held_out is not None
    assert found.ece_before > 0.1 and found.ece_after < 0.04 and found.ece_held_out < 0.05


def test_scores_that_say_it_already_stay_as_they_are() -> None:
    items = _items(300, 1.0, 0.0, seed=3)
    exact = Items(np.round(items.plain, 1), items.hits, items.owners)
    found = calibrate_task(exact)
    assert found is not None and found.ece_held_out is not None
    if found.ece_held_out >= found.ece_before:
        assert (found.temperature, found.shift) == AS_IT_IS
        assert found.ece_after == found.ece_before


def test_too_few_items_tell_nothing() -> None:
    for items in (_items(40, 2, -1), Items(np.full(90, 0.7), np.ones(90, np.bool_), np.arange(90))):
        assert fit_scale(items) is None
        found = calibrate_task(items)
        assert found is not None and found.ece_held_out is None
        assert (found.temperature, found.shift) == AS_IT_IS
    assert calibrate_task(_items(0, 1, 0)) is None


def test_scores_that_say_the_opposite_are_not_turned_round() -> None:
    items = _items(2_000, 1.0, 0.0)
    assert fit_scale(Items(1 - items.plain, items.hits, items.owners)) is None


def test_sure_scores_do_not_break_the_fit() -> None:
    items = _items(400, 1.5, -0.5)
    sure = np.where(items.plain > 0.98, 1.0, items.plain)
    assert fit_scale(Items(sure, items.hits, items.owners)) is not None


def test_the_configuration_has_four_digits_and_the_bins() -> None:
    found = calibrate_task(_items(2_000, 2.0, -1.0))
    assert found is not None
    told = found.to_json()
    assert told["bins"] == 10 and told["items"] == 2_000
    assert told["ece_before"] == round(found.ece_before, 4)


def test_the_error_is_the_one_counted_by_hand() -> None:
    scores, hits = np.array([0.95, 0.85, 0.85, 0.15]), np.array([True, True, False, False])
    found = calibrate_task(Items(scores, hits, np.arange(4)))
    assert found is not None
    assert found.ece_before == pytest.approx(1 / 4 * 0.15 + 2 / 4 * 0.35 + 1 / 4 * 0.05)
