"""Settings that are fitted on dev: which of them, and for the sake of what."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("torch")

from sciextract.inference.settings import DecodeSettings, PerTask, Rescue
from sciextract_trainer import calibration
from sciextract_trainer.calibration import Dev, fit_settings
from sciextract_trainer.evaluate import DEV_SETTINGS, DevScores

PIPELINE: Any = SimpleNamespace(
    labels=SimpleNamespace(relations=SimpleNamespace(symmetric=frozenset()))
)


def fitted(
    monkeypatch: pytest.MonkeyPatch, entity: Any, relation: Any, link: Any
) -> DecodeSettings:
    """The settings for given F1 by settings; each task's is told by a function of them."""

    def told(settings: DecodeSettings, *_: Any) -> DevScores:
        found = relation(settings)
        return DevScores(entity(settings), found, found, link(settings), found)

    monkeypatch.setattr(calibration, "dev_scores", told)
    dev = Dev([], serve=lambda pipeline, settings: settings)  # type: ignore[arg-type, return-value]
    return fit_settings(PIPELINE, dev, DEV_SETTINGS)


def near(value: float, best: float, wanted: float) -> float:
    """F1 that falls by 0.1 for every hundredth away from the best threshold."""
    return best - 10 * abs(value - wanted)


def test_each_task_gets_its_best_threshold(monkeypatch: pytest.MonkeyPatch) -> None:
    found = fitted(
        monkeypatch,
        lambda s: near(s.thresholds.entity, 70, 0.4) - s.nesting,
        lambda s: near(s.thresholds.relation, 40, 0.2),
        lambda s: near(s.thresholds.coreference, 50, 0.6),
    )
    assert (found.thresholds.entity, found.thresholds.relation) == (0.4, 0.2)
    assert (found.thresholds.coreference, found.nesting) == (0.6, False)


def test_of_about_equal_settings_of_entities_those_that_relations_gain_from_are_taken(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = fitted(
        monkeypatch,
        lambda s: near(s.thresholds.entity, 70, 0.5),
        lambda s: near(s.thresholds.relation, 40, 0.3) + 20 * (0.5 - s.thresholds.entity),
        lambda s: 50.0,
    )
    assert found.thresholds.entity == 0.4, (
        "1 F1 below the best and no further, whatever relations gain"
    )
    assert found.thresholds.relation == 0.3


def test_what_no_document_tells_stays_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    found = fitted(
        monkeypatch, lambda s: near(s.thresholds.entity, 70, 0.3), lambda s: None, lambda s: None
    )
    start = DEV_SETTINGS.thresholds
    assert found.thresholds.entity == 0.3
    assert (found.thresholds.relation, found.thresholds.coreference) == (
        start.relation,
        start.coreference,
    )


def test_relations_alone_are_fitted_where_entities_are_given(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = fitted(
        monkeypatch, lambda s: None, lambda s: near(s.thresholds.relation, 60, 0.45), lambda s: None
    )
    assert found.thresholds.relation == 0.45
    assert (found.thresholds.entity, found.nesting) == (
        DEV_SETTINGS.thresholds.entity,
        DEV_SETTINGS.nesting,
    )


def test_relations_rescue_entities_where_the_mean_gains_from_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def gain(settings: DecodeSettings) -> float:
        rescue = settings.rescue
        return 3 - 10 * abs(rescue.entity - 0.2) - 10 * abs(rescue.relation - 0.5) if rescue else 0

    found = fitted(
        monkeypatch,
        lambda s: near(s.thresholds.entity, 70, 0.4),
        lambda s: near(s.thresholds.relation, 40, 0.3) + gain(s),
        lambda s: near(s.thresholds.coreference, 50, 0.6),
    )
    assert found.rescue == Rescue(0.2, 0.5)
    assert found.thresholds == PerTask(0.4, 0.3, 0.6)
    none = fitted(
        monkeypatch,
        lambda s: near(s.thresholds.entity, 70, 0.4),
        lambda s: near(s.thresholds.relation, 40, 0.3) + gain(s) / 6,
        lambda s: near(s.thresholds.coreference, 50, 0.6),
    )
    assert none.rescue is None, "0.2 F1 in the mean is the least"
