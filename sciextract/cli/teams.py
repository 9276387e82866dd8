"""``sciextract merge``, ``agree`` and ``adjudicate``: annotators without a server."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal

import typer

from sciextract.cli.console import (
    AuthorOption,
    JsonOption,
    ProjectOption,
    QuietOption,
    argument,
    flag,
    open_chosen_project,
    option,
    print_report,
    print_row,
    report,
)
from sciextract.text.english import counted

if TYPE_CHECKING:
    from sciextract.workflows.agreement import Agreed


def divide(
    project: str = argument("PROJECT", "The project; it stays as it is."),
    names: list[str] = argument("NAME...", "The people; the copies have their names."),
    overlap: str = option("SHARE", "Share of the abstracts that all get.", default="0%"),
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Copy a project for several people, each with a queue of abstracts of their own.

    The files NAME.sciextract lie beside the project; each has the queue NAME, and with --overlap the queue shared.
    Abstracts with a finished layer are in no queue. merge brings the work together.

    Example:

        sciextract divide parsing.sciextract anna ben --overlap 20%
    """
    import sys
    from dataclasses import asdict

    from sciextract.cli.console import ProgressLine, is_terminal
    from sciextract.workflows.divide import divide as divide_project

    share = _read_share(overlap)
    with (
        open_chosen_project(project, read=True) as opened,
        ProgressLine(not quiet and is_terminal(sys.stderr)) as line,
    ):
        copies = divide_project(opened, names, share, line.update)
    parts = (
        f"{copy.project}: {counted(copy.own, 'abstract')} of its own, {copy.shared:,} shared"
        for copy in copies
    )
    report({"copies": [asdict(copy) for copy in copies]}, "; ".join(parts), as_json, quiet=quiet)


def _read_share(text: str) -> float:
    from sciextract.errors import UsageError

    try:
        share = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    except ValueError:
        share = -1
    if not 0 <= share <= 1:
        raise UsageError(
            f"--overlap {text}: not a share", "0% to 100%, or 0 to 1, such as 20% or 0.2"
        )
    return share


def merge(
    other: str = argument("OTHER.db", "The project to merge."),
    project: ProjectOption = None,
    add_labels: bool = flag("Add labels that this project's schema lacks.", "--add-labels"),
    author: AuthorOption = None,
    as_json: JsonOption = False,
) -> None:
    """Merge another annotator's project into this one, text by text.

    What only the other one has finished or decided is taken over, with its author. Where both have looked, nothing
    changes: resolve the differences with adjudicate. To merge the same file again changes nothing; undo takes the whole
    merge back.

    Example:

        sciextract merge maria.sciextract --project parsing.sciextract
    """
    from pathlib import Path

    from sciextract.workflows.divide import merge_projects
    from sciextract.workflows.import_files import decisions_in_words

    with open_chosen_project(project, author) as opened:
        done = merge_projects(opened, Path(other), add_labels=add_labels)
    counts = done.counts
    words = (
        f"{counted(counts.documents, 'new abstract')}; {counts.taken:,} taken over; "
        f"{counts.compared:,} worked on by both, {counted(done.disagreements, 'difference')} to decide"
    )
    if counts.removed:
        words += f"; {counts.removed:,} left out that were removed here"
    if counts.returned:
        words += f"; {counts.returned:,} of the new ones removed here with another text: sciextract remove takes them out again"
    if counts.joined:
        words += f"; {counts.joined:,} with another text here, which stays: {decisions_in_words(counts.moved)}"
    if done.queues:
        words += f"; queues: {', '.join(done.queues)}"
    report(done.to_json(), words, as_json)


def agree(
    projects: list[str] = argument("PROJECT...", "The projects of two annotators or more."),
    as_json: JsonOption = False,
) -> None:
    """Measure how far annotators agree, in what they all have finished.

    What one project has only from another one, by merging, is left out.

    Example:

        sciextract agree anna.sciextract ben.sciextract
    """
    from contextlib import ExitStack

    from sciextract.errors import UsageError
    from sciextract.store import open_project
    from sciextract.workflows.agreement import agree as compare

    if len(projects) == 1:
        raise UsageError("one project agrees with itself", "name those of two annotators or more")
    with ExitStack() as stack:
        opened = [stack.enter_context(open_project(path, read=True)) for path in projects]
        agreement = compare(opened)
    print_report(agreement, agreement_lines(agreement), as_json)


def adjudicate(
    project: ProjectOption = None,
    source: str | None = option(
        "S", "Compare the project with this source (default: all merged projects)."
    ),
    take: Literal["mine", "theirs", "majority"] | None = typer.Option(
        None,
        help="Resolve --key, or all that are listed, for one side, or for that of most annotators.",
    ),
    key: list[str] | None = option("K", "Only this difference; repeatable."),
    author: AuthorOption = None,
    as_json: JsonOption = False,
) -> None:
    """List the differences between sources, and resolve them.

    Examples:

        sciextract adjudicate --key 1f0c2a9b77d4 --take theirs

        sciextract adjudicate --take majority
    """
    from sciextract.errors import ExitCode, UsageError
    from sciextract.workflows import adjudicate as work

    with open_chosen_project(project, author, read=take is None) as opened:
        differences = [case for case in work.disputes(opened, source) if not key or case.key in key]
        if unknown := sorted(set(key or ()) - {difference.key for difference in differences}):
            raise UsageError(
                f"no difference has the key {', '.join(unknown)}",
                "sciextract adjudicate lists them",
            )
        done = work.AdjudicationResult()
        left = len(differences)
        if take is not None:
            only_these = bool(key or (source and take == "majority"))
            done = work.decide_all(opened, differences, take, only_these=only_these)
            left = sum(not key or dispute.key in key for dispute in work.disputes(opened, source))
        else:
            for difference in differences:
                words = difference.in_words(opened.document_state(difference.number).text)
                source = difference.source.removeprefix("import:")
                line = f"{difference.key}  {difference.difference.doc_key}  {difference.difference.item}  {source}  {words}"
                print_row(difference.to_json(), line, as_json)
    words = f"{counted(len(differences), 'difference')} to decide"
    if take is not None:
        words = f"{counted(done.decided, 'difference')} decided: {take}"
        words += f"; {left:,} left" if take == "majority" and left else ""
        words += "".join(f"; {key} is not decided: {why}" for key, why in done.refused.items())
    summary = {"differences": len(differences), "decided": done.decided, "left": left}
    report({**summary, "refused": done.refused}, words, as_json, aside=take is None)
    if done.refused:
        raise typer.Exit(ExitCode.PARTIAL if done.decided else ExitCode.FAILED)


def agreement_lines(agreement: Agreed) -> Iterator[str]:
    """One line a figure: its name, its value, its 95 % interval; of more than two projects one line a pair."""
    from sciextract.metrics.report import figure_lines

    for pair in agreement.pairs:
        documents = pair.report.documents if pair.report else 0
        line = f"{counted(documents, 'abstract')} compared; {pair.only_first} only in the first, {pair.only_second} only in the second project"
        if len(agreement.pairs) > 1:
            line = f"{pair.first} and {pair.second}: {line}"
            if pair.report:
                exact, kappa = pair.report.spans.exact.f1, pair.report.tokens.all.kappa
                line += "" if exact is None else f"; spans exact f1 {exact:.1f}"
                line += "" if kappa is None else f"; tokens kappa {kappa:.2f}"
        yield line
    if len(agreement.pairs) == 1 and agreement.pairs[0].report:
        yield from agreement.pairs[0].report.lines()
    yield from figure_lines("tokens", agreement.to_json()["alpha"])
