"""What goes wrong in a round, and what it says then."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")
pytest.importorskip("onnxscript")

import torch

from sciextract.errors import DeviceError, SciextractError
from sciextract.retraining.run_folder import runs_of
from sciextract.workflows.models.registry import known_models
from sciextract_trainer.hardware import choose_device
from sciextract_trainer.loop import LossError, Stepper
from tests.trainer.correction.rounds import Events, Retrain, until_export

pytestmark = pytest.mark.full


def test_a_loss_that_is_no_number_names_the_document_and_keeps_the_model(
    retrain: Retrain, project: Path, events: Events, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = Stepper._losses

    def losses(self: Stepper, network: Any, part: Any) -> Any:
        found = real(self, network, part)
        bad = any(example.doc_key == "otter-0" for example in part)
        return replace(found, entity=found.entity * float("nan")) if bad else found

    monkeypatch.setattr(Stepper, "_losses", losses)
    with pytest.raises(LossError, match="the loss is nan at the document otter-0"):
        retrain()
    [run] = runs_of(project)
    status = run.status()
    assert status is not None and status.state == "failed" and "otter-0" in status.message
    assert not [model for model in known_models() if model.registered]


def test_short_memory_halves_the_batch_and_goes_on(
    retrain: Retrain, events: Events, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = Stepper._losses

    def losses(self: Stepper, network: Any, part: Any) -> Any:
        if len(part) > 1:
            raise torch.OutOfMemoryError("CUDA out of memory")
        return real(self, network, part)

    monkeypatch.setattr(Stepper, "_losses", losses)
    until_export(retrain, events, epochs=1)
    told = [event["documents"] for event in events if event["event"] == "memory"]
    assert told == [2, 1]


def test_no_memory_for_one_document_is_said(
    retrain: Retrain, monkeypatch: pytest.MonkeyPatch
) -> None:
    def losses(self: Stepper, network: Any, part: Any) -> Any:
        raise RuntimeError("DefaultCPUAllocator: can't allocate memory")

    monkeypatch.setattr(Stepper, "_losses", losses)
    with pytest.raises(SciextractError, match="not even one document fits"):
        retrain()


def test_other_errors_are_not_taken_for_short_memory(
    retrain: Retrain, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def losses(self: Stepper, network: Any, part: Any) -> Any:
        raise RuntimeError("shapes do not fit")

    monkeypatch.setattr(Stepper, "_losses", losses)
    with pytest.raises(RuntimeError, match="shapes"):
        retrain()
    [run] = runs_of(project)
    status = run.status()
    assert status is not None and status.state == "failed" and "RuntimeError" in status.message


def test_a_missing_gpu_is_said_before_any_work(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(DeviceError, match="no GPU") as caught:
        choose_device("cuda")
    assert "--device cpu" in caught.value.hint and caught.value.exit_code == 1
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: False)
    assert choose_device("auto").type == "cpu"
