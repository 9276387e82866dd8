"""``sciextract annotate``: predict entities, relations and coreference."""

from __future__ import annotations

import os
import signal
import stat
import sys
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import TYPE_CHECKING, Literal

import typer

from sciextract.cli.console import (
    ForceOption,
    InputFormatOption,
    JsonOption,
    QuietOption,
    argument,
    command_with,
    flag,
    given_options,
    is_terminal,
    option,
    output_formats,
    report,
    say,
    warn_of_network,
)
from sciextract.errors import ExitCode, UsageError, as_command

if TYPE_CHECKING:
    from pathlib import Path

    from sciextract.scale.interface import Engine
    from sciextract.workflows.annotate import Listener
    from sciextract.workflows.annotate_job import Report, Target
    from sciextract.workflows.model_choice import ModelChoice


_WAYS = """Nothing to annotate. Ways to call it:
  sciextract annotate papers.jsonl                     show files or folders here
  sciextract annotate papers/ --to jsonl --output results.jsonl
  cat abstract.txt | sciextract annotate               read a pipe
  sciextract annotate --project my.sciextract          predict what a project still needs
  sciextract annotate --sample                         try it with the sample abstracts"""


@dataclass(frozen=True, slots=True)
class AnnotateOptions:
    """One field for each word of the command line; its help text says what it means."""

    inputs: list[str] | None = argument(
        "[INPUT...|-]", "Files, folders, or - for standard input.", show_default=False, default=None
    )
    export: str | None = option(
        "FORMAT",
        "Write data, not the readable view: jsonl, scierc, brat, csv...",
        "--to",
        "--export",
        autocompletion=output_formats,
    )
    output: str | None = option("PATH", "Write to a file; implies --to jsonl.")
    input_format: InputFormatOption = None
    project: str | None = option(
        "DB", "Import INPUT into this project, predict, and export the project."
    )
    model: str | None = option(
        "NAME|DIR", "sci, bio, science, auto (by the abstract's words), a model folder or hub id."
    )
    schema: str | None = option("NAME|FILE", "Label schema for colours, with the model's labels.")
    candidates: bool = flag("Also export candidates below the thresholds.", "--candidates")
    given_entities: bool = flag(
        "Predict only relations and coreference between the input's entities.", "--given-entities"
    )
    predicted: bool = flag(
        "With --to scierc: add predictions as predicted_ner... to the input's annotations.",
        "--predicted",
    )
    threshold: list[str] | None = option(
        "TASK=P,...", "Minimum score per task: entity, relation, coreference."
    )
    promise: list[str] | None = option(
        "TASK=P,...", "Target precision per task: entity, relation (docs/promise.md)."
    )
    by_label: bool = flag("With --promise: for each label, not only for the task.", "--by-label")
    confidence: float = option("P", "With --promise: confidence level.", default=0.9)
    only: list[str] | None = option("LABEL,...", "Entity labels to predict (default: all).")
    batch_size: int | None = option("N", "Abstracts per batch, for fp32 and fp16 models.", min=1)
    batch_tokens: int | None = option("N", "Subwords per batch, for fp32 and fp16 models.", min=1)
    threads: int | None = option("N", "Threads (default: all cores).", min=1)
    workers: int | None = option("N", "Number of worker processes.", min=1, max=1024)
    parts: str | None = option(
        "FOLDER", "Write a folder of parts (jsonl or parquet); repeat to resume."
    )
    unordered: bool = flag("With --workers: write lines in any order.", "--unordered")
    timeout: float | None = option(
        "SECONDS", "With --workers: time limit per abstract (default: 60).", min=0.1
    )
    engine: Literal["processes", "ray"] | None = typer.Option(
        None, help="Run workers as processes (default) or on Ray (extra scale)."
    )
    address: str | None = option(
        "auto|HOST:PORT", "With --engine ray: the cluster (default: start one)."
    )
    precision: Literal["int8", "int4", "fp32", "fp16"] | None = typer.Option(
        None, help="Numeric precision (default: what the device prefers)."
    )
    device: Literal["cpu", "cuda", "auto"] = typer.Option(
        "cpu", help="CPU, GPU, or GPU if there is one."
    )
    as_json: JsonOption = False
    resume: bool = flag("Resume at the end of the --output file.", "--resume")
    force: ForceOption = False
    sample: bool = flag("Annotate the bundled sample abstracts.", "--sample")
    quiet: QuietOption = False

    @property
    def export_format(self) -> str | None:
        """The format to write; ``None`` for the readable view."""
        return self.export or ("jsonl" if self.output else None)

    @property
    def output_path(self) -> str | None:
        """The file to write; ``None`` for standard output."""
        return None if self.output == "-" else self.output

    def model_choice(self) -> ModelChoice:
        """The model and its settings.

        Raises:
            UsageError: A threshold or a label cannot be read.
        """
        from sciextract.inference.batching import RunOptions
        from sciextract.workflows.model_choice import (
            ModelChoice,
            parse_labels,
            parse_promise,
            parse_thresholds,
        )

        if self.promise and self.threshold:
            problem = "--promise chooses the thresholds"
            raise UsageError(problem, "leave out --threshold, or the promise")
        if self.by_label and not self.promise:
            raise UsageError("--by-label is for promises", "add --promise TASK=P, or leave it out")
        how = RunOptions(**{field.name: getattr(self, field.name) for field in fields(RunOptions)})
        least, promise = parse_thresholds(self.threshold or []), parse_promise(self.promise or [])
        only, promised = parse_labels(self.only or []), (promise, self.confidence, self.by_label)
        return ModelChoice(self.model, least, self.candidates, only, how, *promised)

    def target(self) -> Target:
        from sciextract.workflows.annotate_job import Target

        return Target(self.export_format, self.output_path, self.resume, self.force)

    def check_for_project(self) -> None:
        """Refuse options that make no sense with a project.

        Raises:
            UsageError: One of them is given.
        """
        self._refuse(
            "is not for projects",
            "omit it, or give files instead of a project",
            "resume", "candidates", "schema", "sample", "given_entities", "only", "workers", "parts",
            "engine", "predicted",
        )  # fmt: skip

    def uses_workers(self) -> bool:
        """Whether several processes predict.

        Raises:
            UsageError: Options of such a run are given without one, or it does not take another option.
        """
        if self.workers is None and self.parts is None and self.engine is None:
            alone = ("unordered", "timeout", "address")
            self._refuse("is for several workers", "add --workers N", *alone)
            return False
        if self.predicted:
            raise UsageError("--predicted is not for --workers and --parts", "omit the option")
        if self.threads is not None:
            problem = "--threads and --workers cannot be combined: a worker has one thread"
            raise UsageError(problem, "leave --threads out")
        if self.address is not None and self.engine != "ray":
            raise UsageError("--address names a Ray cluster", "add --engine ray")
        if self.parts is not None:
            self._refuse(
                "and --parts cannot be combined",
                "--parts FOLDER is the output; it is filled in any order, and the same command resumes it",
                *(["output"] if self.output_path is not None else []), "resume", "force", "unordered",
            )  # fmt: skip
        return True

    def _refuse(self, reason: str, hint: str, *names: str) -> None:
        for word in given_options(self, *names):
            raise UsageError(f"{word} {reason}", hint)


