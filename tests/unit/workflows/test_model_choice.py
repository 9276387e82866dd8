from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import cast

import pytest

from sciextract.documents.schema_file import load_schema
from sciextract.errors import ModelMismatchError, UsageError
from sciextract.inference.batching import Batching, RunOptions
from sciextract.inference.extractor import Extractor
from sciextract.workflows.model_choice import (
    ModelChoice,
    check_labels,
    check_schema,
    display_schema,
    parse_labels,
    parse_thresholds,
)
from tests.cli.fakes import CONFIG


def test_thresholds() -> None:
    assert parse_thresholds(["entity=0.6, relation = .4", "coreference=0"]) == {
        "entity": 0.6,
        "relation": 0.4,
        "coreference": 0.0,
    }
    for word in (
        "entity",
        "entity=",
        "=0.5",
        "entity=high",
        "ner=0.5",
        "entity=-0.1",
        "entity=inf",
    ):
        with pytest.raises(UsageError):
            parse_thresholds([word])


def test_labels_to_look_for() -> None:
    first, second, *_ = CONFIG.labels.entities
    check_labels(CONFIG, parse_labels([f"{first}, {second}"]))
    with pytest.raises(UsageError) as caught:
        check_labels(CONFIG, parse_labels([first, "Gene"]))
    assert "'Gene'" in caught.value.message and second in caught.value.hint


def test_schemas() -> None:
    scierc = load_schema("scierc")
    check_schema(CONFIG, replace(scierc, name="mine", entities=scierc.entities[::-1]))
    with pytest.raises(ModelMismatchError) as caught:
        check_schema(CONFIG, replace(scierc, name="mine", relations=scierc.relations[1:]))
    lost = scierc.relations[0].label
    assert f"relation labels of the model only: {lost}" in caught.value.message
    assert "entity" not in caught.value.message
    assert display_schema(CONFIG) == scierc
    assert display_schema(replace(CONFIG, schema_name="nobody's")) is None


@pytest.mark.parametrize(
    ("size", "tokens", "runs", "ignored"),
    [
        (8, None, Batching(), True),
        (1, None, Batching(), False),
        (None, None, Batching(), False),
        (8, None, Batching(8), False),
        (None, 9000, Batching(), True),
        (None, 9000, Batching(None, 9000), False),
    ],
)
def test_batches_that_an_int8_graph_does_not_make(
    size: int | None, tokens: int | None, runs: Batching, ignored: bool
) -> None:
    extractor = cast(Extractor, SimpleNamespace(batching=runs))
    choice = ModelChoice(options=RunOptions(batch_size=size, batch_tokens=tokens))
    assert choice.ignores_batches(extractor) is ignored
    assert choice.options.records_a_call == (1 if size in (1, None) and tokens is None else 2000)
