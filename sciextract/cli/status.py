"""``sciextract status``, ``search`` and ``stats``: what is in a project, and how the work goes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from sciextract.cli.console import JsonOption, ProjectOption, counted, warn_of_network

if TYPE_CHECKING:
    from sciextract.store.statistics import Stats, Status


def status(project: ProjectOption = None, as_json: JsonOption = False) -> None:
    """Tell how far the work on a project is.

    Examples:

        sciextract status --project parsing.sciextract

        sciextract status --json
    """
    from sciextract.store import open_project
    from sciextract.store.statistics import status_of
    from sciextract.text.characters import visible
    from sciextract.workflows.project_choice import find_project

    with open_project(find_project(project), read=True) as opened:
        found = status_of(opened)
    if as_json:
        typer.echo(json.dumps(found.to_json()))
        return
    for line in _lines(found):
        typer.echo(visible(line))
    warn_of_network(opened.path)


def search(
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[WORDS...]", help='Words that all occur; "a phrase" in quotes; begin*.'
        ),
    ] = None,
    project: ProjectOption = None,
    place: Annotated[
        Literal["text", "title", "mentions"], typer.Option("--in", help="Where the words stand.")
    ] = "text",
    label: Annotated[
        str | None, typer.Option(metavar="L", help="Abstracts with this entity or relation type.")
    ] = None,
    state: Annotated[
        Literal["undecided", "accepted", "rejected", "edited", "added", "imported"] | None,
        typer.Option(help="Abstracts with items in this state (of --label, if given)."),
    ] = None,
    score_below: Annotated[
        float | None,
        typer.Option(metavar="P", min=0, max=1, help="With an undecided item that scores less."),
    ] = None,
    disagreement: Annotated[
        bool, typer.Option("--disagreement", help="Abstracts on which sources differ.")
    ] = False,
    flagged: Annotated[bool, typer.Option("--flagged", help="Abstracts with a flag.")] = False,
    limit: Annotated[int, typer.Option(metavar="N", min=1, help="At most so many.")] = 20,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a line.")] = False,
) -> None:
    """Find abstracts by words, mentions, labels, states, scores or disagreement.

    Examples:

        sciextract search coreference '"neural network"' --project parsing.sciextract

        sciextract search parser --in mentions --label Method --state undecided
    """
    from dataclasses import asdict

    from sciextract.errors import ExitCode
    from sciextract.store import open_project
    from sciextract.store.search import Query, find
    from sciextract.text.characters import visible
    from sciextract.workflows.project_choice import find_project

    query = Query(" ".join(words or []), place, label, state, score_below, disagreement, flagged)
    with open_project(find_project(project), read=True) as opened:
        hits = find(opened.connection, query, limit)
    for hit in hits:
        if as_json:
            typer.echo(json.dumps(asdict(hit)))
            continue
        year = f" ({hit.year})" if hit.year else ""
        line = f"{hit.number:>7}  {hit.doc_key}  {hit.title[:90]}{year}"
        typer.echo(visible(f"{line}  {hit.undecided} undecided" if hit.undecided else line))
        if hit.excerpt:
            typer.echo(visible(f"         {hit.excerpt}"))
    if not hits:
        typer.echo("nothing found", err=True)
        raise typer.Exit(ExitCode.FAILED)


def _lines(found: Status) -> list[str]:
    lines = [
        f"{found.project}: {counted(found.documents, 'abstract')}, labels {found.schema}",
        (
            f"items: {found.undecided:,} undecided, {found.decided:,} decided, "
            f"{found.imported:,} imported"
        ),
    ]
    for layer, counts in found.completeness.items():
        words = ", ".join(f"{count:,} {word}" for word, count in counts.items() if count)
        lines.append(f"{layer}: {words or 'nothing'}")
    lines += [f"source: {name}" for name in found.sources]
    if found.flagged:
        lines.append(f"{counted(found.flagged, 'abstract')} flagged")
    if found.newest_backup:
        lines.append(f"newest backup: {found.newest_backup}")
    if found.unclean:
        lines.append("a process did not close the project: sciextract doctor checks it")
    lines += [f"ALARM: fewer than at the last close: {drop}" for drop in found.alarms]
    return lines


def stats(project: ProjectOption = None, as_json: JsonOption = False) -> None:
    """Tell how good the model's items were by your decisions: acceptance, edits, calibration, time.

    Examples:

        sciextract stats --project parsing.sciextract

        sciextract stats --json
    """
    from sciextract.store import open_project
    from sciextract.store.statistics import stats_of
    from sciextract.text.characters import visible
    from sciextract.workflows.project_choice import find_project

    with open_project(find_project(project), read=True) as opened:
        found = stats_of(opened)
    if as_json:
        typer.echo(json.dumps(found.to_json()))
        return
    for line in _stats_lines(found):
        typer.echo(visible(line))


def _stats_lines(found: Stats) -> Iterator[str]:
    yield f"{'model items':<34} accepted   edited rejected undecided    added  acceptance"
    for row in found.labels:
        share = "" if row.acceptance is None else f"{row.acceptance:11.0%}"
        name = f"{row.kind} {row.label}"
        yield (
            f"{name:<34} {row.accepted:8,} {row.edited:8,} {row.rejected:8,} {row.undecided:9,} "
            f"{row.added:8,} {share}"
        )
    yield f"edits: {', '.join(f'{kind} {count:,}' for kind, count in found.edits.items()) or 'none'}"
    yield from _calibration(found)
    if found.seconds_per_abstract is not None:
        yield f"time: {found.seconds_per_abstract:.1f} s an abstract ({found.timed_abstracts:,} timed)"
    for day, count in found.done_by_day.items():
        yield f"done on {day}: {count:,}"
    for author, count in found.actions_by_author.items():
        yield f"{author}: {count:,} actions"


def _calibration(found: Stats) -> Iterator[str]:
    if found.calibration_error is None:
        yield "calibration: no decisions on the model's items yet"
        return
    yield f"calibration (expected calibration error {found.calibration_error:.3f}):"
    for each in found.reliability:
        if each.count and each.mean_score is not None and each.accepted is not None:
            yield (
                f"  score {each.low:.1f} to {each.high:.1f}: {each.count:6,} decided, "
                f"claimed {each.mean_score:.2f}, accepted {each.accepted:.2f}"
            )
