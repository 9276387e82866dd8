"""What a model says about abstracts of a project: from the project where it has it, else predicted now."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from sciextract.documents.annotations import Annotations
from sciextract.documents.document import Document
from sciextract.store.content import documents
from sciextract.store.looking.predictions import said_by_model
from sciextract.workflows.models.registry import KnownModel
from sciextract.workflows.predict_project import check_config

if TYPE_CHECKING:
    from sciextract.inference.extractor import Extractor
    from sciextract.inference.network import Floats
    from sciextract.store.project import Project


class Sayings:
    """The predictions of one model about abstracts of one project; the project itself is left as it is.

    Args:
        project: The open project.
        model: The model; it is loaded only when the project lacks something.

    Attributes:
        predicted: Abstracts that had to be predicted so far.

    Raises:
        ModelDamagedError: A file of the model is missing or changed.
        ModelMismatchError: It predicts labels that the project's schema lacks.
    """

    def __init__(self, project: Project, model: KnownModel) -> None:
        self.predicted = 0
        self._project = project
        self._model = model
        folder = model.open()
        self._name, self._hash = folder.config.name, folder.hash
        check_config(project, folder.config, model.id)
        self._extractor: Extractor | None = None

    def about(self, numbers: Sequence[int]) -> Iterator[tuple[int, Annotations]]:
        """What the model says, candidates included: what the project holds first, the rest after it."""
        missing = []
        for number in numbers:
            kept = said_by_model(self._project.connection, number, self._name, self._hash)
            if kept is None or kept.candidates is None:
                missing.append(number)
            else:
                yield number, kept
        if missing:
            stream = self._loaded().stream(self._documents(missing))
            for number, found in zip(missing, stream, strict=True):
                self.predicted += 1
                yield number, found.annotations

    def vectors(self, numbers: Sequence[int]) -> Iterator[Floats]:
        """The mean over the encoder's states of each abstract's words; a project holds none, so the model runs."""
        yield from self._loaded().vectors(self._documents(numbers))

    def _documents(self, numbers: Sequence[int]) -> Iterator[Document]:
        for number in numbers:
            yield documents.load(self._project.connection, number).document

    def _loaded(self) -> Extractor:
        from sciextract.inference.extractor import Extractor

        if self._extractor is None:
            self._extractor = Extractor.load(self._model.folder).with_settings(candidates=True)
        return self._extractor
