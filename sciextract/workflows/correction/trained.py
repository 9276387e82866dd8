"""Which training a model came of."""

from __future__ import annotations

from pathlib import Path

from sciextract.errors import InputMissingError, UsageError
from sciextract.workflows.models import KnownModel, find_model
from sciextract.workflows.runs import METRICS, RUN, Run, runs_folder


def run_named(model: str | None, folder: str | None) -> Run:
    """The run that a person means: by the model that came of it, or by its folder.

    Raises:
        UsageError: Neither or both are given.
        ModelNotFoundError: There is no such model.
        InputMissingError: The folder is none of a run, or no run here made the model.
    """
    if (model is None) == (folder is None):
        raise UsageError("a model or --run DIR is needed", "name one of them, not both")
    if folder is not None:
        if not any((Path(folder) / name).is_file() for name in (RUN, METRICS)):
            raise InputMissingError(f"{folder} is no run folder", f"one holds {RUN}")
        return Run(Path(folder))
    known = find_model(str(model))
    found = _run_of(known)
    if found is None:
        raise InputMissingError(
            f"no run on this machine made {known.id}", "name its run folder with --run DIR"
        )
    return found


def _run_of(model: KnownModel) -> Run | None:
    """The newest correction round that made it, else the run folder beside a folder trained from files."""
    for file in sorted(runs_folder().glob(f"*/{RUN}"), reverse=True):
        run = Run(file.parent)
        result = run.run().get("result")
        if isinstance(result, dict) and result.get("model") == model.id:
            return run
    beside = model.folder.with_name(f"{model.folder.name}.run")
    return Run(beside) if (beside / RUN).is_file() else None
