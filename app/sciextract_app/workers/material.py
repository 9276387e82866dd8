"""What a project has to train on, counted in a thread."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from textual.message import Message

from sciextract.errors import SciextractError
from sciextract.store import Project, open_project
from sciextract.workflows import models
from sciextract.workflows.runs import runs_of
from sciextract_app.presenter.retraining.plan import Earlier, Material, earlier_of, material_of


class MaterialReady(Message):
    """It is counted.

    Attributes:
        material: What there is, ``None`` when it could not be read.
        earlier: What earlier trainings tell.
        model: The model that a training starts from.
        error: Why it could not be read.
    """

    def __init__(
        self,
        material: Material | None,
        earlier: Earlier,
        model: str = "",
        error: SciextractError | None = None,
    ) -> None:
        super().__init__()
        self.material = material
        self.earlier = earlier
        self.model = model
        self.error = error


@dataclass(frozen=True, slots=True)
class MaterialJob:
    """What counting needs.

    Attributes:
        path: The project.
        model: The model that the person named, ``None`` for the one in use.
        post: Takes the message; must not mind the thread.
    """

    path: Path
    model: str | None
    post: Callable[[Message], object]

    def run(self) -> None:
        """Count, and say what was found."""
        earlier = earlier_of(runs_of(self.path))
        try:
            with open_project(self.path, read=True) as project:
                found = MaterialReady(material_of(project), earlier, self._model(project))
        except SciextractError as error:
            found = MaterialReady(None, earlier, error=error)
        self.post(found)

    def _model(self, project: Project) -> str:
        return self.model or models.current(project).name
