"""A retraining from the request to the result: prepare, train here or on another machine, promote.

To promote is to compare both models on the held-out abstracts; the new one is registered, and used where it is better.
"""

from __future__ import annotations

import platform
import re
import sys
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sciextract import __version__
from sciextract.documents.schema import LabelSchema
from sciextract.documents.schema_file import parse_schema
from sciextract.errors import ModelMismatchError, ProjectError, as_command
from sciextract.inference.adapter.states import EncoderStates
from sciextract.inference.batching import usable_cores
from sciextract.inference.extractor import Extractor
from sciextract.inference.model_folder import ModelFolder, open_folder
from sciextract.learning.adapter import WRITTEN, learn
from sciextract.metrics.promotion import GateReport
from sciextract.retraining.events import GateScored, Listener, RunDone
from sciextract.retraining.run_folder import (
    MODEL,
    SNAPSHOT,
    RetrainRequest,
    Run,
    RunOutcome,
    StartModelRecord,
    now,
    open_run,
)
from sciextract.retraining.status import StatusWriter, stopped_here
from sciextract.snapshot.documents import Origin, TrainingDocument
from sciextract.snapshot.files import MANIFEST_FILE, Snapshot, build_snapshot, read_snapshot
from sciextract.store import Project, open_project
from sciextract.workflows.annotate import Predictor
from sciextract.workflows.learn import base_model, compare_bases
from sciextract.workflows.model_choice import base_for
from sciextract.workflows.models.choice import find_chosen, use
from sciextract.workflows.models.compare import Fold, TrainedOn, cross_validate, gate, plan_folds
from sciextract.workflows.models.registry import (
    KnownModel,
    find_model,
    known_at,
    known_models,
    register,
)


@dataclass(frozen=True, slots=True)
class Prepared:
    """What a training is made of, opened once.

    Attributes:
        run: The run folder.
        request: What is asked for.
        start_model: The model that is trained on.
        schema: The project's label schema when the snapshot was taken.
        snapshot: What the model learns from and is compared on.
        folds: What each training of a cross-validation leaves out; ``None`` without one.
    """

    run: Run
    request: RetrainRequest
    start_model: ModelFolder
    schema: LabelSchema
    snapshot: Snapshot
    folds: Sequence[Fold] | None


class Trainer(ABC):
    """Trains what is prepared, on this machine or another one."""

    first_step = "reading the project"
    """What is done first, for the status."""

    def begin(self, run: Run) -> None:  # noqa: B027  # nothing to do for most
        """Note in the run where it is trained, before any work."""

    @abstractmethod
    def train(self, prepared: Prepared, status: StatusWriter) -> bool:
        """Train and export into the run folder, unless an earlier process has done it.

        Returns:
            Whether the model is there now; else the training continues elsewhere.
        """

    def interruption(self, run: Run) -> tuple[str, str]:
        """What an interrupt means, and the command that continues after it."""
        return stopped_here(run)

    def finish(self, run: Run) -> None:  # noqa: B027
        """Clean up after the comparison."""


def retrain(
    request: RetrainRequest, folder: Path | None, trainer: Trainer, listener: Listener
) -> RetrainResult | Run:
    """Train on a project's decisions, or take up a run that was stopped.

    Args:
        request: What is asked for.
        folder: The run folder; a new one when ``None``.
        trainer: Where it is trained.
        listener: Gets every event.

    Returns:
        The result, or the run where its training continues elsewhere.

    Raises:
        UsageError: The run was begun with something else, or another process works on it.
        TrainingDataError: There is nothing to train on.
        SciextractError: Something else cannot be done; what is finished is kept.
    """
    run, agreed = open_run(folder, request)
    return complete(run, agreed, trainer, listener)


def complete(
    run: Run, request: RetrainRequest, trainer: Trainer, listener: Listener
) -> RetrainResult | Run:
    """The stages of a run that are not done yet; see :func:`retrain`."""
    status = StatusWriter(run, listener)
    with status.recording(lambda: trainer.interruption(run), trainer.first_step):
        trainer.begin(run)
        prepared = prepare(run, request, status)
        if not trainer.train(prepared, status):
            return run
        result = promote(prepared, status)
        trainer.finish(run)
        return result


