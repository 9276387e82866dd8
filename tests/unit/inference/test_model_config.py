"""``config.json``: groups and cut words are optional, and only models with them ask for a new program."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from sciextract.errors import ModelDamagedError, ModelMismatchError, ModelVersionError
from sciextract.inference.candidates import FEATURE_VERSION
from sciextract.inference.model_config import FORMAT_VERSION, ModelConfig
from tests.cli.fakes import CONFIG

GROUPED = replace(
    CONFIG,
    labels=replace(
        CONFIG.labels,
        groups=(("Task", "Method"), ("Metric", "Material", "OtherScientificTerm", "Generic")),
    ),
)


@pytest.mark.parametrize(
    "config", [CONFIG, GROUPED, replace(CONFIG, cuts_words=True, feature_version=1)]
)
def test_round_trip(config: ModelConfig) -> None:
    assert ModelConfig.from_json(config.to_json(), "here") == config


@pytest.mark.parametrize("groups", [[["Task"]], [["Nothing"]], "Task", [1]])
def test_groups_that_cannot_be(groups: Any) -> None:
    values = GROUPED.to_json()
    values["labels"]["groups"] = groups
    with pytest.raises(ModelDamagedError, match="here"):
        ModelConfig.from_json(values, "here")


def test_a_newer_version_is_refused() -> None:
    values = {**CONFIG.to_json(), "format_version": FORMAT_VERSION + 1}
    with pytest.raises(ModelVersionError, match="here"):
        ModelConfig.from_json(values, "here")


def test_newer_features_are_refused_with_both_versions() -> None:
    values = {**CONFIG.to_json(), "feature_version": FEATURE_VERSION + 1}
    versions = f"feature version {FEATURE_VERSION + 1}.* up to {FEATURE_VERSION}"
    with pytest.raises(ModelMismatchError, match=versions):
        ModelConfig.from_json(values, "here")
