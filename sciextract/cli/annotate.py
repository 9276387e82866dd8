"""``sciextract annotate``: predict entities, relations and coreference."""

from __future__ import annotations

import os
import signal
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import typer

from sciextract.cli.annotate_options import AnnotateOptions
from sciextract.cli.console import (
    ProgressLine,
    command_with,
    is_terminal,
    report,
    say,
    warn_of_network,
)
from sciextract.errors import ExitCode, UsageError

if TYPE_CHECKING:
    from pathlib import Path

    from sciextract.scale.interface import Engine
    from sciextract.workflows.annotate import Listener
    from sciextract.workflows.annotate_job import Report


_WAYS = """Nothing to annotate. Ways to call it:
  sciextract annotate papers.jsonl                     show files or folders here
  sciextract annotate papers/ --export jsonl --output results.jsonl
  cat abstract.txt | sciextract annotate               read a pipe
  sciextract annotate --project my.sciextract          predict what a project still needs
  sciextract annotate --sample                         try it with the sample abstracts"""


@command_with(AnnotateOptions)
def annotate(options: AnnotateOptions) -> None:
    """Predict entities, relations and coreference in abstracts.

    Without --export the result is a readable view. Without INPUT, the project of this folder
    ($SCIEXTRACT_PROJECT,
    or the only *.sciextract file here) is annotated and exported; decisions made by a person are never changed.

    Examples:

        sciextract annotate papers.jsonl

        sciextract annotate papers/ --export jsonl --output results.jsonl

        cat abstract.txt | sciextract annotate - --export jsonl --threshold relation=0.4

        sciextract annotate field/*.jsonl.gz --workers 8 --parts results
    """
    project = _meant_project(options)
    if project is not None:
        options.check_for_project()
        raise typer.Exit(_annotate_project(project, options))
    raise typer.Exit(_annotate_sources(_meant_sources(options), options))


def _meant_project(options: AnnotateOptions) -> Path | None:
    """The project that is meant, if any: a named one, else that of this folder when nothing comes in."""
    from sciextract.workflows.project_choice import implied_project

    if options.project is None:
        # Standard input is touched last: where inputs are named it belongs to others, such as a
        # shell loop, and may never end.
        if options.inputs or options.sample:
            return None
        if _standard_input_is_data() and not _standard_input_is_empty():
            return None
    return implied_project(options.project)


def _meant_sources(options: AnnotateOptions) -> list[str]:
    """What to read.

    Raises:
        UsageError: ``--sample`` is given with inputs.
        Exit: Nothing is named and nothing comes in through standard input.
    """
    if options.sample:
        if options.inputs:
            raise UsageError("--sample and INPUT cannot be combined", "omit one of them")
        from sciextract.resources import data_root

        return [str(data_root() / "sample_data" / "abstracts.jsonl")]
    if options.inputs or _standard_input_is_data():
        return options.inputs or ["-"]
    typer.echo(_WAYS, err=True)
    raise typer.Exit(ExitCode.USAGE)


def _standard_input_is_data() -> bool:
    """Whether standard input is a pipe, a file, or a test's stand-in for one."""
    if sys.stdin is None or sys.stdin.closed:
        return False
    try:
        mode = os.fstat(sys.stdin.fileno()).st_mode
    except (OSError, ValueError):
        return True
    return stat.S_ISFIFO(mode) or stat.S_ISREG(mode) or stat.S_ISSOCK(mode)


def _standard_input_is_empty() -> bool:
    """Whether a pipe holds nothing, as scripts leave it; waits for its first byte."""
    peek = getattr(getattr(sys.stdin, "buffer", None), "peek", None)
    return peek is not None and not peek(1)


