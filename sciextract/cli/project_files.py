"""``sciextract init``, ``import`` and ``export``: what goes into a project file and out of it; ``convert`` without one."""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import typer

from sciextract.cli.console import (
    AuthorOption,
    ForceOption,
    InputFormatOption,
    JsonOption,
    ProjectOption,
    QuietOption,
    StrictOption,
    argument,
    flag,
    is_terminal,
    open_chosen_project,
    option,
    output_formats,
    report,
    say,
    warn_of_network,
)
from sciextract.cli.finishing import BY, KEYS, QUEUE, SINCE, selection
from sciextract.errors import as_command
from sciextract.text.characters import visible
from sciextract.text.english import counted

if TYPE_CHECKING:
    from sciextract.workflows.convert import ConvertReport
    from sciextract.workflows.export_project import ExportReport
    from sciextract.workflows.import_files import ImportReport


def init(
    project: str = argument("DB", "The project file to create."),
    schema: str = option(
        "NAME|FILE", "Label schema: a bundled name or a TOML file.", default="scierc"
    ),
    author: AuthorOption = None,
    as_json: JsonOption = False,
) -> None:
    """Create a project: one SQLite file with abstracts, predictions and corrections.

    Example:

        sciextract init genes.sciextract --schema genia
    """
    from sciextract.documents.schema_file import load_schema
    from sciextract.store import create_project

    with create_project(project, load_schema(schema), author) as made:
        summary = {"project": str(made.path), "schema": made.schema.name}
    words = f"{project} is ready (labels: {summary['schema']}); next: " + as_command(
        "sciextract", "import", "FILES", "--project", project
    )
    warn_of_network(made.path)
    report(summary, words, as_json)