@command_with(AnnotateOptions)
def annotate(options: AnnotateOptions) -> None:
    """Predict entities, relations and coreference in abstracts.

    Without --to the result is for reading. Without INPUT, the project of this folder is annotated and exported;
    decisions never change.

    Examples:

        sciextract annotate papers.jsonl

        sciextract annotate papers/ --to jsonl --output results.jsonl
    """
    # A project comes first: without it, and without inputs, standard input would be waited for.
    project = _find_project(options)
    if options.promise:
        _show_promise(options, project)
    if project is not None:
        options.check_for_project()
        raise typer.Exit(_annotate_project(project, options))
    sources = options.inputs or []
    if options.sample:
        if sources:
            raise UsageError("--sample and INPUT cannot be combined", "omit one of them")
        from sciextract.resources import data_root

        sources = [str(data_root() / "sample_data" / "abstracts.jsonl")]
    elif not sources and not _standard_input_is_data():
        typer.echo(_WAYS, err=True)
        raise typer.Exit(ExitCode.USAGE)
    raise typer.Exit(_annotate_sources(sources or ["-"], options))


def _show_promise(options: AnnotateOptions, project: Path | None) -> None:
    """Say what is promised, before anything is predicted; what cannot be kept ends the run."""
    from contextlib import nullcontext

    from sciextract.cli.annotate_screen import describe_promise
    from sciextract.store import open_project

    with open_project(project, read=True) if project else nullcontext() as opened:
        promise = options.model_choice().promised(opened)
    if promise is not None and not options.quiet:
        for line in describe_promise(promise):
            say("Promise", line)


def _find_project(options: AnnotateOptions) -> Path | None:
    """The project that is meant, if any: a named one, else that of this folder when nothing comes in."""
    from sciextract.resources import SUFFIX, implied_project

    if options.project is None:
        if given := [path for path in options.inputs or () if path.endswith(SUFFIX)]:
            raise UsageError(
                f"{given[0]} is a project, not a file of abstracts",
                as_command("sciextract", "annotate", "--project", given[0]),
            )
        # Standard input is touched last: where inputs are named it belongs to others, such as a
        # shell loop, and may never end.
        if options.inputs or options.sample:
            return None
        if _standard_input_is_data():
            # Scripts leave an empty pipe; the first byte tells, and is waited for.
            peek = getattr(getattr(sys.stdin, "buffer", None), "peek", None)
            if peek is None or peek(1):
                return None
    return implied_project(options.project, partial(say, "Note"))


