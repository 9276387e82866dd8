"""A model's predictions into a project: only documents that need them, nothing decided is touched."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from sciextract.documents.document import AnnotatedDocument, Document
from sciextract.documents.schema import LabelSchema
from sciextract.errors import ExitCode, ModelMismatchError, as_command
from sciextract.formats.base import STDIN
from sciextract.inference.extractor import Extractor
from sciextract.store import Project, documents, open_project
from sciextract.store.ingest import ModelRun, need_prediction
from sciextract.store.queries import recently_decided
from sciextract.workflows.annotate import Predictor
from sciextract.workflows.export_project import ExportJob, ExportReport
from sciextract.workflows.import_files import ImportListener, ImportReport, import_files
from sciextract.workflows.model_choice import ModelChoice

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
        skipped: Documents that did not need it: done, or predicted by this model before.
        held_back: Predicted items that a promise of precision left out, by task and label; they are candidates.
    """

    model: str
    run: str
    documents: int
    skipped: int
    held_back: Mapping[str, int] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """The summary of ``--json``."""
        return asdict(self)


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
        settings: What the log keeps of its settings.
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
    numbers = need_prediction(project.connection, predictor.model)
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
    if lacking := unknown_labels(schema, config):
        raise ModelMismatchError(
            f"model {named} predicts labels that the project's schema {schema.name!r} lacks: "
            f"{', '.join(lacking)}",
            as_command("sciextract", "suggest", "--project", project.path)
            + " suggests your own labels, learned from the abstracts that you corrected; or choose another --model, "
            "or a project with the model's schema: "
            + as_command("sciextract", "init", "DB", "--schema", config.schema_name),
        )


def unknown_labels(schema: LabelSchema, config: ModelConfig) -> list[str]:
    """Labels of a model that a schema lacks, and that no type of it had before."""
    labels = config.labels
    entities = {*schema.entity_labels, *schema.entity_names}
    relations = {*schema.relation_labels, *schema.relation_names}
    lacking = [label for label in labels.types if label not in entities]
    return lacking + [label for label in labels.relations.labels if label not in relations]


def needs_adapter(project: Project, config: ModelConfig) -> bool:
    """Whether a model predicts other labels than the project's, and there are decisions to learn them from."""
    schema = project.schema
    lacking = schema.entities and unknown_labels(schema, config)
    return bool(lacking) and bool(recently_decided(project.connection, 1))


@dataclass(frozen=True, slots=True)
class ProjectReport:
    """What a run did.

    Attributes:
        project: The file.
        imported: What was brought in, if anything was named.
        predicted: What was predicted.
        exported: What was exported, if that was asked for.
    """

    project: str
    imported: ImportReport | None
    predicted: PredictReport
    exported: ExportReport | None

    @property
    def exit_code(self) -> ExitCode:
        """Done, or partly done when records were bad."""
        return ExitCode.of(True, self.imported is not None and self.imported.bad)

    def to_json(self) -> dict[str, Any]:
        """The summary of ``--json``."""
        return {
            "project": self.project,
            "imported": self.imported and self.imported.to_json(),
            "predicted": self.predicted.to_json(),
            "exported": self.exported and self.exported.to_json(),
        }


@dataclass(frozen=True, slots=True)
class ProjectJob:
    """What to bring in, which model predicts, and what to export.

    Attributes:
        project: The file.
        choice: The model and its settings; candidates are always kept.
        inputs: Files, folders, ``-`` to bring in first.
        input_format: Their format; their content decides when ``None``.
        export: What to write in the end.
        author: Who acts.
    """

    project: Path
    choice: ModelChoice = field(default_factory=ModelChoice)
    inputs: tuple[str, ...] = ()
    input_format: str | None = None
    export: ExportJob | None = None
    author: str | None = None

    def run(
        self,
        listener: ImportListener,
        on_progress: Callable[[int, int], None],
        on_model: Callable[[str], None] = lambda message: None,
    ) -> ProjectReport:
        """Import, predict, export, in this order. What was imported and predicted stays when a later step fails.

        Args:
            listener: Hears of the import.
            on_progress: Called with documents predicted and documents in all.
            on_model: Called with the model that predicts, if it is not the default.

        Raises:
            SciextractError: A step cannot be done.
        """
        from sciextract.workflows.learn import annotate_with_adapter

        with open_project(self.project, self.author) as project:
            # Before an hour of predicting, not after it.
            if self.export:
                self.export.check(project, (each for each in self.inputs if each != STDIN))
            imported = None
            if self.inputs:
                imported = import_files(
                    project, list(self.inputs), self.input_format, listener=listener
                )
            predictor = self.choice.load(project)
            if message := self.choice.message(project):
                on_model(message)
            settings = {"thresholds": dict(self.choice.thresholds)}
            # A model that was named is meant as it is; else a project with other labels gets an adapter's predictions.
            unnamed = self.choice.model is None and isinstance(predictor, Extractor)
            if unnamed and needs_adapter(project, predictor.config):
                predicted = annotate_with_adapter(project, cast(Extractor, predictor), on_progress)
            else:
                predicted = predict_project(project, predictor, settings, on_progress=on_progress)
            exported = self.export.run(project) if self.export else None
        return ProjectReport(str(self.project), imported, predicted, exported)
