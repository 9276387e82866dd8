"""``sciextract suggest``: undecided annotations before anything is corrected, without a model of the labels."""

from __future__ import annotations

import sys
from pathlib import Path

import typer

from sciextract.cli.console import (
    AuthorOption,
    JsonOption,
    ProgressLine,
    ProjectOption,
    QuietOption,
    argument,
    flag,
    input_formats,
    is_terminal,
    open_chosen_project,
    option,
    report,
    say,
)
from sciextract.errors import ExitCode, UsageError, as_command
from sciextract.text.english import counted

# Remarks that are printed one by one.
_LISTED = 20


def suggest(
    paths: list[str] | None = argument(
        "[FILE...]",
        "Annotations in any format; all become undecided.",
        show_default=False,
        default=None,
    ),
    project: ProjectOption = None,
    terms: list[Path] | None = option("FILE", "CSV or TSV file with a term and its label per row."),
    patterns: list[Path] | None = option(
        "FILE", "JSON Lines file of token and phrase patterns (spaCy EntityRuler, Prodigy)."
    ),
    labels: list[str] | None = option(
        "OLD=NEW,...",
        "Labels of a model or of quotes, and what they become here; repeatable.",
        "--map",
    ),
    spans: bool = flag("Add the mentions of a model without their labels.", "--spans"),
    model: str | None = option("NAME|DIR", "The model of --map and --spans (default: sci)."),
    named: str | None = option(
        "F",
        "Format of FILE (default: recognised by its content), or quotes, langextract, gliner.",
        "--from",
        autocompletion=input_formats,
    ),
    keys: str = option(
        "THING=KEY,...",
        "Where quotes have text, document, entities, quote, label, ... (docs/quotes.md).",
        default="",
    ),
    every: bool = flag("Suggest a quote wherever it occurs, not in sequence.", "--every"),
    author: AuthorOption = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Suggest annotations from terms, patterns, another model or a file.

    Suggestions are undecided and record their source; one undo takes back all of a command. What the project has
    already is not suggested again, and nothing in abstracts whose entities are done.

    Examples:

        sciextract suggest --terms glossary.csv

        sciextract suggest --map "Method=Technique,Material=Substance"
    """
    from sciextract.formats.registry import get_format
    from sciextract.workflows.quotes import QUOTE_FORMATS, parse_keys, suggest_quotes
    from sciextract.workflows.suggest import Sources, suggest_by, suggest_from

    quotes, names = QUOTE_FORMATS.get(named or ""), ",".join(labels or ())
    sources = Sources(terms or (), patterns or (), "" if quotes else names, spans, model)
    if bool(paths) == bool(sources):
        other = "FILE cannot be combined with other sources"
        problem = other if paths else "no source of suggestions is given"
        raise UsageError(problem, "give FILE, or any of --terms, --patterns, --map, --spans")
    allowed = ", ".join(QUOTE_FORMATS)
    if quotes is None and (keys or every):
        raise UsageError("--keys and --every are for quotes", f"name --from: one of {allowed}")
    if quotes is None and named:
        try:
            get_format(named)
        except UsageError as error:
            raise UsageError(error.message, f"{error.hint}; for quotes: {allowed}") from None
    with open_chosen_project(project, author) as opened:
        if paths and quotes:
            done = suggest_quotes(opened, paths, parse_keys(keys, quotes), names, every=every)
        elif paths:
            done = suggest_from(opened, paths, named)
        else:
            # A file needs no line: reading it takes moments, a model minutes.
            with ProgressLine(shown=not quiet and is_terminal(sys.stderr)) as line:
                done = suggest_by(opened, sources, line.update)
        path = opened.path
    notes = [*done.notes, *done.missing]
    for note in notes[:_LISTED]:
        say("Warning", note)
    if len(notes) > _LISTED:
        say("Warning", f"{len(notes) - _LISTED:,} more; --json lists all")
    total = counted(sum(done.items.values()), "suggestion")
    words = f"{total} in {counted(done.documents, 'abstract')}"
    by_source = ", ".join(f"{source} {count:,}" for source, count in sorted(done.items.items()))
    words += f" ({by_source})" if by_source else ""
    if done.located or done.missing:
        fits = ", ".join(f"{count:,} {fit}" for fit, count in sorted(done.located.items()))
        words += f"; quotes located: {fits or 'none'}; not located: {len(done.missing):,}"
    if done.skipped:
        words += f"; {counted(done.skipped, 'abstract')} with done entities left out"
    words += f"; next: {as_command('sciextract', 'tui', path)}"
    report(done.to_json(), words, as_json, quiet=quiet)
    raise typer.Exit(ExitCode.PARTIAL if done.bad else ExitCode.DONE)
