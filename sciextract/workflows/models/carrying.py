"""The choice of a model goes along when a project is merged into one that has none."""

from __future__ import annotations

from sciextract.errors import (
    ModelDamagedError,
    ModelMismatchError,
    ModelNotFoundError,
    ModelVersionError,
    ProjectDamagedError,
)
from sciextract.store.project import Project
from sciextract.workflows.models.choice import history, standing_model, use

_NO_MODEL = (ModelDamagedError, ModelMismatchError, ModelNotFoundError, ModelVersionError)


def carry_choice(project: Project, other: Project) -> str:
    """Take over the model that another project has chosen, where this one has never chosen any.

    Nothing is taken over that could not predict here: a model that is not on this machine, is damaged, or
    has labels that this project's schema lacks.

    Returns:
        What became of it, in a sentence; empty where there was nothing to take over.

    Raises:
        ProjectError: The project cannot be written.
    """
    if not _is_wanted(project, other):
        return ""
    try:
        model = standing_model(other)
        if model is None:
            return ""
        use(str(model.folder), project)
    except _NO_MODEL as error:
        return f"the other project's model is not taken over: {error.message}"
    return f"{model.id} predicts here from now on, as in the other project"


def _is_wanted(project: Project, other: Project) -> bool:
    """Whether only the other project has ever chosen; choices that make no sense are not handed on."""
    try:
        return not history(project) and bool(history(other))
    except ProjectDamagedError:
        return False
