"""The record of a run, ``run.json``: what was asked, what it is made of, and what came of it."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sciextract.errors import UsageError

RANGES = {"epochs": (1, 1_000_000), "seed": (0, 2**32 - 1), "augment": (0, 100)}
"""The least and the most that these settings may be, here and in recipes."""

JOBS = ".cache/sciextract/jobs"
"""Folder of jobs below the home folder of another machine."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RetrainRequest:
    """What the user asks for.

    Attributes:
        project: The project file.
        base: The user's copy of a published set, for replay.
        gate: Further held-out gold.
        model: The model to start from; the one that predicts in the project when ``None``.
        recipe: Name of a packaged recipe, or a TOML file.
        epochs: Instead of the recipe's.
        seed: Instead of the recipe's.
        augment: Documents with swapped entities per training document and epoch, instead of the recipe's.
        name: Name of the new model; after the project when ``None``.
        blind_gate: Whether to report gate documents that were not corrected from suggestions apart, too.
        no_cross_validation: Whether to compare on the held-out abstracts alone, however few they are.
    """

    project: str | None = None
    base: str | None = None
    gate: str | None = None
    model: str | None = None
    recipe: str | None = None
    epochs: int | None = None
    seed: int | None = None
    augment: float | None = None
    name: str | None = None
    blind_gate: bool | None = None
    no_cross_validation: bool | None = None

    def __post_init__(self) -> None:
        """Refuses settings out of range, before anything is done here or elsewhere.

        Raises:
            UsageError: Names the option, the value and the range.
        """
        for key, (least, most) in RANGES.items():
            value = getattr(self, key)
            if value is not None and not least <= value <= most:
                raise UsageError(f"--{key} {value} is not possible", f"use {least} to {most}")

    @property
    def path(self) -> Path:
        """The project file.

        Raises:
            UsageError: None is named.
        """
        if self.project is None:
            raise UsageError("no project is named", "name one with --project DB")
        return Path(self.project)

    @property
    def changes(self) -> dict[str, Any]:
        """Settings that replace the recipe's."""
        settings = {"epochs": self.epochs, "seed": self.seed, "augment": self.augment}
        return {key: value for key, value in settings.items() if value is not None}


@dataclass(frozen=True, slots=True)
class JobLocation:
    """Where a job on another machine is.

    Attributes:
        host: The machine, as the person named it.
        python: Its Python.
        folder: The job's folder there, relative to the home folder.
        home: The home folder, empty before the first contact.
        slurm: Whether it went through SLURM.
        state: ``sending``, ``started``, ``fetched`` or ``cleaned``.
        device: What trains there.
    """

    host: str
    python: str
    folder: str
    home: str = ""
    slurm: bool = False
    state: str = "sending"
    device: str = "auto"

    @property
    def path(self) -> str:
        """The job's folder there, absolute."""
        return f"{self.home}/{self.folder}"

    @property
    def name(self) -> str:
        """The job's name there, which is the run's where that is a plain word."""
        return self.folder.rpartition("/")[2]


def job_folder(run: Path) -> str:
    """The folder of a run's job on another machine: no shell reads its name as more than a word.

    A name with other signs than ``[A-Za-z0-9_.-]`` gets a hash of the run's path, so that two never share one.
    """
    name = re.sub(r"^\.+|[^\w.-]+", "-", run.name, flags=re.ASCII)
    if not run.name or name != run.name:
        name = f"{name}-{hashlib.sha256(os.fsencode(run.resolve())).hexdigest()[:8]}"
    return f"{JOBS}/{name}"


@dataclass(frozen=True, slots=True)
class StartModelRecord:
    """The model that is trained on: its id, the hash of its folder, and where that is."""

    id: str
    hash: str
    folder: str


@dataclass(frozen=True, slots=True)
class WorkSession:
    """What one process worked on a run."""

    started: str
    seconds: float
    device: str
    processes: int


@dataclass(frozen=True, slots=True)
class RunOutcome:
    """The registered model, its folder, and whether it predicts in the project now."""

    model: str
    folder: str
    promoted: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRecord:
    """Everything that is noted of a run; what is not known yet has its default.

    Attributes:
        project: The project file, resolved; ``None`` for a training from files.
        created_ns: When the folder was made, in nanoseconds since 1970.
        request: What was asked for; only a retraining of a project has it.
        start_model: The model that is trained on.
        command: The words of the command.
        started: When that was, UTC.
        device: Where the network is trained.
        hardware: The machine.
        versions: Of the package and of torch.
        schema: The project's label schema when the snapshot was taken; of a training from files its name.
        snapshot: Hashes of the snapshot's files.
        folds: Places in ``train.jsonl`` that each training of a cross-validation leaves out; ``None`` for none.
        config: The recipe with all changes.
        forgetting: What was done against forgetting.
        origin: What the model card says of a training from files.
        remote: Where the job is that trains on another machine.
        sessions: The processes that worked on it.
        seconds: What they took together.
        gate: The comparison of both models.
        scores: Scores of the model that was trained from files.
        result: The outcome of a retraining.
        finished: When that was, UTC.
    """

    project: str | None = None
    created_ns: int = 0
    request: RetrainRequest | None = None
    start_model: StartModelRecord | None = None
    command: tuple[str, ...] = ()
    started: str = ""
    device: str = ""
    hardware: str = ""
    versions: Mapping[str, str] = field(default_factory=dict)
    schema: Mapping[str, Any] | str | None = None
    snapshot: Mapping[str, str] = field(default_factory=dict)
    folds: tuple[tuple[int, ...], ...] | None = None
    config: Mapping[str, Any] | None = None
    forgetting: str = ""
    origin: Mapping[str, Any] = field(default_factory=dict)
    remote: JobLocation | None = None
    sessions: tuple[WorkSession, ...] = ()
    seconds: float = 0.0
    gate: Mapping[str, Any] | None = None
    scores: Mapping[str, Any] | None = None
    result: RunOutcome | None = None
    finished: str = ""
