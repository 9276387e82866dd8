"""Each document tells about the labels that it was annotated for, and stays a document of its own."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("onnxscript")

from research.distillation.teachers import load_pipeline
from research.partial_labels.calibration import calibrate_sets, join_items
from research.partial_labels.datasets import SetDocument, TaughtSet
from sciextract.inference.model_folder import open_folder
from sciextract.inference.settings import DecodeSettings, PerTask
from sciextract_trainer.calibration import Dev, Items, calibrated_settings
from tests.trainer.corpus import TEN_SENTENCES

SETTINGS = DecodeSettings(PerTask(0.5, 0.5, 0.5))


def items(*owners: int) -> Items:
    count = len(owners)
    return Items(
        np.full(count, 0.5), np.ones(count, dtype=np.bool_), np.array(owners, dtype=np.int64)
    )


def test_joined_items_keep_their_documents_apart() -> None:
    assert join_items([items(0, 0, 2), items(), items(0, 1)]).owners.tolist() == [0, 0, 2, 3, 4]
    assert len(join_items([])) == 0 and len(join_items([items()])) == 0


def test_documents_tell_about_the_labels_they_were_annotated_for(model_folder: Path) -> None:
    pipeline = load_pipeline(open_folder(model_folder))
    methods = TaughtSet(name="methods", teaches=["Method"], licence="own", relations=False)
    documents = [SetDocument(document, methods) for document in TEN_SENTENCES]
    _, narrow = calibrate_sets(pipeline, documents, SETTINGS)
    _, wide = calibrated_settings(pipeline, Dev(TEN_SENTENCES), SETTINGS)
    assert set(narrow) == {"entity"}  # the set has no relations
    # The other entities are wrong Methods.
    assert narrow["entity"].ece_before > 0.1 > wide["entity"].ece_before
