"""Mentions that a teacher learns with: the gold ones, and those that a network proposes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("onnxscript")

from sciextract.documents.annotations import Annotations
from sciextract.inference.model_folder import open_folder
from sciextract.inference.pipeline import Labels, Pipeline
from sciextract.inference.results import given_of
from sciextract_trainer.build import PieceRules
from sciextract_trainer.distillation.labelling import load_pipeline
from sciextract_trainer.markers.batches import marked_examples
from sciextract_trainer.markers.mentions import Proposed, gold_mentions
from tests.trainer.corpus import TEN_SENTENCES, gold


@pytest.fixture(scope="module")
def pipeline(model_folder: Path) -> Pipeline:
    """Knows the ten sentences by heart."""
    return load_pipeline(open_folder(model_folder))


def test_gold_that_is_proposed_has_the_proposed_types(pipeline: Pipeline, labels: Labels) -> None:
    certain = gold_mentions(labels)(TEN_SENTENCES[0])
    found = Proposed(pipeline)(TEN_SENTENCES[0])
    assert set(map(tuple, certain.spans.tolist())) <= set(map(tuple, found.spans.tolist()))
    assert certain.types.max() == 1 > found.types.max() > 0.2
    assert (np.diff(found.spans[:, 0]) >= 0).all()


def test_gold_that_is_missed_joins_with_certain_types(pipeline: Pipeline, labels: Labels) -> None:
    odd = gold(
        "odd", "[We polish|Metric|a] a [pebble corpus|Material|b].", [("a", "USED-FOR", "b")]
    )
    found = Proposed(pipeline, least=0.999)(odd)
    np.testing.assert_array_equal(found.spans, given_of(odd, labels).mentions.spans)
    np.testing.assert_array_equal(found.types, given_of(odd, labels).mentions.types)


def test_a_pair_with_a_wrong_mention_is_without_relation(
    pipeline: Pipeline, labels: Labels, rules: PieceRules
) -> None:
    item = TEN_SENTENCES[0]
    bare = replace(item, annotations=Annotations())
    examples = list(marked_examples([bare], labels, rules, Proposed(pipeline)))
    assert examples and all((each.targets.argmax(axis=1) == 0).all() for each in examples)
