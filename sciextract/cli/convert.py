"""``sciextract convert``: from one format into another, without a project."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from sciextract.cli.console import (
    ForceOption,
    InputFormatOption,
    JsonOption,
    QuietOption,
    StrictOption,
    argument,
    is_terminal,
    option,
    output_formats,
    report,
    say,
)
from sciextract.text.english import counted

if TYPE_CHECKING:
    from sciextract.workflows.convert import ConvertReport


def convert(
    inputs: Annotated[
        list[str], argument("IN...", "Files, folders, zip archives, or - for a pipe.")
    ],
    to: Annotated[
        str, option("F", "Format to write, e.g. brat.", "--to", autocompletion=output_formats)
    ],
    output: Annotated[
        str | None, option("PATH", "File or folder (default: standard output).")
    ] = None,
    input_format: InputFormatOption = None,
    rename: Annotated[str, option("OLD=NEW,...", "Rename entity and relation labels.")] = "",
    strict: StrictOption = False,
    force: ForceOption = False,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Convert annotated abstracts from one format into another, without a project.

    Anything that the format cannot represent is counted and reported. With --output or --strict, either the whole
    result is written or nothing. docs/formats.md lists the formats.

    Examples:

        sciextract convert corpus/ --to scierc --output corpus.jsonl

        sciextract convert train.jsonl --from scierc --to brat --output brat --strict

        sciextract convert gold.jsonl --to conll --rename Method=METHOD,Task=TASK > gold.conll

        cat export.jsonl | sciextract convert - --from doccano --to jsonl
    """
    from sciextract.cli.project_files import ImportScreen
    from sciextract.workflows.convert import ConvertJob, rename_of

    aside = output in (None, "-")
    drawn = not quiet and is_terminal(sys.stderr) and not (aside and is_terminal(sys.stdout))
    screen = ImportScreen(shown=drawn, more="--to jsonl writes them all, as `warnings`")
    job = ConvertJob(inputs, to, input_format, output, rename_of(rename), strict, force)
    try:
        done = job.run(screen.listener())
    finally:
        screen.end()
    for label in (label for label, count in done.renamed.items() if not count):
        say("Warning", f"--rename: nothing has the label {label!r}")
    report(done.to_json(), _converted(done), as_json, aside=aside, quiet=quiet)
    raise typer.Exit(done.exit_code)


def _converted(done: ConvertReport) -> str:
    if done.documents:
        words = f"{counted(done.documents, 'abstract')} to {done.output or 'standard output'} as {done.format}"
    elif done.losses:
        words = f"nothing written: {done.format} would lose information, and --strict is set"
    else:
        words = "nothing written: no record could be read"
    if done.bad:
        words += f"; {counted(done.bad, 'bad record')} left out"
    for kind, count in done.losses.items():
        words += f"; {done.format} cannot hold {kind}: {count}"
    return words
