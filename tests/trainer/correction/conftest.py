"""A project to retrain on, and a short round on it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from sciextract.documents.schema import LabelSchema
from sciextract.retraining.run import RetrainResult
from sciextract.retraining.run_folder import RetrainRequest
from tests.trainer.correction.rounds import Events, Retrain, otters, retrain_here


@pytest.fixture
def project(tmp_path: Path, schema: LabelSchema) -> Path:
    return otters(tmp_path, schema)


@pytest.fixture
def events() -> Events:
    return []


@pytest.fixture
def retrain(project: Path, model_folder: Path, events: Events) -> Retrain:
    """Two epochs from the tiny model on the CPU."""

    def retrain(folder: Path | None = None, report: Any = None, **wishes: Any) -> RetrainResult:
        given = {"project": str(project), "model": str(model_folder), "epochs": 2, **wishes}
        return retrain_here(RetrainRequest(**given), folder, report or events.append)

    return retrain
