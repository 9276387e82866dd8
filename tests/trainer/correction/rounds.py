"""What tests of correction rounds share: the project, the events, a round that is stopped after training."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from research.reporting import as_mappings
from sciextract.documents.schema import LabelSchema
from sciextract.retraining.run import RetrainResult, retrain
from sciextract.retraining.run_folder import RetrainRequest
from sciextract.snapshot.documents import Split
from tests.trainer.correction.projects import corrected, new_project

Events = list[dict[str, Any]]
Retrain = Callable[..., RetrainResult]
FREE = ["Kites and lanterns share a grammar.", "The moss corpus needs glow features."]


def otters(folder: Path, schema: LabelSchema) -> Path:
    documents = [*corrected(Split.TRAIN, 4), *corrected(Split.DEV, 2), *corrected(Split.GATE, 3)]
    return new_project(folder / "otters.sciextract", schema, documents, FREE)


def retrain_here(
    request: RetrainRequest, folder: Path | None, report: Callable[[dict[str, Any]], object]
) -> RetrainResult:
    """A retraining on this machine's processor; its events as plain values."""
    from sciextract_trainer.hardware import CPU
    from sciextract_trainer.retraining import LocalTrainer

    result = retrain(request, folder, LocalTrainer(CPU), as_mappings(report))
    assert isinstance(result, RetrainResult)
    return result


def kinds(events: Events) -> list[str]:
    return list(dict.fromkeys(event["event"] for event in events))


def of_kind(events: Events, kind: str) -> dict[str, Any]:
    [*_, found] = [event for event in events if event["event"] == kind]
    return found


def until_export(retrain: Retrain, events: Events, **wishes: Any) -> None:
    """A round that is stopped once it has trained."""

    def report(event: dict[str, Any]) -> None:
        events.append(event)
        if event["event"] == "export":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        retrain(report=report, **wishes)
