"""One whole run of ``annotate``: checks first, then the model, then documents one by one."""

from __future__ import annotations

import os
import sys
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO, cast

from sciextract.documents.annotations import Annotations
from sciextract.documents.document import AnnotatedDocument, Document, ModelId
from sciextract.documents.schema import LabelSchema
from sciextract.documents.schema_file import load_schema
from sciextract.errors import ExitCode, UsageError, as_command
from sciextract.formats import Writer, open_writer, read
from sciextract.formats.base import STDIN, FieldChoice, ReadItem
from sciextract.formats.inputs import expand_inputs
from sciextract.formats.registry import get_format
from sciextract.inference.batching import AUTO as AUTO_DEVICE
from sciextract.inference.domain.auto import AutoExtractor
from sciextract.inference.extractor import Extractor
from sciextract.inference.model_folder import AUTO
from sciextract.workflows.annotate import Listener, RunCounts, annotate
from sciextract.workflows.model_choice import ModelChoice, check_schema, display_schema
from sciextract.workflows.output import (
    EarlierRun,
    OutputFile,
    StandardOutput,
    check_output,
    check_standard_output,
    check_target,
    refuse_standard_output,
    whole_output,
)

if TYPE_CHECKING:
    from sciextract.workflows.export_project import ExportJob, ExportReport
    from sciextract.workflows.import_files import ImportListener, ImportReport
    from sciextract.workflows.predict_project import PredictReport

# Makes the writer of the readable view: of a stream, and a schema for the colours.
ViewFactory = Callable[[TextIO, LabelSchema | None], Writer]


@dataclass(frozen=True, slots=True)
class Target:
    """Where the results go.

    Attributes:
        export: A format; ``None`` for the readable view.
        path: A file; ``None`` for standard output.
        resume: Whether to continue where the file ends.
        force: Whether to overwrite the file.
    """

    export: str | None = None
    path: str | None = None
    resume: bool = False
    force: bool = False

    def check(self, inputs: Sequence[str], *, candidates: bool) -> None:
        """Refuse what does not fit together or cannot be written.

        Args:
            inputs: What is read, patterns and URLs of folders expanded.
            candidates: Whether candidates are wanted.

        Raises:
            UsageError: Options cannot be combined, or the output would be read as input.
            OutputError: The file cannot be written, or has content.
        """
        if self.export is not None:
            spec = get_format(self.export, "write")
            if self.resume and spec.id != "jsonl":  # its lines name their documents and the model
                problem = f"--resume cannot continue with {spec.id}"
                raise UsageError(
                    problem, "it can with jsonl; sciextract convert writes others of it"
                )
            if self.path is None:
                refuse_standard_output(spec, "--to")
        if candidates and self.export != "jsonl":
            raise UsageError("--candidates needs a format that holds them", "add --to jsonl")
        if self.resume and self.force:
            raise UsageError("--resume and --force cannot be combined", "omit one of them")
        if self.path is not None and self.is_stream:
            check_output(self.path, inputs, overwrite=self.resume or self.force)
        elif self.path is not None:
            kept = [Path(path) for path in inputs if path != STDIN]
            check_target(Path(self.path), force=self.force, kept=kept)
        elif self.resume:
            raise UsageError("--resume needs the file to resume", "name it with --output")
        else:
            check_standard_output(inputs)

    @property
    def is_stream(self) -> bool:
        """Whether the results are lines of text, not a binary file or a folder."""
        return self.export is None or get_format(self.export, "write").output == "stream"

    def earlier(self, model_of: Callable[[Document], ModelId]) -> EarlierRun | None:
        """The run to continue with, if there is one: a regular file of lines."""
        path = self.path if self.resume and self.export is not None else None
        return EarlierRun(path, model_of) if path and os.path.isfile(path) else None

    @contextmanager
    def destination(self, *, append: bool = False) -> Iterator[TextIO | Path]:
        """Where a writer writes: a stream, closed at the end, or a path that is put in place then."""
        if self.path is not None and not self.is_stream:
            with whole_output(Path(self.path)) as partial:
                yield partial
            return
        if self.path is not None:
            stream: Any = OutputFile(self.path, append=append)
        else:
            encoding = None if self.export else getattr(sys.stdout, "encoding", None)
            stream = StandardOutput(encoding or "utf-8", is_view=self.export is None)
        with stream:
            yield cast(TextIO, stream)