def _annotate_sources(sources: list[str], options: AnnotateOptions) -> ExitCode:
    """Predict in this process, in several processes, or on a cluster."""
    from sciextract.cli.annotate_progress import RunScreen, in_words

    run = _run_workers if options.uses_workers() else _run_here
    on_stdout = options.parts is None and options.output_path is None
    mixed = on_stdout and is_terminal(sys.stdout)
    progress = not options.quiet and is_terminal(sys.stderr) and not mixed
    screen = RunScreen(sources, options.input_format, progress=progress)
    try:
        done = run(sources, options, screen)
    except KeyboardInterrupt:
        screen.end()
        say("", *_interrupted(options, screen.documents))
        return ExitCode.INTERRUPTED
    finally:
        screen.end()
    report(done.to_json(), in_words(done), options.as_json, aside=on_stdout, quiet=options.quiet)
    return done.exit_code


def _run_here(sources: list[str], options: AnnotateOptions, listener: Listener) -> Report:
    from sciextract.cli.view import ViewWriter
    from sciextract.workflows.annotate_job import AnnotateJob

    job = AnnotateJob(
        inputs=sources,
        choice=options.model_choice(),
        target=options.target(),
        input_format=options.input_format,
        schema=options.schema,
        given=options.given_entities,
        keep_gold=options.predicted,
    )
    return job.run(ViewWriter, listener)


def _run_workers(sources: list[str], options: AnnotateOptions, listener: Listener) -> Report:
    from sciextract.scale.run import Request, annotate_into_parts, annotate_into_stream

    request = Request(
        sources,
        options.model_choice(),
        options.input_format,
        options.schema,
        options.given_entities,
    )
    with _sigterm_as_ctrl_c():
        engine = _engine(options, listener)
        if options.parts is not None:
            export = options.export_format or "jsonl"
            return annotate_into_parts(request, engine, options.parts, export, listener)
        in_order = not options.unordered
        return annotate_into_stream(request, engine, options.target(), in_order, listener)


def _engine(options: AnnotateOptions, listener: Listener) -> Engine:
    from sciextract.scale.processes import TIMEOUT_SECONDS, ProcessEngine

    timeout = options.timeout or TIMEOUT_SECONDS
    if options.engine == "ray":
        from sciextract.scale.ray.engine import RayEngine

        return RayEngine(options.workers, options.address, timeout, listener.note)
    from sciextract.inference.batching import usable_cores

    workers = options.workers or usable_cores()
    isolated = options.workers == 1 or options.timeout is not None
    return ProcessEngine(workers, timeout, listener.note, listener.under_way, isolated=isolated)


def _interrupted(options: AnnotateOptions, documents: int) -> tuple[str, str]:
    if options.parts is not None:
        return (
            f"interrupted; the parts in {options.parts} are whole, {documents} abstracts from this run",
            "to resume, repeat the command",
        )
    if options.unordered:
        return (
            f"interrupted after {documents} abstracts",
            "--parts FOLDER can be resumed in any order",
        )
    from sciextract.cli.annotate_progress import interrupted

    return interrupted(options.target(), documents)


@contextmanager
def _sigterm_as_ctrl_c() -> Iterator[None]:
    """What a scheduler sends before it kills ends a run as Ctrl-C does: workers first, then the last
    message."""

    def interrupt(_number: int, _frame: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _annotate_project(project: Path, options: AnnotateOptions) -> ExitCode:
    """Import, predict, export."""
    from dataclasses import replace

    from sciextract.cli.annotate_progress import project_in_words
    from sciextract.cli.project_files import ImportScreen
    from sciextract.workflows.annotate_job import ProjectJob
    from sciextract.workflows.export_project import ExportJob

    export, output = options.export_format, options.output_path
    job = ProjectJob(
        project,
        replace(options.model_choice(), candidates=True),
        tuple(options.inputs or []),
        options.input_format,
        ExportJob(export, output, undecided=True, force=options.force) if export else None,
    )
    if not options.quiet:
        warn_of_network(project)
    shown = not options.quiet and is_terminal(sys.stderr)
    line = ProgressLine(shown)

    def on_model(note: str) -> None:
        if not options.quiet:
            say("Note", note)

    screen = ImportScreen(shown=shown)
    try:
        done = job.run(screen.listener(), line.update, on_model)
    finally:
        screen.end()
        line.clear()
    report(
        done.to_json(),
        project_in_words(done),
        as_json=options.as_json,
        aside=export is not None and output is None,
        quiet=options.quiet,
    )
    return done.exit_code
