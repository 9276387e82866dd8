"""The learning curves of a run as figures, drawn by the trainer in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from sciextract.errors import InputMissingError, UsageError
from sciextract.retraining.run_folder import METRICS, RUN, Run, known_runs
from sciextract.workflows.models.registry import find_model

FIGURES = ("curves.png", "curves.svg")
MODULE = "sciextract_trainer.curves"
_PATIENCE_SECONDS = 120.0


@dataclass(frozen=True, slots=True)
class DrawnCurves:
    """The result of drawing.

    Attributes:
        figure: The PNG, ``None`` where none could be drawn; the SVG lies next to it.
        problem: Why not, in a sentence; empty where it was.
    """

    figure: Path | None
    problem: str = ""


def figure_of(run: Run) -> str | None:
    """The path of a run's figure; ``None`` where there is none."""
    path = run.folder / FIGURES[0]
    return str(path) if path.is_file() else None


def origin_of(drawn: DrawnCurves, name: str) -> dict[str, str]:
    """What the card of a model says of its curves; empty where none are drawn.

    Args:
        drawn: The figure.
        name: The run's name: a path of this machine would say more than a card should.
    """
    if drawn.figure is None:
        return {}
    return {"learning curves": f"{FIGURES[0]} in the run folder {name}"}


def draw_curves(run: Run, folder: Path | None = None) -> DrawnCurves:
    """Draw losses and dev scores of a run; that it cannot be done is never an error.

    Args:
        run: The run.
        folder: Where to write; the run's own when ``None``.
    """
    if not any(event.get("event") in ("step", "dev") for event in run.metrics()):
        return DrawnCurves(
            None, "no learning curves are drawn: the run has no losses and no dev scores yet"
        )
    target = folder or run.folder
    # In a process of its own: matplotlib is optional, slow to import, and keeps its memory.
    words = [sys.executable, "-m", MODULE, str(run.folder.absolute()), str(target.absolute())]
    # The process finds the packages that this one finds, from a checkout, too.
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    try:
        ended = subprocess.run(
            words, capture_output=True, timeout=_PATIENCE_SECONDS, check=False, env=environment
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return DrawnCurves(None, f"no learning curves are drawn: {error}")
    if ended.returncode == 0:
        return DrawnCurves(target / FIGURES[0])
    lines = ended.stderr.decode("utf-8", "replace").strip().splitlines()
    return DrawnCurves(None, lines[-1] if lines else "no learning curves are drawn")


def run_named(model: str | None, folder: str | None) -> Run:
    """The run of a model, or in a folder.

    Raises:
        UsageError: Neither or both are given.
        ModelNotFoundError: There is no such model.
        InputMissingError: The folder is none of a run, or no run here made the model.
    """
    if (model is None) == (folder is None):
        raise UsageError("a model or --run DIR is needed", "name one of them, not both")
    if folder is not None:
        if not any((Path(folder) / name).is_file() for name in (RUN, METRICS)):
            raise InputMissingError(f"{folder} is not a run folder", f"one holds {RUN}")
        return Run(Path(folder))
    known = find_model(str(model))
    for run in known_runs():
        result = run.record().result
        if result is not None and result.model == known.id:
            return run
    beside = known.folder.with_name(f"{known.folder.name}.run")  # of a training from files
    if not (beside / RUN).is_file():
        raise InputMissingError(
            f"no run on this machine made {known.id}", "name its run folder with --run DIR"
        )
    return Run(beside)