# Keys of a summary that only a run of several workers has.
_OF_WORKERS = ("quarantined", "models", "quarantine")


@dataclass(frozen=True, slots=True)
class Report:
    """What a run did.

    Attributes:
        counts: Of this run.
        resumed: Documents that an earlier run had done.
        left_out: Records that are missing from the results of all runs: bad ones, quarantined ones.
        seconds: From the first record to the last.
        model: The model.
        export: Format of the results; ``None`` for the readable view.
        output: File or folder; ``None`` for standard output.
        losses: What the format could not hold, by kind.
        quarantine: Where workers keep quarantined records; empty without any, ``None`` without workers.
    """

    counts: RunCounts
    resumed: int
    left_out: tuple[int, int]
    seconds: float
    model: ModelId
    export: str | None
    output: str | None
    losses: Mapping[str, int]
    quarantine: str | None = None

    @property
    def exit_code(self) -> ExitCode:
        """Done, partly done, or nothing usable."""
        return ExitCode.of(self.counts.documents + self.resumed, any(self.left_out))

    def to_json(self) -> dict[str, Any]:
        """The summary of ``--json``."""
        rate = self.counts.documents / self.seconds if self.seconds else 0.0
        bad, quarantined = self.left_out
        summary = asdict(self.counts) | {
            "resumed": self.resumed, "bad": bad, "quarantined": quarantined,
            "seconds": round(self.seconds, 3), "documents_per_second": round(rate, 2),
            "model": {"name": self.model.name, "hash": self.model.hash},
            "export": self.export, "output": self.output,
            "quarantine": self.quarantine or None, "losses": dict(self.losses),
        }  # fmt: skip
        # Absent, not null: scripts tell the kinds of runs apart by it.
        absent = {"warned", *(_OF_WORKERS if self.quarantine is None else ())}
        return {key: value for key, value in summary.items() if key not in absent}


@dataclass(frozen=True, slots=True)
class AnnotateJob:
    """What to annotate, with which model, and where to.

    Attributes:
        inputs: Files, folders, ``-``.
        choice: The model and its settings.
        target: Where the results go.
        input_format: Format of the inputs; their content decides when ``None``.
        schema: Name or file of a label schema.
        given: Whether the input's entities stay, and only relations between them are predicted.
        keep_gold: Whether the input's annotations are written as gold, and the predictions next to them.
    """

    inputs: list[str]
    choice: ModelChoice = field(default_factory=ModelChoice)
    target: Target = field(default_factory=Target)
    input_format: str | None = None
    schema: str | None = None
    given: bool = False
    keep_gold: bool = False

    def run(self, view: ViewFactory, listener: Listener) -> Report:
        """Annotate everything. The model is loaded once inputs and output are known to be there.

        Raises:
            SciextractError: Nothing could be done, or the run cannot go on; written lines are complete.
        """
        schema = load_schema(self.schema) if self.schema else None
        fields = FieldChoice("gold", strict=self.keep_gold)
        inputs = expand_inputs(self.inputs)
        # Opened before the model is loaded: a path that is wrong is known in a moment, the model takes seconds.
        items = read(inputs, self.input_format, fields)
        self.target.check(inputs, candidates=self.choice.candidates)
        if self.keep_gold and self.target.export != "scierc":
            raise UsageError(
                "--predicted writes predicted_* fields, which only scierc has", "add --to scierc"
            )
        predictor = self._load(schema, listener)
        earlier = self.target.earlier(getattr(predictor, "model_of", lambda _: predictor.model))
        if earlier is not None:
            items = earlier.remaining(items, listener.before)
        with self.target.destination(append=earlier is not None) as destination:
            gold: deque[Annotations] = deque()
            shown = schema or display_schema(predictor.config)
            if self.target.export is None:
                writer = view(cast(TextIO, destination), shown)
            else:
                known: dict[str, Any] = {"candidates": self.choice.candidates, "schema": shown}
                if self.keep_gold:
                    known["gold"] = gold.popleft
                taken = get_format(self.target.export, "write").options
                options = {name: value for name, value in known.items() if name in taken}
                writer = open_writer(self.target.export, destination, **options)
            items = _keep_gold(items, gold) if self.keep_gold else items
            started = time.monotonic()
            counts = annotate(items, predictor, writer, listener, given=self.given)
            writer.close()
        note_at_the_end(self.choice, self.given, counts, listener)
        resumed, seconds = earlier.documents if earlier else 0, time.monotonic() - started
        place = (self.target.export, self.target.path)
        left_out, losses = (counts.bad, 0), dict(writer.losses)
        return Report(counts, resumed, left_out, seconds, predictor.model, *place, losses)

    def _load(self, schema: LabelSchema | None, listener: Listener) -> Extractor | AutoExtractor:
        """The predictor; what a person should know of it goes to the listener before the first record."""
        extractor = self.choice.load()
        if message := self.choice.message():
            listener.note(message)
        if schema is not None:
            check_schema(extractor.config, schema)
        if self.choice.options.device == AUTO_DEVICE and extractor.device_message:
            listener.note(extractor.device_message)
        if self.choice.ignores_batches(extractor):
            listener.note(SINGLE)
        return extractor


