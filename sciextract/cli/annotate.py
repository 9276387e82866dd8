"""``sciextract annotate``: predict entities, relations and coreference."""

from __future__ import annotations

import json
import os
import stat
import sys
from typing import TYPE_CHECKING, Annotated, Literal, NoReturn

import typer

from sciextract.cli.annotate_many import Many, annotate_many
from sciextract.cli.annotate_progress import in_words, interrupted
from sciextract.cli.console import ProgressLine, counted, is_terminal, report, say, warn_of_network
from sciextract.errors import ExitCode, UsageError, as_command

if TYPE_CHECKING:
    from pathlib import Path

    from sciextract.workflows.annotate_job import AnnotateJob, ProjectReport, Report, Target
    from sciextract.workflows.model_choice import ModelChoice


_WAYS = """Nothing to annotate. Ways to call it:
  sciextract annotate papers.jsonl                     show files or folders here
  sciextract annotate papers/ --export jsonl --output results.jsonl
  cat abstract.txt | sciextract annotate               read a pipe
  sciextract annotate --project my.sciextract          predict what a project still needs
  sciextract annotate --sample                         try it with the sample abstracts"""


def meant_project(named: str | None, inputs: list[str], sample: bool) -> Path | None:
    """The project that is meant, if any: a named one, else that of this folder when nothing comes in."""
    from sciextract.workflows.project_choice import implied_project

    if named is not None:
        return implied_project(named)
    if inputs or sample or (_comes_in() and not _is_at_its_end()):
        return None
    return implied_project(None)


def meant_sources(words: list[str], sample: bool) -> list[str]:
    """What to read.

    Raises:
        UsageError: Nothing is named and nothing comes in through standard input.
    """
    if sample:
        if words:
            raise UsageError("--sample and INPUT exclude each other", "leave one of them out")
        from sciextract.resources import data_root

        return [str(data_root() / "sample_data" / "abstracts.jsonl")]
    if words or _comes_in():
        return words or ["-"]
    typer.echo(_WAYS, err=True)
    raise typer.Exit(ExitCode.USAGE)


def refuse_with_project(**options: bool) -> None:
    """Options that make no sense with a project.

    Raises:
        UsageError: One of them is given.
    """
    for name, given in options.items():
        if given:
            raise UsageError(
                f"--{name.replace('_', '-')} is not for projects",
                "leave it out, or name files instead of a project",
            )


def _comes_in() -> bool:
    """Whether standard input is a pipe, a file, or a test's stand-in for one."""
    if sys.stdin is None or sys.stdin.closed:
        return False
    try:
        mode = os.fstat(sys.stdin.fileno()).st_mode
    except (OSError, ValueError):
        return True
    return stat.S_ISFIFO(mode) or stat.S_ISREG(mode) or stat.S_ISSOCK(mode)


def _is_at_its_end() -> bool:
    """Whether a pipe holds nothing, as scripts leave it; waits for its first byte."""
    peek = getattr(getattr(sys.stdin, "buffer", None), "peek", None)
    return peek is not None and not peek(1)


