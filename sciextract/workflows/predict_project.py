"""A model's predictions into a project: only documents that need them, nothing decided is touched."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING, Any

from sciextract.documents.document import AnnotatedDocument, Document
from sciextract.errors import ModelMismatchError, as_command
from sciextract.store import Project, documents
from sciextract.store.documents import recently_decided
from sciextract.store.ingest import ModelRun, need_prediction
from sciextract.workflows.annotate import Predictor

if TYPE_CHECKING:
    from sciextract.inference.model_config import ModelConfig

_BATCH = 64


@dataclass(frozen=True, slots=True)
class PredictReport:
    """What a run did.

    Attributes:
        model: Name and hash of the model.
        run: The run's id; its source is ``model:NAME@HASH/RUN``.
        documents: Documents predicted.
        skipped: Documents that did not need it: done, or predicted by this model with these settings before.
        held_back: Predicted items that a promise of precision left out, by task and label; they are candidates.
    """

    model: str
    run: str
    documents: int
    skipped: int
    held_back: Mapping[str, int] = field(default_factory=dict)


def predict_project(
    project: Project,
    predictor: Predictor,
    settings: dict[str, Any] | None = None,
    *,
    order: Iterable[int] = (),
    on_progress: Callable[[int, int], None] | None = None,
    background: bool = False,
) -> PredictReport:
    """Predict what needs it; predictions are in the project after every few documents.

    Args:
        project: Open for writing.
        predictor: The loaded model, which should report candidates.
        settings: What differs from the model's own, for the run; what was predicted with others, or by another model
            since, is predicted again. ``None``: all predictions of the model are as good.
        order: Numbers of documents in the order in which they are wanted; those that need nothing are
            passed over, those that are not among them come last, as they came into the project. A number
            is asked for only when the predictor takes another document, so that an iterator can change
            its mind on the way.
        on_progress: Called with documents done and documents in all.
        background: Whether the run is kept out of the person's undo.

    Raises:
        ModelMismatchError: The model predicts labels that the project's schema lacks.
        ProjectError: The project cannot be written; what was predicted before is in it.
    """
    check_config(project, predictor.config, str(predictor.model))
    numbers = need_prediction(project.connection, predictor.model, settings)
    run = ModelRun(project, predictor.model, settings or {}, background=background)
    # The model reads ahead by a batch: numbers wait here until their predictions come.
    waiting: deque[int] = deque()
    batch: list[tuple[int, AnnotatedDocument]] = []
    held_back = Counter[str]()

    def read() -> Iterator[Document]:
        left = set(numbers)
        for number in chain(order, numbers):
            if number in left:
                left.discard(number)
                document = documents.load(project.connection, number).document
                waiting.append(number)
                yield document

    for predicted in predictor.stream(read()):
        batch.append((waiting.popleft(), predicted))
        held_back.update(predicted.held_back)
        # A model that takes nothing ahead leaves none waiting: each of its documents is shown at once.
        if len(batch) == _BATCH or not waiting:
            run.add(batch)
            batch.clear()
            if on_progress:
                on_progress(run.documents, len(numbers))
    if batch:
        run.add(batch)
    run.finish()
    skipped = len(project.numbers()) - len(numbers)
    model = str(predictor.model)
    return PredictReport(model, run.id, run.documents, skipped, dict(held_back))


def check_config(project: Project, config: ModelConfig, named: str) -> None:
    """Refuse a model, not loaded yet, with labels that the project's schema lacks.

    Raises:
        ModelMismatchError: It has some; names them.
    """
    schema = project.schema
    if lacking := config.labels_unknown_to(schema):
        raise ModelMismatchError(
            f"model {named} predicts labels that the project's schema {schema.name!r} lacks: "
            f"{', '.join(lacking)}",
            as_command("sciextract", "suggest", "--project", project.path)
            + " suggests your own labels, learned from the abstracts that you corrected; or choose another --model, "
            "or a project with the model's schema: "
            + as_command("sciextract", "init", "DB", "--schema", config.schema_name),
        )


def needs_adapter(project: Project, config: ModelConfig) -> bool:
    """Whether a model predicts other labels than the project's, and there are decisions to learn them from."""
    schema = project.schema
    lacking = schema.entities and config.labels_unknown_to(schema)
    return bool(lacking) and bool(recently_decided(project.connection, 1))
