"""``sciextract annotate``: predict entities, relations and coreference."""

from __future__ import annotations

import json
import os
import stat
import sys
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from sciextract.cli.console import is_terminal, say
from sciextract.errors import ExitCode, UsageError

if TYPE_CHECKING:
    from pathlib import Path

    from sciextract.workflows.annotate_job import AnnotateJob, Report, Target

_WAYS = """Nothing to annotate. Ways to call it:
  sciextract annotate papers.jsonl                     show files or folders here
  sciextract annotate papers/ --export jsonl --output results.jsonl
  cat abstract.txt | sciextract annotate               read a pipe
  sciextract annotate --project my.sciextract          predict what a project still needs
  sciextract annotate --sample                         try it with the sample abstracts"""


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
    threshold: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TASK=P",
            help="Least probability for entity, relation or coreference; may be repeated.",
        ),
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option(
            metavar="LABEL,...", help="Entity labels to look for (default: all the model's)."
        ),
    ] = None,
    batch_size: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Abstracts a call, for fp32 models.")
    ] = None,
    threads: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Threads (default: all cores).")
    ] = None,
    precision: Annotated[
        Literal["int8", "int4", "fp32"] | None, typer.Option(help="Which graph of the model runs.")
    ] = None,
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
    """
    from sciextract.workflows.annotate_job import AnnotateJob, Target, output_path
    from sciextract.workflows.model_choice import ModelChoice, parse_labels, parse_thresholds

    thresholds = parse_thresholds(threshold or [])
    path = output_path(output)
    choice = ModelChoice(
        model, thresholds, candidates, threads, precision, batch_size, parse_labels(only or [])
    )
    found = _project(project, inputs or [], sample)
    if found is not None:
        from sciextract.cli.annotate_project import annotate_project

        wanted = export or ("jsonl" if output else None)
        _refuse(
            resume=resume, candidates=candidates, schema=schema is not None, sample=sample,
            given_entities=given_entities, only=bool(only),
        )  # fmt: skip
        annotate_project(
            found, inputs or [], input_format, choice, wanted, path, force, as_json, quiet
        )
    job = AnnotateJob(
        inputs=_sources(inputs or [], sample),
        choice=choice,
        target=Target(export or ("jsonl" if output else None), path, resume, force),
        input_format=input_format,
        schema=schema,
        given=given_entities,
    )
    report = _run(job, quiet)
    if as_json:
        typer.echo(json.dumps(report.to_json()), err=path is None)
    elif not quiet:
        say("", _in_words(report))
    raise typer.Exit(report.exit_code)


def _run(job: AnnotateJob, quiet: bool) -> Report:
    from sciextract.cli.screen import Screen
    from sciextract.cli.view import ViewWriter

    screen = Screen(job.inputs, job.input_format, progress=not quiet and _aside(job.target))
    try:
        return job.run(ViewWriter, screen)
    except KeyboardInterrupt:
        screen.end()
        say("", *_interrupted(job.target, screen.documents))
        raise typer.Exit(ExitCode.INTERRUPTED) from None
    finally:
        screen.end()


def _project(named: str | None, inputs: list[str], sample: bool) -> Path | None:
    """The project that is meant, if any: a named one, else that of this folder when nothing comes in."""
    from sciextract.workflows.project_choice import implied_project

    if named is not None:
        return implied_project(named)
    if inputs or sample or (_comes_in() and not _is_at_its_end()):
        return None
    return implied_project(None)


def _is_at_its_end() -> bool:
    """Whether a pipe holds nothing, as scripts leave it; waits for its first byte."""
    peek = getattr(getattr(sys.stdin, "buffer", None), "peek", None)
    return peek is not None and not peek(1)


def _refuse(**options: bool) -> None:
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


def _sources(words: list[str], sample: bool) -> list[str]:
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


def _comes_in() -> bool:
    """Whether standard input is a pipe, a file, or a test's stand-in for one."""
    if sys.stdin is None or sys.stdin.closed:
        return False
    try:
        mode = os.fstat(sys.stdin.fileno()).st_mode
    except (OSError, ValueError):
        return True
    return stat.S_ISFIFO(mode) or stat.S_ISREG(mode) or stat.S_ISSOCK(mode)


def _aside(target: Target) -> bool:
    """Whether standard error is a terminal that the results do not go to."""
    return is_terminal(sys.stderr) and (target.path is not None or not is_terminal(sys.stdout))


def _interrupted(target: Target, documents: int) -> tuple[str, str]:
    if target.path is None:
        return f"interrupted after {_counted(documents, 'abstract')}", ""
    return (
        f"interrupted; {target.path} ends with a complete line, {documents} of them from this run",
        "to go on: the same command with --resume" + (" instead of --force" * target.force),
    )


def _in_words(report: Report) -> str:
    summary = report.summary
    found = ", ".join(
        [
            _counted(summary.entities, "entity", "entities"),
            _counted(summary.relations, "relation"),
            _counted(summary.clusters, "cluster"),
        ]
    )
    words = f"{_counted(summary.documents, 'abstract')}: {found}; {report.seconds:.1f} s, {report.model}"
    if report.resumed:
        words += f"; {report.resumed} were done before"
    if summary.bad:
        words += f"; {_counted(summary.bad, 'bad record')} left out"
    for kind, count in report.losses.items():
        words += f"; {report.target.export} cannot hold {kind}: {count}"
    return words


def _counted(count: int, one: str, many: str = "") -> str:
    return f"{count} {one if count == 1 else many or one + 's'}"
