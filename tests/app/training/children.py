"""Trainings of the tests: their processes, and how to wait for what they write."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from sciextract.retraining.run_folder import Run, RunStatus, runs_of
from sciextract_app.review.view import screen as review
from sciextract_app.training import screen as retraining
from sciextract_app.training import work as training
from sciextract_app.training.work import TrainingRequest
from tests.app.screens_support import made_project
from tests.app.training.fake_child import ending, gate

FAKE = Path(__file__).with_name("fake_child.py")
Use = Callable[[str], None]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return made_project(tmp_path)


@pytest.fixture
def child(monkeypatch: pytest.MonkeyPatch, project: Path) -> Iterator[Use]:
    """Says which kind of process a training is; none of them outlives its test."""
    kinds = ["wait"]

    def command(order: TrainingRequest, folder: Path) -> list[str]:
        return [sys.executable, str(FAKE), kinds[-1], str(folder)]

    monkeypatch.setattr(training, "command", command)
    monkeypatch.setattr(training, "NEEDED", ())
    monkeypatch.setattr(review, "TRAINING_SECONDS", 0.2)
    monkeypatch.setattr(retraining, "POLL_SECONDS", 0.2)
    yield kinds.append
    for run in runs_of(project):
        (run.folder / "go").touch(exist_ok=True)
    wait_for(lambda: not any(run.is_alive() for run in runs_of(project)))


def ended_run(folder: Path, verdict: str) -> Run:
    """A run that came to its end with a verdict."""
    run = Run(folder)
    run.note(gate=gate(verdict))
    run.write_status(RunStatus("done", 1, "", **ending(verdict)))
    return run


def wait_for(holds: Callable[[], Any], seconds: float = 20.0) -> None:
    """Wait until something holds."""
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.01)


def newest(project: Path) -> Run:
    """The latest training of a project."""
    return runs_of(project)[0]
