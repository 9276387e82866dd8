"""``sciextract table``: what abstracts say, as a table."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import typer

from sciextract.cli.console import (
    ForceOption,
    InputFormatOption,
    JsonOption,
    ProjectOption,
    QuietOption,
    Screen,
    argument,
    command_with,
    flag,
    is_terminal,
    open_chosen_project,
    option,
    report,
)
from sciextract.cli.finishing import KEYS, QUEUE, selection
from sciextract.errors import UsageError
from sciextract.resources import SUFFIX
from sciextract.text.english import counted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sciextract.table.job import TableJob, TableReport


@dataclass(frozen=True)
class TableOptions:
    """The options of ``table``."""

    inputs: list[str] | None = argument(
        "[IN...]",
        "Annotated files, or a project (default: as --project).",
        default=None,
        show_default=False,
    )
    project: ProjectOption = None
    input_format: InputFormatOption = None
    rows: str | None = option(
        "ROWS", "A row a: paper (default), mention[:TYPE] or relation[:TYPE]."
    )
    values: list[str] | None = option(
        "TYPE[=UNIT]", "Number and unit of this type in two columns, converted to UNIT; repeatable."
    )
    with_sentences: bool = flag("Each cell with its sentence.", "--with-sentences")
    undecided: bool = flag("Undecided items, too.", "--undecided")
    promise: list[str] | None = option(
        "TASK=P,...", "Undecided items at this target precision per task, too (docs/promise.md)."
    )
    by_label: bool = flag("With --promise: for each label, not only for the task.", "--by-label")
    confidence: float = option("P", "With --promise: confidence level.", default=0.9)
    queue: str | None = QUEUE
    keys: Path | None = KEYS
    to: Literal["csv", "xlsx", "md", "html", "sqlite"] | None = typer.Option(
        None, help="Format (default: by the file's name, else csv)."
    )
    output: str | None = option("PATH", "The file to write (default: standard output).")
    excel: bool = flag("CSV for Excel, with a byte order mark.", "--excel")
    force: ForceOption = False
    as_json: JsonOption = False
    quiet: QuietOption = False


@command_with(TableOptions)
def table(options: TableOptions) -> None:
    """Write a table of a project: a row a paper, a column a type.

    A cell has the distinct names, of decided items only. An empty cell: somebody has looked and found none; ``?``:
    nobody has finished the abstract for that type.

    Examples:

        sciextract table --output mortars.xlsx --with-sentences

        sciextract table --rows mention:Mortar --excel --output mortars.csv
    """
    from sciextract.documents.schema import ABSTRACT
    from sciextract.store.maintenance.backup import folder_of
    from sciextract.table.job import TableJob
    from sciextract.table.papers import Wanted, papers_of_project
    from sciextract.workflows.model_choice import parse_promise

    promise = parse_promise(options.promise or []), options.confidence, options.by_label
    wanted = Wanted(options.undecided, *promise)
    how = options.rows, options.with_sentences, options.excel, options.force
    values = dict(map(_value, options.values or ()))
    job = TableJob(options.output, options.to, *how, wanted, values)
    drawn = not options.quiet and is_terminal(sys.stderr)
    with Screen(drawn, "") as screen:
        project = options.project
        if not project and len(named := options.inputs or []) == 1 and named[0].endswith(SUFFIX):
            project = named[0]
        if options.inputs and project not in options.inputs:
            made = _of_files(job, options, screen)
        else:
            chosen = selection(options.queue, options.keys, None, None)
            with open_chosen_project(project, read=True) as opened:
                job.check([opened.path, folder_of(opened.path)])
                papers = papers_of_project(opened, chosen, wanted, screen.line.update)
                schema = opened.schema
                said = [kind.label for kind in schema.attributes_of(ABSTRACT)]
                types = schema.entity_labels, schema.relation_labels, said
                made = job.write(papers, types, opened.path.stem)
    aside = options.output in (None, "-")
    report(made.to_json(), _describe(made), options.as_json, aside=aside, quiet=options.quiet)
    raise typer.Exit(made.exit_code)


def _value(words: str) -> tuple[str, str]:
    """A type and the unit that is wanted of it; a type may have ``=`` in its name."""
    from sciextract.text.quantities import check_unit

    label, _, unit = words.rpartition("=")
    if not label:
        return words, ""
    check_unit(unit)
    return label, unit


def _of_files(job: TableJob, options: TableOptions, screen: Screen) -> TableReport:
    from sciextract.formats import read
    from sciextract.formats.base import BadRecord
    from sciextract.formats.inputs import expand_inputs
    from sciextract.table.papers import PaperFacts, paper_of_file
    from sciextract.workflows.output import local_inputs

    if options.project or options.queue or options.keys:
        problem = "files and --project, --queue or --keys cannot be combined"
        raise UsageError(problem, "a table is of files or of a project")
    inputs, bad = expand_inputs(options.inputs or []), 0

    def papers() -> Iterator[PaperFacts]:
        nonlocal bad
        for number, item in enumerate(read(inputs, options.input_format), start=1):
            if isinstance(item, BadRecord):
                bad += 1
                screen.say("Bad record", item.error.message, item.error.hint)
            else:
                yield paper_of_file(item, job.wanted)
            screen.line.update(number)

    job.check([Path(name) for name in local_inputs(inputs)])
    made = job.write(papers(), ((), (), ()), Path(inputs[0]).stem)
    made.bad = bad
    return made


def _describe(made: TableReport) -> str:
    place = made.output or "standard output"
    words = f"{counted(made.rows, 'row')} of {counted(made.papers, 'abstract')} to {place}; {made.describe()}"
    if made.left_out:
        words += " (--undecided includes them)"
    if made.cut:
        words += f"; {counted(made.cut, 'cell')} cut at the 32,767 characters that Excel holds (--to csv has them whole)"
    return words
