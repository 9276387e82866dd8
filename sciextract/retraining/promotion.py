"""The end of a retraining: both models on the held-out abstracts; the new one is registered, and used where it is better."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from sciextract.errors import ProjectError, as_command
from sciextract.inference.batching import usable_cores
from sciextract.inference.extractor import Extractor
from sciextract.metrics.promotion import GateReport
from sciextract.retraining.cross_validation import TrainedOn, cross_validated
from sciextract.retraining.events import GateScored, RunDone
from sciextract.retraining.run_folder import MODEL, RunOutcome, now
from sciextract.snapshot import Origin, TrainingDocument
from sciextract.store import open_project
from sciextract.workflows.annotate import Predictor
from sciextract.workflows.model_choice import base_for
from sciextract.workflows.models.choice import use
from sciextract.workflows.models.compare import gate
from sciextract.workflows.models.registry import KnownModel, register
from sciextract.workflows.predict_project import unknown_labels

if TYPE_CHECKING:
    from sciextract.retraining.run import Prepared
    from sciextract.retraining.status import StatusWriter


@dataclass(frozen=True, slots=True)
class RetrainResult:
    """The result of a retraining.

    Attributes:
        model: The registered model.
        report: Both models on the gate.
        promoted: Whether it predicts in the project now.
        message: What happened, in a sentence.
        hint: What to do next.
    """

    model: KnownModel
    report: GateReport
    promoted: bool
    message: str
    hint: str


def promote(prepared: Prepared, status: StatusWriter) -> RetrainResult:
    """Compare the model of a run with the one before on the gate; register it, use it where it may be used.

    Args:
        prepared: The run; its model is in ``model/``.
        status: Gets the events.
    """
    run, request = prepared.run, prepared.request
    status.enter(
        "gating", f"comparing both models on {len(prepared.snapshot.gate)} held-out abstracts"
    )
    after = Extractor.load(run.folder / MODEL, threads=usable_cores())
    today, blind = _suggesting_now(prepared), bool(request.blind_gate)
    snapshot = prepared.snapshot
    if prepared.folds is not None:
        report = cross_validated(run, snapshot, prepared.folds, today, after, blind=blind)
    else:
        report = gate(snapshot.gate, today(snapshot.train), after, blind=blind)
    run.note(gate=report.to_json())
    status.event(GateScored(report=report))

    model = register(run.folder / MODEL, model_name(request.name, request.path))
    promoted, problem = report.verdict == "promote", ""
    if promoted:
        try:
            # Opened for this moment only: the desk may have had the project open all the while.
            with open_project(request.path) as project:
                use(model.id, project)
        except ProjectError as error:
            promoted, problem = False, error.message
    result = _result(model, report, promoted, problem, request.path)
    folder = str(model.folder)
    run.note(result=RunOutcome(model.id, folder, promoted), finished=now())
    status.event(
        RunDone(
            model=model.id, folder=folder, promoted=promoted, message=result.message, hint=result.hint,
        )
    )  # fmt: skip
    status.finish(result)
    return result


def _suggesting_now(prepared: Prepared) -> TrainedOn:
    """What suggests in the project now: the start model, or an adapter on it where the labels are others."""
    start = Extractor.load(prepared.start_model.path, threads=usable_cores())
    if not unknown_labels(prepared.schema, start.config):
        return lambda documents: start
    from sciextract.inference.adapter.states import EncoderStates
    from sciextract.learning.adapter import WRITTEN, learn

    with open_project(prepared.request.path, read=True) as project:
        states = EncoderStates(Extractor.load(base_for(project)))

    def adapter(documents: Sequence[TrainingDocument]) -> Predictor:
        own = [each for each in documents if each.origin is Origin.PROJECT]
        return learn(own, prepared.schema, states, WRITTEN)

    return adapter


def model_name(name: str | None, project: Path) -> str:
    """The name of the new model: the one asked for, else the project's."""
    stem = re.sub(r"[^A-Za-z0-9._-]+", "-", name or project.stem)
    return stem.strip("._-")[:48] or "model"


def _result(
    model: KnownModel, report: GateReport, promoted: bool, problem: str, path: Path
) -> RetrainResult:
    """The result with its next step.

    Args:
        model: The new model.
        report: The gate's report.
        promoted: Whether it is in use now.
        problem: Why a better one could not be put in use; empty when it could, or is not better.
        path: The project file.
    """
    project = ("--project", path)
    if promoted:
        message = f"{model.id} is better and predicts in this project from now on"
        again = as_command("sciextract", "annotate", *project)
        back = as_command("sciextract", "models", "rollback", *project)
        return RetrainResult(
            model, report, True, message, f"{again} predicts again; {back} reverts this"
        )
    why = {
        "promote": f"{model.id} is better, but could not be put in use: {problem}",
        "keep": f"{model.id} is not clearly better; the previous model stays in use",
        "worse": f"{model.id} is far worse than what predicts now; the previous model stays in use",
        "too few": f"too few abstracts to decide whether {model.id} is better; the previous model stays in use",
    }
    if report.verdict == "worse":
        again = as_command("sciextract", "retrain", *project)
        hint = f"finish more abstracts, then train again: {again}"
        return RetrainResult(model, report, False, why["worse"], hint)
    take = as_command("sciextract", "models", "use", model.id, *project)
    return RetrainResult(model, report, False, why[report.verdict], f"{take} uses it anyway")
