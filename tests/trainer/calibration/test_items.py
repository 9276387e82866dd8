"""Which spans, pairs and mentions are items, and which of them are right."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("onnxscript")

from sciextract.inference.model_folder import GRAPHS, PAIRS_GRAPH, open_folder
from sciextract.inference.onnx_network import OnnxNetwork
from sciextract.inference.pipeline import Pipeline
from sciextract.inference.settings import DecodeSettings, PerTask
from sciextract_trainer.calibration import Dev, calibrated_settings, items_of
from sciextract_trainer.warm_start import open_start_model
from tests.trainer.corpus import TEN_SENTENCES

SETTINGS = DecodeSettings(PerTask(0.5, 0.5, 0.5))


@pytest.fixture(scope="module")
def pipeline(model_folder: Path) -> Pipeline:
    start = open_start_model(open_folder(model_folder))
    network = OnnxNetwork(model_folder / GRAPHS["fp32"], model_folder / PAIRS_GRAPH)
    return Pipeline(network, start.rules.encoder(), start.labels, start.rules.limit)


def test_a_network_that_knows_the_texts_is_right_and_sure(pipeline: Pipeline) -> None:
    counts = {"entity": 20, "relation": 10, "coreference": 4}
    for task, right in counts.items():
        items = items_of(task, pipeline, TEN_SENTENCES, SETTINGS)
        assert int(items.hits.sum()) == right, task
        assert items.plain[items.hits].min() > 0.5


def test_other_labels_are_wrong_items(pipeline: Pipeline) -> None:
    from dataclasses import replace

    item = TEN_SENTENCES[0]
    entities = tuple(replace(entity, label="Metric") for entity in item.annotations.entities)
    wrong = replace(item, annotations=replace(item.annotations, entities=entities))
    right, other = (
        items_of("entity", pipeline, [document], SETTINGS) for document in (item, wrong)
    )
    np.testing.assert_allclose(right.plain, other.plain)
    assert right.hits.sum() == 4 and other.hits.sum() == 0


def test_a_direction_that_gold_does_not_have_is_wrong(pipeline: Pipeline) -> None:
    from dataclasses import replace

    item = TEN_SENTENCES[0]
    turned = tuple(
        replace(relation, head=relation.tail, tail=relation.head)
        for relation in item.annotations.relations
    )
    other = replace(item, annotations=replace(item.annotations, relations=turned))
    items = items_of("relation", pipeline, [other], SETTINGS)
    assert items.hits.sum() == 1  # COMPARE has no direction


def test_owners_are_documents_and_few_documents_keep_the_settings(pipeline: Pipeline) -> None:
    items = items_of("entity", pipeline, TEN_SENTENCES, SETTINGS)
    assert set(items.owners.tolist()) == set(range(len(TEN_SENTENCES)))
    settings, found = calibrated_settings(pipeline, Dev(TEN_SENTENCES), SETTINGS)
    assert settings == SETTINGS and set(found) == {"entity", "relation", "coreference"}


def test_given_entities_are_asked_for_relations_only(pipeline: Pipeline) -> None:
    _, found = calibrated_settings(pipeline, Dev(TEN_SENTENCES, given=True), SETTINGS)
    assert set(found) == {"relation"}


def test_documents_that_are_not_complete_are_not_asked(pipeline: Pipeline) -> None:
    nothing = Dev(TEN_SENTENCES, [frozenset()] * len(TEN_SENTENCES))
    assert calibrated_settings(pipeline, nothing, SETTINGS)[1] == {}