def annotate(
    inputs: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[INPUT...|-]",
            help="Files, folders, or - for standard input.",
            show_default=False,
        ),
    ] = None,
    export: Annotated[
        str | None,
        typer.Option(
            metavar="FORMAT", help="Write data, not the readable view: jsonl, scierc, brat, csv..."
        ),
    ] = None,
    output: Annotated[
        str | None,
        typer.Option(metavar="PATH", help="Write to a file; implies --export jsonl."),
    ] = None,
    input_format: Annotated[
        str | None,
        typer.Option("--format", metavar="F", help="Format of the input (default: its content)."),
    ] = None,
    project: Annotated[
        str | None,
        typer.Option(
            metavar="DB",
            help="Import INPUT into this project, predict what it needs, and export the project.",
        ),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(
            metavar="NAME|DIR",
            help="sci, bio, auto (the words of each abstract choose), a model folder or hub id.",
        ),
    ] = None,
    schema: Annotated[
        str | None,
        typer.Option(
            metavar="NAME|FILE", help="Label schema for colours; its labels must be the model's."
        ),
    ] = None,
    candidates: Annotated[
        bool, typer.Option("--candidates", help="Export what stayed below the thresholds, too.")
    ] = False,
    given_entities: Annotated[
        bool,
        typer.Option(
            "--given-entities",
            help="Keep the entities of the input, and predict only what relates them.",
        ),
    ] = False,
    predicted: Annotated[
        bool,
        typer.Option(
            "--predicted",
            help="With --export scierc: the input's annotations as ner..., predictions as predicted_ner...",
        ),
    ] = False,
    threshold: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TASK=P",
            help="Least probability for entity, relation or coreference, without exception; may be repeated.",
        ),
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option(
            metavar="LABEL,...", help="Entity labels to look for (default: all the model's)."
        ),
    ] = None,
    batch_size: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="Abstracts a call, for fp32 and fp16 models."),
    ] = None,
    batch_tokens: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="Word pieces a call, for fp32 and fp16 models."),
    ] = None,
    threads: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Threads (default: all cores).")
    ] = None,
    workers: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=1,
            max=1024,
            help="Predict in N processes beside this one, for many abstracts.",
        ),
    ] = None,
    parts: Annotated[
        str | None,
        typer.Option(
            metavar="FOLDER",
            help="Write a folder of parts (jsonl or parquet); the same command again goes on.",
        ),
    ] = None,
    unordered: Annotated[
        bool, typer.Option("--unordered", help="With --workers: lines in any order.")
    ] = False,
    timeout: Annotated[
        float | None,
        typer.Option(
            metavar="SECONDS",
            min=0.1,
            help="With --workers: most time for one abstract (default: 60).",
        ),
    ] = None,
    engine: Annotated[
        Literal["processes", "ray"] | None,
        typer.Option(help="What the workers are: processes (default), or Ray of the extra scale."),
    ] = None,
    address: Annotated[
        str | None,
        typer.Option(
            metavar="auto|HOST:PORT", help="With --engine ray: the cluster (default: its own)."
        ),
    ] = None,
    precision: Annotated[
        Literal["int8", "int4", "fp32", "fp16"] | None,
        typer.Option(help="Which graph of the model runs."),
    ] = None,
    device: Annotated[
        Literal["cpu", "cuda", "auto"],
        typer.Option(help="Where it runs: the processor, a GPU, or a GPU if there is one."),
    ] = "cpu",
    as_json: Annotated[bool, typer.Option("--json", help="End with a JSON summary.")] = False,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on where the file of --output ends.")
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Overwrite the file of --output.")] = False,
    sample: Annotated[
        bool, typer.Option("--sample", help="Annotate the sample abstracts that come along.")
    ] = False,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="Neither progress nor a summary in words.")
    ] = False,
) -> None:
    """Predict entities, relations and coreference in abstracts.

    Without --export the result is a readable view. Without INPUT, the project of this folder
    ($SCIEXTRACT_PROJECT, or the only *.sciextract file here) is predicted and exported; what a person has
    decided there is never changed.

    Examples:

        sciextract annotate papers.jsonl

        sciextract annotate papers/ --export jsonl --output results.jsonl

        cat abstract.txt | sciextract annotate - --export jsonl --threshold relation=0.4

        sciextract annotate field/*.jsonl.gz --workers 8 --parts results
    """
    from sciextract.workflows.annotate_job import AnnotateJob, Target, output_path
    from sciextract.workflows.model_choice import ModelChoice, parse_labels, parse_thresholds

    thresholds = parse_thresholds(threshold or [])
    path = output_path(output)
    choice = ModelChoice(
        model, thresholds, candidates, threads, precision, batch_size, parse_labels(only or []),
        batch_tokens, device,
    )  # fmt: skip
    found = meant_project(project, inputs or [], sample)
    if found is not None:
        wanted = export or ("jsonl" if output else None)
        refuse_with_project(
            resume=resume, candidates=candidates, schema=schema is not None, sample=sample,
            given_entities=given_entities, only=bool(only), workers=workers is not None,
            parts=parts is not None, engine=engine is not None, predicted=predicted,
        )  # fmt: skip
        annotate_project(
            found, inputs or [], input_format, choice, wanted, path, force, as_json, quiet
        )
    sources = meant_sources(inputs or [], sample)
    target = Target(export or ("jsonl" if output else None), path, resume, force)
    many = Many(workers, parts, unordered, timeout, engine, address)
    if many.wanted():
        if predicted:
            raise UsageError("--predicted is not for --workers and --parts", "leave it or them out")
        from sciextract.scale.request import Request

        request = Request(sources, choice, input_format, schema, given_entities)
        raise typer.Exit(annotate_many(request, many, target, as_json, quiet))
    job = AnnotateJob(
        inputs=sources,
        choice=choice,
        target=target,
        input_format=input_format,
        schema=schema,
        given=given_entities,
        beside=predicted,
    )
    report = _run(job, quiet)
    if as_json:
        typer.echo(json.dumps(report.to_json()), err=path is None)
    elif not quiet:
        say("", in_words(report))
    raise typer.Exit(report.exit_code)


