"""A retraining from the request to the result: prepare, train here or on another machine, promote."""

from __future__ import annotations

import platform
import sys
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sciextract import __version__
from sciextract.documents.schema import LabelSchema
from sciextract.documents.schema_file import parse_schema, schema_to_mapping
from sciextract.errors import ModelMismatchError
from sciextract.inference.batching import usable_cores
from sciextract.inference.model_folder import ModelFolder, open_folder
from sciextract.retraining.cross_validation import Fold, plan_folds
from sciextract.retraining.events import Listener
from sciextract.retraining.promotion import RetrainResult, promote
from sciextract.retraining.run_folder import (
    SNAPSHOT,
    RetrainRequest,
    Run,
    StartModelRecord,
    now,
    open_run,
)
from sciextract.retraining.status import StatusWriter, stopped_here
from sciextract.snapshot import Snapshot, build_snapshot, read_snapshot
from sciextract.snapshot.files import MANIFEST_FILE
from sciextract.store import open_project
from sciextract.workflows.models.choice import current
from sciextract.workflows.models.registry import find_model, known_at


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
        with open_project(request.path, read=True) as project:
            known = current(project) if request.model is None else find_model(request.model)
        # An adapter has no weights of an encoder to go on with: training starts from its base.
        folder = known.open().base()
        start = known_at(folder.path).id
        stored = StartModelRecord(start, folder.hash, str(folder.path))
        record = run.note(
            start_model=stored, command=tuple(sys.argv[1:]), started=now(), **environment()
        )
    else:
        folder = same_model(run, Path(record.start_model.folder))
    if record.schema is None or not (run.folder / SNAPSHOT / MANIFEST_FILE).is_file():
        status.enter("preparing", "taking a snapshot of the project")
        base, gate = (Path(each) if each else None for each in (request.base, request.gate))
        # What is decided while the snapshot is taken, or later, belongs to the next run.
        with open_project(request.path) as project:
            if project.mode == "write":
                project.backup("before retraining")
            schema = project.schema
            build_snapshot(project, run.folder / SNAPSHOT, base=base, gate=gate)
            snapshot = read_snapshot(run.folder / SNAPSHOT)
            folds = plan_folds(snapshot, request, folder, project)
        files = snapshot.manifest.files
        run.note(schema=schema_to_mapping(schema), snapshot=files, folds=folds)
        return Prepared(run, request, folder, schema, snapshot, folds)
    return opened(run, request, folder)


def opened(run: Run, request: RetrainRequest, start_model: ModelFolder) -> Prepared:
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
