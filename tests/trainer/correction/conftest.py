"""A project to retrain on, and a short round on it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from sciextract.documents.schema import LabelSchema
from sciextract.retraining.request import Ending, Order
from tests.trainer.correction.rounds import Events, Retrain, otters


@pytest.fixture
def project(tmp_path: Path, schema: LabelSchema) -> Path:
    return otters(tmp_path, schema)


@pytest.fixture
def events() -> Events:
    return []


@pytest.fixture
def retrain(project: Path, model_folder: Path, events: Events) -> Retrain:
    """Two epochs from the tiny model on the CPU."""

    from sciextract_trainer.retraining import retrain_project

    def retrain(folder: Path | None = None, report: Any = None, **wishes: Any) -> Ending:
        given = {"project": str(project), "model": str(model_folder), "epochs": 2, **wishes}
        return retrain_project(Order(**given), folder, "cpu", report or events.append)

    return retrain