def _run(job: AnnotateJob, quiet: bool) -> Report:
    from sciextract.cli.annotate_progress import Screen
    from sciextract.cli.view import ViewWriter

    screen = Screen(job.inputs, job.input_format, progress=not quiet and _aside(job.target))
    try:
        return job.run(ViewWriter, screen)
    except KeyboardInterrupt:
        screen.end()
        say("", *interrupted(job.target, screen.documents))
        raise typer.Exit(ExitCode.INTERRUPTED) from None
    finally:
        screen.end()


def _aside(target: Target) -> bool:
    """Whether standard error is a terminal that the results do not go to."""
    return is_terminal(sys.stderr) and (target.path is not None or not is_terminal(sys.stdout))


def annotate_project(
    project: Path,
    inputs: list[str],
    input_format: str | None,
    choice: ModelChoice,
    export: str | None,
    output: str | None,
    force: bool,
    as_json: bool,
    quiet: bool,
) -> NoReturn:
    """Import, predict, export; then leave with the exit code of what was done.

    Raises:
        SciextractError: A step cannot be done.
    """
    from dataclasses import replace

    from sciextract.cli.project_files import ImportScreen
    from sciextract.workflows.annotate_job import ProjectJob
    from sciextract.workflows.export_project import ExportJob

    wanted = ExportJob(export, output, undecided=True, force=force) if export else None
    job = ProjectJob(project, replace(choice, candidates=True), tuple(inputs), input_format, wanted)
    shown = not quiet and is_terminal(sys.stderr)
    if not quiet:
        warn_of_network(project)
    screen, progress = ImportScreen(shown=shown), _Progress(shown)
    try:
        done = job.run(screen.listener(), progress.update, _quiet if quiet else _say_model)
    finally:
        screen.end()
        progress.end()
    aside = export is not None and output is None
    report(done.to_json(), _in_words(done), as_json=as_json, aside=aside, quiet=quiet)
    raise typer.Exit(done.exit_code)


def _say_model(told: str) -> None:
    say("Note", told)


def _quiet(_: str) -> None:
    """Nobody listens."""


class _Progress:
    """The progress line of the prediction."""

    def __init__(self, shown: bool) -> None:
        self._total: int | None = None
        self._line = ProgressLine(shown, lambda: self._total)

    def update(self, done: int, total: int) -> None:
        self._total = total
        self._line.update(done)

    def end(self) -> None:
        self._line.clear()


def _in_words(done: ProjectReport) -> str:
    words = ""
    if done.imported is not None:
        words = f"{counted(done.imported.counts.documents, 'new abstract')}; "
        if done.imported.bad:
            words += f"{counted(done.imported.bad, 'bad record')} left out; "
    words += f"{counted(done.predicted.documents, 'abstract')} predicted by {done.predicted.model}"
    if done.predicted.skipped:
        words += f", {done.predicted.skipped:,} did not need it"
    if done.exported is None:
        project = as_command("--project", done.project)
        return f"{words}; next: sciextract export, or sciextract status, {project}"
    words += f"; {counted(done.exported.documents, 'abstract')} exported"
    for kind, count in done.exported.losses.items():
        words += f"; {done.exported.format} cannot hold {kind}: {count}"
    return words
