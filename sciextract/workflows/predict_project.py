"""A model's predictions into a project: only documents that need them, nothing decided is touched."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from sciextract.documents.document import AnnotatedDocument, Document
from sciextract.errors import ModelMismatchError
from sciextract.store.content import documents
from sciextract.store.incoming.ingest import Run, need_prediction
from sciextract.store.project import Project
from sciextract.workflows.annotate import Predictor

_BATCH = 64


@dataclass(frozen=True, slots=True)
class PredictReport:
    """What a run did.

    Attributes:
        model: Name and hash of the model.
        run: The run's id; its source is ``model:NAME@HASH/RUN``.
        documents: Documents predicted.
        skipped: Documents that did not need it: done, or predicted by this model before.
    """

    model: str
    run: str
    documents: int
    skipped: int

    def to_json(self) -> dict[str, Any]:
        """The summary of ``--json``."""
        return {
            "model": self.model,
            "run": self.run,
            "documents": self.documents,
            "skipped": self.skipped,
        }


def predict_project(
    project: Project,
    predictor: Predictor,
    settings: dict[str, Any] | None = None,
    *,
    on_progress: Callable[[int, int], None] | None = None,
    background: bool = False,
) -> PredictReport:
    """Predict what needs it; predictions are in the project after every few documents.

    Args:
        project: Open for writing.
        predictor: The loaded model, which should report candidates.
        settings: What the log keeps of its settings.
        on_progress: Called with documents done and documents in all.
        background: Whether the run is kept out of the person's undo.

    Raises:
        ModelMismatchError: The model predicts labels that the project's schema lacks.
        ProjectError: The project cannot be written; what was predicted before is in it.
    """
    check_labels(project, predictor)
    numbers = need_prediction(project.connection, predictor.model)
    run = Run(project, predictor.model, settings or {}, background=background)
    waiting: deque[int] = deque()
    batch: list[tuple[int, AnnotatedDocument]] = []
    for predicted in predictor.stream(_feed(project, numbers, waiting)):
        batch.append((waiting.popleft(), predicted))
        if len(batch) == _BATCH or not waiting:
            run.add(batch)
            batch.clear()
            if on_progress:
                on_progress(run.documents, len(numbers))
    if batch:
        run.add(batch)
    run.finish()
    skipped = len(project.numbers()) - len(numbers)
    return PredictReport(str(predictor.model), run.id, run.documents, skipped)


def check_labels(project: Project, predictor: Predictor) -> None:
    """Refuse a model with labels that the project's schema lacks.

    Raises:
        ModelMismatchError: It has some; names them.
    """
    schema, labels = project.schema, predictor.config.labels
    lacking = [label for label in labels.entities if label not in schema.entity_labels]
    lacking += [label for label in labels.relations.labels if label not in schema.relation_labels]
    if lacking:
        raise ModelMismatchError(
            f"model {predictor.model} predicts labels that the project's schema {schema.name!r} lacks: "
            f"{', '.join(lacking)}",
            "choose another --model, or a project with the model's schema",
        )


def _feed(project: Project, numbers: list[int], waiting: deque[int]) -> Iterator[Document]:
    for number in numbers:
        document = documents.load(project.connection, number).document
        waiting.append(number)
        yield document
