"""The request of a run over many abstracts, the work for an engine that follows from it, and its report."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sciextract.documents.document import Document, ModelId
from sciextract.documents.schema_file import load_schema
from sciextract.errors import ExitCode, UsageError
from sciextract.inference.model_folder import AUTO
from sciextract.inference.onnx_network import AUTO as AUTO_DEVICE
from sciextract.inference.onnx_network import CPU
from sciextract.scale.interface import PREDICTOR, ChunkResult, Counts, Problem, Shard, Work
from sciextract.workflows.model_choice import ModelChoice, check_schema

if TYPE_CHECKING:
    from sciextract.inference.model_config import ModelConfig
    from sciextract.inference.model_folder import ModelFolder


@dataclass(frozen=True, slots=True)
class Identified:
    """A model that is there, whole, and not loaded.

    Attributes:
        choice: The choice with the model's folder, so that every worker loads the same one; one thread.
        model: Name and hash.
        model_of: The model that predicts a document.
        config: What it predicts.
        notes: For the user.
    """

    choice: ModelChoice
    model: ModelId
    model_of: Callable[[Document], ModelId]
    config: ModelConfig
    notes: tuple[str, ...] = ()


def identify(choice: ModelChoice) -> Identified:
    """Find and verify the model.

    Raises:
        ModelNotFoundError: No such model, or it lacks the precision.
        ModelDamagedError: A file of it is missing or changed.
        ModelVersionError: It needs a newer version.
        ModelMismatchError: It was trained on other features.
        UsageError: It is an encoder without trained heads, several models have the name, or the device is left open.
    """
    if choice.device == AUTO_DEVICE:
        problem = "--device auto is for one process: every worker would choose its own device"
        raise UsageError(problem, "--device cuda, with a worker for each GPU, or --device cpu")
    notes = [message] if (message := choice.message()) else []
    if choice.model == AUTO:
        return _auto(replace(choice, threads=1), tuple(notes))
    from sciextract.inference.model_folder import open_folder

    folder = open_folder(_place(choice))
    if choice.device == CPU and choice.records_a_call > 1 and _is_int8(folder, choice):
        notes.append(
            "int8 models run one abstract at a time; batches are for --precision fp32 or fp16"
        )
        choice = replace(choice, batch_size=None, batch_tokens=None)
    model = ModelId(folder.config.name, folder.hash)
    fixed = replace(choice, model=str(folder.path.resolve()), threads=1)
    return Identified(fixed, model, lambda _: model, folder.config, tuple(notes))


def _is_int8(folder: ModelFolder, choice: ModelChoice) -> bool:
    return "int8" in folder.graph(choice.precision).name


def _place(choice: ModelChoice) -> Path:
    if choice.model is None:
        from sciextract.workflows.models.choice import chosen

        return chosen().model.folder
    from sciextract.inference.model_folder import locate_model

    return locate_model(choice.model)


def _auto(choice: ModelChoice, notes: tuple[str, ...]) -> Identified:
    """It loads a model with its first document only."""
    from sciextract.inference.domain.auto import AutoExtractor
    from sciextract.inference.extractor import Extractor

    both = AutoExtractor(lambda name: Extractor.load(name, threads=1), 1)
    return Identified(choice, both.model, both.model_of, both.config, notes)


class RunListener:
    """Called during a run; override what is of interest."""

    def note(self, message: str) -> None:
        """A note for the user."""

    def problem(self, problem: Problem) -> None:
        """A record is missing from the results."""

    def before(self, records: int) -> None:
        """An earlier run did so many records."""

    def under_way(self, records: int) -> None:
        """So many further records are done and not written yet."""

    def done(self, result: ChunkResult, counts: Counts) -> None:
        """A chunk was written; with it, this run has done so much."""


@dataclass(frozen=True, slots=True)
class RunReport:
    """The report of a run.

    Attributes:
        counts: Of this run.
        resumed: Documents that an earlier run had done.
        left_out: Records that are missing from the results of all runs: bad ones, quarantined ones.
        seconds: From the start of the workers to the last result.
        model: The model.
        export: Format of the results.
        output: File or folder; ``None`` for standard output.
        quarantine: Where quarantined records are kept; empty without any.
        losses: What the format could not hold, by kind.
    """

    counts: Counts
    resumed: int
    left_out: tuple[int, int]
    seconds: float
    model: ModelId
    export: str
    output: str | None
    quarantine: str
    losses: Mapping[str, int]

    @property
    def exit_code(self) -> ExitCode:
        """Done, partly done, or nothing usable."""
        if not self.counts.documents + self.resumed:
            return ExitCode.FAILED
        return ExitCode.PARTIAL if any(self.left_out) else ExitCode.DONE

    def to_json(self) -> dict[str, Any]:
        """The summary of ``--json``."""
        rate = self.counts.documents / self.seconds if self.seconds else 0.0
        return {
            "documents": self.counts.documents,
            "resumed": self.resumed,
            "bad": self.left_out[0],
            "quarantined": self.left_out[1],
            "entities": self.counts.entities,
            "relations": self.counts.relations,
            "clusters": self.counts.clusters,
            "other_language": self.counts.other_language,
            "fits_neither": self.counts.fits_neither,
            "seconds": round(self.seconds, 3),
            "documents_per_second": round(rate, 2),
            "model": {"name": self.model.name, "hash": self.model.hash},
            "models": dict(self.counts.models),
            "export": self.export,
            "output": self.output,
            "quarantine": self.quarantine or None,
            "losses": dict(self.losses),
        }


@dataclass(frozen=True, slots=True)
class Request:
    """What to annotate with which model.

    Attributes:
        inputs: Files, folders, patterns, ``-``.
        choice: The model and its settings.
        input_format: Format of the inputs; their content decides when ``None``.
        schema: Name or file of a label schema, which must be the model's.
        given: Whether the input's entities stay, and only relations between them are predicted.
        predictor: ``module:function`` that makes the predictor of a worker.
        identified: The model, where ``predictor`` makes another than ``choice`` names.
    """

    inputs: list[str]
    choice: ModelChoice = field(default_factory=ModelChoice)
    input_format: str | None = None
    schema: str | None = None
    given: bool = False
    predictor: str = PREDICTOR
    identified: Identified | None = None

    def model(self, listener: RunListener) -> Identified:
        """The model, found and verified.

        Raises:
            SciextractError: It cannot be had, or its labels are not those of the schema.
        """
        identified = self.identified or identify(self.choice)
        for note in identified.notes:
            listener.note(note)
        if self.schema is not None:
            check_schema(identified.config, load_schema(self.schema))
        return identified

    def work(
        self, shards: tuple[Shard, ...], model: Identified, chunk_size: int, ordered: bool
    ) -> Work:
        """What an engine is to do."""
        return Work(
            shards,
            model.choice,
            model.model,
            self.input_format,
            self.given,
            chunk_size,
            ordered,
            self.predictor,
        )

    def final_notes(self, counts: Counts, listener: RunListener) -> None:
        """Notes when all is done."""
        if self.choice.model == AUTO and counts.models:
            chosen = ", ".join(
                f"{count} by {name}" for name, count in sorted(counts.models.items())
            )
            listener.note(f"model {AUTO} chose for each abstract: {chosen}")
        if self.given and counts.documents and not counts.entities:
            listener.note("the input has no entities between which to predict relations")