def prepare(run: Run, request: RetrainRequest, status: StatusWriter) -> Prepared:
    """Find the start model and take the snapshot, once for each run, and open both.

    Raises:
        ModelNotFoundError: There is no such model.
        ModelMismatchError: Another model lies where the run began with one.
        TrainingDataError: There is nothing to train on, or the snapshot is damaged.
    """
    record = run.record()
    if record.start_model is None:
        if request.model is None:
            status.enter("preparing", "choosing the model to start from")
            with open_project(request.path, read=True) as project:
                known, why = _choose_start(project)
        else:
            known, why = find_model(request.model), ""
        # An adapter has no weights of an encoder to go on with: training starts from its base.
        folder = known.open().base()
        stored = StartModelRecord(known_at(folder.path).id, folder.hash, str(folder.path), why)
        record = run.note(
            start_model=stored, command=tuple(sys.argv[1:]), started=now(), **environment()
        )
    else:
        folder = same_model(run, Path(record.start_model.folder))
    if record.schema is None or not (run.folder / SNAPSHOT / MANIFEST_FILE).is_file():
        status.enter("preparing", "taking a snapshot of the project")
        base, gate = (Path(file) if file else None for file in (request.base, request.gate))
        # What is decided while the snapshot is taken, or later, belongs to the next run.
        with open_project(request.path) as project:
            if project.mode == "write":
                project.backup("before retraining")
            schema = project.schema
            build_snapshot(project, run.folder / SNAPSHOT, base=base, gate=gate)
            snapshot = read_snapshot(run.folder / SNAPSHOT)
            wanted = not request.no_cross_validation
            folds = plan_folds(snapshot, folder, project) if wanted else None
        run.note(schema=schema.to_mapping(), snapshot=snapshot.manifest.files, folds=folds)
        return Prepared(run, request, folder, schema, snapshot, folds)
    return open_prepared(run, request, folder)


def _choose_start(project: Project) -> tuple[KnownModel, str]:
    """The model in use; where it has other labels what ``learn`` chose for these, else what folds choose now; and why."""
    chosen = find_chosen(project)
    config = chosen.model.open().config
    if chosen.by == "project" or not config.labels_unknown_to(project.schema):
        return chosen.model, f"the base of {chosen.model.id}" if config.adapter else ""
    schema = project.schema.content_hash
    usable = [model for model in known_models() if not model.problem]
    for model in sorted(usable, key=lambda model: model.since, reverse=True):
        config = open_folder(model.folder, hashes=False).config
        if config.adapter and config.schema_hash == schema:
            return model, f"the base of {model.id}, which learned these labels"
    base, _ = base_model(project)
    comparison = compare_bases(project, EncoderStates(base), None)
    if comparison is None:
        return find_model(base.model.name), "chosen by the words of the texts"
    return find_model(comparison.best().extractor.model.name), f"chosen by {comparison.words()}"


def open_prepared(run: Run, request: RetrainRequest, start_model: ModelFolder) -> Prepared:
    """A run whose snapshot is taken; each file of it is held against its hash."""
    record = run.record()
    stored = record.schema if isinstance(record.schema, Mapping) else {}
    schema = parse_schema(stored, str(run.folder))
    snapshot = read_snapshot(run.folder / SNAPSHOT)
    return Prepared(run, request, start_model, schema, snapshot, record.folds)


def same_model(run: Run, path: Path) -> ModelFolder:
    """The model in a folder, if it is the one that the run began with.

    Raises:
        ModelMismatchError: It is another one.
    """
    folder, begun = open_folder(path), run.record().start_model
    if begun is None or folder.hash != begun.hash:
        raise ModelMismatchError(
            f"{path} is another model now than the one that {run.name} began with",
            "begin a new run: sciextract retrain --project DB",
        )
    return folder


def environment() -> dict[str, Any]:
    """The machine and the versions of a run, for ``run.json``."""
    return {
        "hardware": f"{platform.machine()}, {usable_cores()} cores, {platform.system()}",
        "versions": {"sciextract": __version__},
    }


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
    today, snapshot = _suggesting_now(prepared), prepared.snapshot
    if prepared.folds is not None:
        report = cross_validate(run.folder, snapshot, prepared.folds, today, after)
    else:
        report = gate(snapshot.gate, today(snapshot.train), after)
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
    if not start.config.labels_unknown_to(prepared.schema):
        return lambda documents: start
    begun = prepared.run.record().start_model
    with open_project(prepared.request.path, read=True) as project:
        base = start if begun and begun.why else Extractor.load(base_for(project))
    states = EncoderStates(base)

    def adapter(documents: Sequence[TrainingDocument]) -> Predictor:
        own = [document for document in documents if document.origin is Origin.PROJECT]
        return learn(own, prepared.schema, states, WRITTEN)

    return adapter


def model_name(name: str | None, project: Path) -> str:
    """The name of the new model: the one asked for, else the project's."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", name or project.stem).strip("._-")[:48] or "model"


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