def import_(
    paths: list[str] = argument("PATH...", "Files, folders, zip archives, or - for a pipe."),
    project: ProjectOption = None,
    input_format: InputFormatOption = None,
    add_labels: bool = flag("Add labels that the project's schema lacks.", "--add-labels"),
    done: str = option(
        "LAYERS",
        "Layers fully annotated in the files: entities,relations,coreference or all; training takes everything"
        " else in them as negative.",
        default="",
    ),
    fields: Literal["gold", "predicted"] | None = typer.Option(
        None,
        help="What to import from records with both (default: gold); predictions become undecided items.",
    ),
    keep_duplicates: bool = flag(
        "Import further texts of papers that the project has.", "--keep-duplicates"
    ),
    update: bool = flag(
        "Take changed texts; decisions move along, those about changed words become undecided.",
        "--update",
    ),
    again: bool = flag("Bring back abstracts that were removed.", "--again"),
    annotator: str | None = option(
        "NAME",
        "Keep the files' annotations of known abstracts as those of another annotator.",
        "--as",
    ),
    apply: bool = flag("Where files and decisions here differ, take the files' side.", "--apply"),
    author: AuthorOption = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Import abstracts, and any annotations they have, into a project.

    Texts and papers (by DOI, PubMed id, or title with year and first author) that the project has are not duplicated;
    new annotations are added. What was decided here changes only with --apply or --update. One undo takes an import
    back.

    Examples:

        sciextract import library.ris refs.bib --project parsing.sciextract

        sciextract import corpus/ --from brat --add-labels --done all
    """
    from sciextract.cli.annotate_screen import ImportScreen
    from sciextract.workflows.import_files import import_files, read_layers

    shown = not quiet and is_terminal(sys.stderr)
    with open_chosen_project(project, author) as opened:
        if not quiet:
            warn_of_network(opened.path)
        with ImportScreen(shown) as screen:
            imported = import_files(
                opened, paths, input_format, add_labels=add_labels, listener=screen.listener(),
                done=read_layers(done), fields=fields, keep_duplicates=keep_duplicates,
                update=update, again=again, annotator=annotator, apply=apply,
            )  # fmt: skip
    report(imported.to_json(), _describe_import(imported), as_json, quiet=quiet)
    raise typer.Exit(imported.exit_code)


def export(
    export_format: str | None = option(
        "F",
        "Format to write, such as jsonl; with --release, the second one (default: brat).",
        "--to",
        autocompletion=output_formats,
    ),
    project: ProjectOption = None,
    output: str | None = option("PATH", "File or folder (default: standard output)."),
    strict: StrictOption = False,
    undecided: bool = flag("Include undecided items.", "--undecided"),
    source: str | None = option(
        "S", "Instead of the current annotations: those of a source, such as model:sci."
    ),
    with_base: str | None = option(
        "FILE",
        "Write a training set: this gold and your finished abstracts, without those held out.",
    ),
    predicted: bool = flag(
        "With scierc: add the latest predictions (or those of --source) as predicted_ner...",
        "--predicted",
    ),
    everything: bool = flag("Unfinished abstracts in training formats, too.", "--all"),
    former: bool = flag(
        "Instead: removed abstracts and earlier texts, with their last annotations.", "--former"
    ),
    queue: str | None = QUEUE,
    keys: Path | None = KEYS,
    since: str | None = SINCE,
    author: str | None = BY,
    without_untouched: bool = flag(
        "Leave out abstracts that nobody has begun, where the format would show them as empty.",
        "--without-untouched",
    ),
    release: str | None = option("FOLDER", "Export a citable corpus (docs/release.md)."),
    licence: str | None = option(
        "NAME", "Licence of releases, such as CC-BY-4.0; kept in the project."
    ),
    citation: str | None = option("WORDS", "How to cite releases; kept in the project."),
    no_text: bool = flag("Leave the texts out of a release: offsets and hashes only.", "--no-text"),
    force: ForceOption = False,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Export the project's imported, accepted, edited and added items.

    Training formats (conll, docbin, parquet, scierc) get finished abstracts only: those with a done layer, or imported
    with annotations, in which nothing waits for a decision. What the format cannot represent is counted and reported.
    The whole output is written, or nothing.

    Examples:

        sciextract export --to brat --output corpus

        sciextract export --release corpus --licence CC-BY-4.0
    """
    from sciextract.errors import UsageError
    from sciextract.workflows.export_project import ExportJob

    if release is not None:
        chooses = queue or keys or since or author or without_untouched
        other = output or undecided or source or with_base or predicted or chooses
        if other or (no_text and export_format):
            problem = "--release writes the current annotations of all finished abstracts, to a folder of its own"
            hint = "leave out --output, --undecided, --source, --with-base, --predicted and choices of abstracts; --to goes with texts"
            raise UsageError(problem, hint)
        second, switches = export_format or "brat", (not no_text, everything, strict, force)
        made = _release(project, (Path(release), second, *switches), licence, citation)
        report(asdict(made), _describe_export(made), as_json, quiet=quiet)
        raise typer.Exit(made.exit_code)
    if export_format is None or licence or citation or no_text:
        problem = "no format is named, or --licence, --citation or --no-text without --release"
        raise UsageError(problem, "--to jsonl, for instance; or --release FOLDER")
    chosen = selection(queue, keys, since, author)
    job = ExportJob(
        export_format, output, strict, undecided, source, force, with_base, predicted, everything,
        former, chosen, without_untouched,
    )  # fmt: skip
    # Read only: an export must work on a project that somebody else is writing.
    with open_chosen_project(project, read=True) as opened:
        done = job.run(opened)
    aside = output in (None, "-")
    report(asdict(done), _describe_export(done), as_json, aside=aside, quiet=quiet)
    raise typer.Exit(done.exit_code)


def _release(
    project: str | None, how: tuple[Any, ...], licence: str | None, citation: str | None
) -> ExportReport:
    """A release under the terms of the last one, or those that are named or asked for now."""
    from sciextract.errors import ProjectError
    from sciextract.store import open_project
    from sciextract.store.project_settings import ReleaseTerms, read_terms, save_terms
    from sciextract.workflows.release.job import ReleaseJob

    with open_chosen_project(project, read=True) as opened:
        kept = read_terms(opened)
        licence, citation = licence or kept.licence, citation or kept.citation
        if not licence and is_terminal(sys.stdin):
            licence = typer.prompt("Licence, such as CC-BY-4.0", err=True)
            citation = citation or typer.prompt("How to cite it", "", show_default=False, err=True)
        terms = ReleaseTerms(visible(licence.strip()), visible(citation.strip(), "\n\t"))
        made = ReleaseJob(terms, *how).run(opened)
    if terms != kept and made.documents:
        try:
            with open_project(opened.path) as opened:
                save_terms(opened, terms)
        except ProjectError as error:
            say("Warning", f"licence and citation are not kept: {error.message}", error.hint)
    return made


def _describe_import(done: ImportReport) -> str:
    counts = done.counts
    parts = [f"{counted(counts.documents, 'new abstract')}"]
    if counts.known:
        parts.append(f"{counts.known:,} known already")
    parts += [*done.papers, *done.versions]
    if counts.items:
        parts.append(counted(counts.items, "annotation"))
    if done.added_labels:
        parts.append(f"labels added: {', '.join(done.added_labels)}")
    if counts.flagged:
        parts.append(f"{counts.flagged:,} flagged because they break a rule of the schema")
    if counts.kept:
        parts.append(
            f"{counted(counts.kept, 'abstract')} worked on here: finished layers, rejections and notes of the file left out"
            " (sciextract merge compares projects)"
        )
    if counts.against_decisions:
        parts.append(f"{counts.against_decisions:,} annotations stay rejected, as you decided")
    if done.bad:
        parts.append(f"{counted(done.bad, 'bad record')} left out")
    return f"{'; '.join(parts)}; {done.seconds:.1f} s"


def _describe_export(done: ExportReport) -> str:
    left_out = ""
    if done.documents and done.undecided:
        items = counted(done.undecided, "undecided item")
        left_out += f"; left out: {items} (--undecided includes them)"
    if done.documents and done.unfinished:
        abstracts = counted(done.unfinished, "unfinished abstract")
        left_out += f"; left out: {abstracts} (--all writes them)"
    if done.documents and done.uncovered:
        abstracts = counted(done.uncovered, "abstract")
        left_out += f"; left out: {abstracts} finished before a type came (--all writes them)"
    if done.documents and done.untouched:
        untouched = counted(done.untouched, "abstract")
        left_out += f"; {untouched} that nobody has begun read as having nothing in them (--without-untouched leaves them out)"
    if done.documents and done.from_base:
        left_out += f"; {done.from_base:,} of them from the base"
    for reason, count in done.left_out.items():
        left_out += f"; left out, {reason}: {count:,}"
    return _describe_output(done, left_out)


def _describe_output(done: ExportReport | ConvertReport, left_out: str = "") -> str:
    if done.strict and done.losses:
        words = f"nothing written: {done.format} would lose information, and --strict is set"
    elif done.bad and not done.documents:
        words = "nothing written: no record could be read"
    else:
        place = done.output or "standard output"
        words = f"{counted(done.documents, 'abstract')} to {place} as {done.format}"
    words += left_out
    if done.bad:
        words += f"; {counted(done.bad, 'bad record')} left out"
    for kind, count in done.losses.items():
        words += f"; {done.format} cannot hold {kind}: {count}"
    return words


def convert(
    inputs: list[str] = argument("IN...", "Files, folders, zip archives, or - for a pipe."),
    to: str = option(
        "F", "Format to write, e.g. brat.", "--to", autocompletion=output_formats, default=...
    ),
    output: str | None = option("PATH", "File or folder (default: standard output)."),
    input_format: InputFormatOption = None,
    rename: list[str] | None = option("OLD=NEW,...", "Rename labels; repeatable."),
    texts: str | None = option("FILE", "Texts for a release made with --no-text."),
    strict: StrictOption = False,
    force: ForceOption = False,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Convert annotated abstracts from one format into another, without a project.

    What the format cannot represent is counted and reported. With --output or --strict, the whole result is written, or
    nothing.

    Examples:

        sciextract convert corpus/ --to scierc --output corpus.jsonl

        cat export.jsonl | sciextract convert - --from doccano --to jsonl
    """
    from sciextract.cli.annotate_screen import ImportScreen
    from sciextract.workflows.convert import ConvertJob, parse_renames

    aside = output in (None, "-")
    drawn = not quiet and is_terminal(sys.stderr) and not (aside and is_terminal(sys.stdout))
    names = parse_renames(",".join(rename or ()))
    job = ConvertJob(inputs, to, input_format, output, names, strict, force, texts)
    with ImportScreen(drawn, "--to jsonl writes them all, as `warnings`") as screen:
        done = job.run(screen.listener())
    for label in (label for label, count in done.renamed.items() if not count):
        say("Warning", f"--rename: nothing has the label {label!r}")
    report(done.to_json(), _describe_output(done), as_json, aside=aside, quiet=quiet)
    raise typer.Exit(done.exit_code)