def _standard_input_is_data() -> bool:
    """Whether standard input is a pipe, a file, or a test's stand-in for one."""
    if sys.stdin is None or sys.stdin.closed:
        return False
    try:
        mode = os.fstat(sys.stdin.fileno()).st_mode
    except (OSError, ValueError):
        return True
    return stat.S_ISFIFO(mode) or stat.S_ISREG(mode) or stat.S_ISSOCK(mode)


def _annotate_sources(sources: list[str], options: AnnotateOptions) -> ExitCode:
    """Predict in this process, in several processes, or on a cluster."""
    from sciextract.cli.annotate_screen import (
        RunScreen,
        ViewWriter,
        describe_interruption,
        describe_run,
    )
    from sciextract.formats.inputs import expand_inputs

    sources = expand_inputs(sources)
    in_processes = options.uses_workers()
    on_stdout = options.parts is None and options.output_path is None
    # Results and progress on one terminal would write over each other.
    mixed = on_stdout and is_terminal(sys.stdout)
    progress = not options.quiet and is_terminal(sys.stderr) and not mixed
    screen = RunScreen(sources, options.input_format, progress=progress)
    try:
        with screen:
            if in_processes:
                done = _run_workers(sources, options, screen)
            else:
                from sciextract.workflows.annotate_job import AnnotateJob

                job = AnnotateJob(
                    sources, options.model_choice(), options.target(), options.input_format,
                    options.schema, options.given_entities, options.predicted,
                )  # fmt: skip
                done = job.run(ViewWriter, screen)
    except KeyboardInterrupt:
        count = screen.documents
        if options.parts is not None:
            whole = f"the parts in {options.parts} are whole"
            message = f"interrupted; {whole}, {count} abstracts from this run"
            say("", message, "to resume, repeat the command")
        elif in_processes:
            say("", f"interrupted after {count} abstracts", "--parts FOLDER can be resumed")
        else:
            say("", *describe_interruption(options.target(), count))
        return ExitCode.INTERRUPTED
    words, quiet = describe_run(done), options.quiet
    report(done.to_json(), words, options.as_json, aside=on_stdout, quiet=quiet)
    return done.exit_code


def _run_workers(sources: list[str], options: AnnotateOptions, listener: Listener) -> Report:
    from sciextract.cli.training_screen import stop_on_signals
    from sciextract.scale.processes import TIMEOUT_SECONDS, ProcessEngine
    from sciextract.scale.run import Request, annotate_into_parts, annotate_into_stream

    choice, given = options.model_choice(), options.given_entities
    request = Request(sources, choice, options.input_format, options.schema, given)
    # What a scheduler sends before it kills ends a run as Ctrl-C does: workers first, then the last message.
    with stop_on_signals(signal.SIGTERM):
        timeout = options.timeout or TIMEOUT_SECONDS
        if options.engine == "ray":
            from sciextract.scale.ray.engine import RayEngine

            engine: Engine = RayEngine(options.workers, options.address, timeout, listener.note)
        else:
            from sciextract.inference.batching import usable_cores

            workers = options.workers or usable_cores()
            engine = ProcessEngine(workers, timeout, listener.note, listener.under_way)
        if options.parts is not None:
            export = options.export_format or "jsonl"
            return annotate_into_parts(request, engine, options.parts, export, listener)
        in_order = not options.unordered
        return annotate_into_stream(request, engine, options.target(), in_order, listener)


def _annotate_project(project: Path, options: AnnotateOptions) -> ExitCode:
    from sciextract.cli.annotate_screen import ImportScreen, describe_project
    from sciextract.workflows.annotate_job import ProjectJob
    from sciextract.workflows.export_project import ExportJob

    export, output = options.export_format, options.output_path
    job = ProjectJob(
        project,
        # The desk shows what stayed below the thresholds, and queues are made of it.
        replace(options.model_choice(), candidates=True),
        tuple(options.inputs or []),
        options.input_format,
        ExportJob(export, output, undecided=True, force=options.force) if export else None,
    )
    if not options.quiet:
        warn_of_network(project)

    def on_model(note: str) -> None:
        if not options.quiet:
            say("Note", note)

    with ImportScreen(not options.quiet and is_terminal(sys.stderr)) as screen:
        done = job.run(screen.listener(), screen.line.update, on_model)
    aside = export is not None and output is None
    words, quiet = describe_project(done), options.quiet
    report(done.to_json(), words, options.as_json, aside=aside, quiet=quiet)
    return done.exit_code
