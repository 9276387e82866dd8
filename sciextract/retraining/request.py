"""What a retraining is asked to do, kept in its run folder."""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from sciextract.errors import InputMissingError, OutputError, UsageError
from sciextract.retraining.run_folder import FINISHED, Run, new_run

KEY = "order"
RANGES = {"epochs": (1, 1_000_000), "seed": (0, 2**32 - 1), "augment": (0, 100)}
"""The least and the most that these settings may be, here and in recipes."""


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


def is_begun(folder: Path) -> bool:
    """Whether a folder holds a run that was begun, so that nothing else need be named."""
    return isinstance(Run(folder).run().get(KEY), dict)


def stored_request(run: Run) -> RetrainRequest:
    """The request that a run was begun with.

    Raises:
        InputMissingError: It was not begun.
    """
    stored = run.run().get(KEY)
    if not isinstance(stored, dict):
        raise InputMissingError(f"{run.folder} is not an existing run")
    return RetrainRequest(**stored)


def open_run(folder: Path | None, request: RetrainRequest) -> tuple[Run, RetrainRequest]:
    """The run folder, and the request that holds for it: its own one when it was begun before.

    Args:
        folder: A run folder, begun or not; a new one when ``None``.
        request: What the command says; where a run is taken up, it may repeat it or leave it out.

    Raises:
        UsageError: The run was begun with something else, or another process works on it.
        InputMissingError: There is nothing to take up and no project is named, or it does not exist.
        OutputError: The folder cannot be made.
    """
    run = Run(folder) if folder is not None else None
    stored = run.run().get(KEY) if run else None
    if run is not None and isinstance(stored, dict):
        _refuse_second_process(run)
        return run, _agreed(_absolute(request), RetrainRequest(**stored), run)
    if request.project is None:
        raise InputMissingError(
            f"{folder} is not an existing run, and no project is named",
            "sciextract retrain --project DB begins one",
        )
    request = _absolute(request)
    run = run or new_run(request.path)
    try:
        run.folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"{run.folder}: cannot be created: {error.strerror}") from error
    run.write_run(**{KEY: asdict(request), "project": str(request.path.resolve())})
    return run, request


def _absolute(request: RetrainRequest) -> RetrainRequest:
    """The request with paths that hold in any folder; model and recipe may be names.

    Raises:
        InputMissingError: A file does not exist.
    """
    changes: dict[str, Any] = {}
    for key in ("project", "base", "gate"):
        word = getattr(request, key)
        if word is not None:
            if not Path(word).exists():
                raise InputMissingError(f"{word}: no such file")
            changes[key] = os.path.abspath(word)
    for key in ("model", "recipe"):
        word = getattr(request, key)
        if word is not None and Path(word).exists():
            changes[key] = os.path.abspath(word)
    return replace(request, **changes)


def _agreed(given: RetrainRequest, stored: RetrainRequest, run: Run) -> RetrainRequest:
    """The stored request; what the command repeats must be the same."""
    for key, value in asdict(given).items():
        kept = getattr(stored, key)
        if value is not None and value != kept:
            raise UsageError(
                f"{run.folder} was begun with {key} {kept!r}, the command says {value!r}",
                "omit the option to resume, or start another run",
            )
    return stored


def _refuse_second_process(run: Run) -> None:
    status = run.status()
    alive = status is not None and status.state not in FINISHED and run.is_alive()
    if status is not None and alive and status.pid != os.getpid():
        raise UsageError(
            f"process {status.pid} works on {run.folder}", "wait for it, or stop it first"
        )