# The note on settings of batches that a model does not take.
SINGLE = "int8 models run one abstract at a time; batches are for --precision fp32 or fp16"


def note_at_the_end(
    choice: ModelChoice, given: bool, counts: RunCounts, listener: Listener
) -> None:
    """Note which models ``auto`` chose, and where relations are wanted between entities that the input does not have."""
    if choice.model == AUTO and counts.models:
        chosen = ", ".join(f"{count} by {name}" for name, count in sorted(counts.models.items()))
        listener.note(f"model {AUTO} chose for each abstract: {chosen}")
    if given and counts.documents and not counts.entities:
        listener.note("the input has no entities between which to predict relations")


def _keep_gold(items: Iterable[ReadItem], gold: deque[Annotations]) -> Iterator[ReadItem]:
    """The items, whose annotations wait in ``gold`` until their predictions are written."""
    for item in items:
        if isinstance(item, AnnotatedDocument):
            gold.append(item.annotations)
        yield item


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
            "predicted": asdict(self.predicted),
            "exported": self.exported and asdict(self.exported),
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
        # Annotating files does not wait for these modules: 0.08 s of processor time.
        from sciextract.store import open_project
        from sciextract.workflows.import_files import import_files
        from sciextract.workflows.learn import annotate_with_adapter
        from sciextract.workflows.predict_project import needs_adapter, predict_project

        with open_project(self.project, self.author) as project:
            # Before an hour of predicting, not after it.
            if self.export:
                self.export.check(project, (path for path in self.inputs if path != STDIN))
            imported = None
            if self.inputs:
                imported = import_files(
                    project, list(self.inputs), self.input_format, listener=listener
                )
            predictor = self.choice.load(project)
            if message := self.choice.message(project):
                on_model(message)
            settings = self.choice.settings
            # A model that was named is meant as it is; else a project with other labels gets an adapter's predictions.
            unnamed = self.choice.model is None and isinstance(predictor, Extractor)
            if unnamed and needs_adapter(project, predictor.config):
                if settings:
                    problem = f"{', '.join(settings)} cannot be chosen for suggestions learned from the project itself"
                    learn = as_command("sciextract", "learn", "--project", self.project)
                    raise UsageError(
                        problem, f"{learn} --name NAME makes a model to name here with --model"
                    )
                predicted = annotate_with_adapter(project, cast(Extractor, predictor), on_progress)
            else:
                predicted = predict_project(project, predictor, settings, on_progress=on_progress)
            exported = self.export.run(project) if self.export else None
        return ProjectReport(str(self.project), imported, predicted, exported)
