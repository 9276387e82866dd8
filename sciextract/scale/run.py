"""Runs over many abstracts: into a folder of parts, where the same call continues, or into a stream of lines."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import AbstractContextManager, closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, TextIO, cast

from sciextract.documents.document import ModelId
from sciextract.documents.schema_file import load_schema
from sciextract.errors import UsageError
from sciextract.formats.inputs import QUARANTINE, expand_inputs
from sciextract.formats.opening import is_url, without_file_scheme
from sciextract.inference.batching import AUTO as AUTO_DEVICE
from sciextract.inference.batching import CPU
from sciextract.inference.model_folder import AUTO
from sciextract.scale.interface import (
    CHUNK_SIZE,
    PREDICTOR,
    ChunkResult,
    Engine,
    InputShard,
    Results,
    Work,
)
from sciextract.scale.manifest import PartsManifest, encoder
from sciextract.scale.parts import (
    PartsFolder,
    open_object_store,
    open_parts,
    quarantine,
)
from sciextract.scale.processes import ProcessEngine
from sciextract.scale.shards import plan_shards
from sciextract.workflows.annotate import Listener, RunCounts
from sciextract.workflows.annotate_job import SINGLE, Report, Target, note_at_the_end
from sciextract.workflows.model_choice import ModelChoice, check_schema

if TYPE_CHECKING:
    from sciextract.inference.model_config import ModelConfig


@dataclass(frozen=True, slots=True)
class Identified:
    """A model that is there, whole, and not loaded.

    Attributes:
        choice: The choice with the model's folder, so that every worker loads the same one; one thread.
        model: Name and hash.
        config: What it predicts.
        notes: For the user.
    """

    choice: ModelChoice
    model: ModelId
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
    if choice.options.device == AUTO_DEVICE:
        problem = "--device auto is for one process: every worker would choose its own device"
        raise UsageError(problem, "--device cuda, with a worker for each GPU, or --device cpu")
    notes = [message] if (message := choice.message()) else []
    # A worker has one thread: many small networks side by side are faster than few with several threads.
    options = replace(choice.options, threads=1)
    if choice.model == AUTO:
        from sciextract.inference.domain.auto import AutoExtractor
        from sciextract.inference.extractor import Extractor

        both = AutoExtractor(lambda name: Extractor.load(name, options), 1)  # loads none here
        fixed = replace(choice, options=options)
        return Identified(fixed, both.model, both.config, tuple(notes))
    from sciextract.inference.model_folder import locate_model, open_folder
    from sciextract.workflows.models.choice import find_chosen

    place = find_chosen().model.folder if choice.model is None else locate_model(choice.model)
    folder = open_folder(place)
    is_int8 = "int8" in folder.base().graph(options.precision).name
    if options.device == CPU and not options.batching.single and is_int8:
        notes.append(SINGLE)
        options = replace(options, batch_size=None, batch_tokens=None)
    model = ModelId(folder.config.name, folder.hash)
    fixed = replace(choice, model=str(folder.path.resolve()), options=options)
    return Identified(fixed, model, folder.config, tuple(notes))


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

    def model(self, listener: Listener) -> Identified:
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
        self, shards: tuple[InputShard, ...], model: Identified, chunk_size: int, ordered: bool
    ) -> Work:
        """What an engine is to do."""
        return Work(
            shards, model.choice, model.model, self.input_format, self.given, chunk_size, ordered,
            self.predictor,
        )  # fmt: skip


def annotate_into_parts(
    request: Request,
    engine: Engine,
    folder: str,
    export: str,
    listener: Listener,
    chunk_size: int = CHUNK_SIZE,
) -> Report:
    """Annotate everything that the folder does not hold yet.

    Args:
        request: What to annotate.
        engine: What predicts.
        folder: Where the parts go.
        export: Their format, ``jsonl`` or ``parquet``.
        listener: Called on the way.
        chunk_size: Records of a part.

    Raises:
        SciextractError: Nothing could be done, or the run cannot go on; the folder is whole, and the same call
            continues.
    """
    if request.choice.candidates and export != "jsonl":
        raise UsageError("--candidates needs a format that holds them", "add --to jsonl")
    shards = plan_shards(request.inputs, request.input_format)
    # Before the model is read: that a package is missing is found out at once.
    encoder(export)
    model = request.model(listener)
    work = request.work(shards, model, chunk_size, ordered=False)
    schema = {"name": model.config.schema_name, "hash": model.config.schema_hash}
    manifest = PartsManifest.of(work, schema, export)
    place = without_file_scheme(folder)
    opened: AbstractContextManager[PartsFolder]
    if is_url(place):
        opened = open_object_store(place, manifest, request.inputs)
    else:
        opened = open_parts(Path(place), manifest, request.inputs)
    with opened as parts:
        started, counts = time.monotonic(), RunCounts()
        if parts.before.records:
            listener.before(parts.before.records)
        work = replace(work, shards=parts.to_read(work.shards))
        if work.shards:
            counts = _collect(engine.results(work, parts.done()), parts.put, listener)
        seconds = time.monotonic() - started
        parts.finish()
    note_at_the_end(request.choice, request.given, parts.counts, listener)
    return Report(
        counts, parts.before.documents, (parts.counts.bad, parts.counts.quarantined), seconds,
        work.model, export, parts.place, dict(parts.losses),
        f"{parts.place}/{QUARANTINE}" if parts.counts.quarantined else "",
    )  # fmt: skip


def _collect(
    results: Results, keep: Callable[[ChunkResult], object], listener: Listener
) -> RunCounts:
    """Keep each result as it comes, and tell of it; gives the sum of all."""
    counts = RunCounts()
    with closing(results):
        for result in results:
            keep(result)
            counts += result.counts
            for problem in result.problems:
                listener.problem(problem)
            listener.done(counts, result.counts.warned, result.warnings)
    return counts


_EXPORT = "jsonl"


def annotate_into_stream(
    request: Request, engine: Engine, target: Target, ordered: bool, listener: Listener
) -> Report:
    """Annotate everything into lines of ``--to jsonl``.

    Args:
        request: What to annotate.
        engine: What predicts.
        target: Where the lines go.
        ordered: Whether they keep the order of the input.
        listener: Called on the way.

    Raises:
        SciextractError: Nothing could be done, or the run cannot go on; written lines are complete.
    """
    if target.export != _EXPORT:
        raise UsageError("several workers write lines", "add --to jsonl, or --parts FOLDER")
    if target.resume:
        problem = "--resume is for one process, not for several workers"
        raise UsageError(problem, "--parts FOLDER: the same command resumes it")
    inputs = expand_inputs(request.inputs)
    shards = plan_shards(inputs, request.input_format)
    target.check(inputs, candidates=request.choice.candidates)
    model = request.model(listener)
    kept = _Quarantine(target)
    # Processes give lines back as they come; other engines send whole chunks around.
    by_line = isinstance(engine, ProcessEngine)
    chunk_size = model.choice.options.records_a_call if by_line else CHUNK_SIZE
    work = request.work(shards, model, chunk_size, ordered)
    started = time.monotonic()
    with target.destination() as destination:

        def write(result: ChunkResult) -> None:
            if result.data:
                cast(TextIO, destination).write(result.data.decode("utf-8"))
            kept.add(result)

        counts = _collect(engine.results(work, {}), write, listener)
    note_at_the_end(request.choice, request.given, counts, listener)
    return Report(
        counts, 0, (counts.bad, counts.quarantined), time.monotonic() - started, model.model,
        _EXPORT, target.path, {}, kept.place,
    )  # fmt: skip


class _Quarantine:
    """The file of quarantined records next to an output file; on standard output there is none.

    Attributes:
        place: Its path when there are records in it, else empty.
    """

    def __init__(self, target: Target) -> None:
        path = Path(target.path) if target.path is not None else None
        # Next to a device or a pipe, such as /dev/null, lies no file.
        self._path = path and path.with_name(f"{path.stem}.{QUARANTINE}")
        if path is not None and path.exists() and not path.is_file():
            self._path = None
        if self._path is not None:
            self._path.unlink(missing_ok=True)
        self.place = ""

    def add(self, result: ChunkResult) -> None:
        for problem in result.problems:
            if problem.kind == "quarantined" and self._path is not None:
                quarantine(self._path, problem, result.key)
                self.place = str(self._path)
