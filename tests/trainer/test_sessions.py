"""The time that processes took is kept in ``run.json``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

from sciextract.retraining.run_folder import Run
from sciextract_trainer.checkpoint import recording

CPU = torch.device("cpu")


def test_a_stopped_training_and_the_one_that_goes_on_are_both_counted(tmp_path: Path) -> None:
    run = Run(tmp_path / "run")
    with pytest.raises(KeyboardInterrupt), recording(run, CPU):
        raise KeyboardInterrupt
    with recording(run, CPU, processes=2):
        pass
    stored = json.loads((run.folder / "run.json").read_text("utf-8"))
    assert [session["processes"] for session in stored["sessions"]] == [1, 2]
    assert all(session["started"] and session["device"] for session in stored["sessions"])
    assert stored["seconds"] == pytest.approx(
        sum(session["seconds"] for session in stored["sessions"]), abs=0.11
    )
