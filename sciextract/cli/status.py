"""``sciextract status``, ``search`` and ``stats``: what is in a project, and how the work goes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from math import fsum
from typing import TYPE_CHECKING, Literal

import typer

from sciextract.cli.console import (
    JsonOption,
    ProjectOption,
    argument,
    flag,
    open_chosen_project,
    option,
    print_report,
    print_row,
    warn_of_network,
)
from sciextract.errors import as_command
from sciextract.text.characters import visible
from sciextract.text.english import counted

if TYPE_CHECKING:
    from sciextract.store.statistics import Stats, Status
    from sciextract.workflows.learning_curve import LearningCurve


def status(project: ProjectOption = None, as_json: JsonOption = False) -> None:
    """Show the progress of a project."""
    from sciextract.store.statistics import status_of

    with open_chosen_project(project, read=True) as opened:
        current = status_of(opened)
    print_report(current, _status_lines(current), as_json)
    if not as_json:
        warn_of_network(opened.path)


def search(
    words: list[str] | None = argument(
        "[WORDS...]",
        'Words that must all occur; "a phrase" in quotes; a prefix as begin*.',
        default=None,
    ),
    project: ProjectOption = None,
    place: Literal["text", "title", "mentions", "notes"] = typer.Option(
        "text", "--in", help="Where to search."
    ),
    label: str | None = option("L", "Only abstracts with this entity or relation type."),
    state: Literal["undecided", "accepted", "rejected", "edited", "added", "imported"]
    | None = typer.Option(None, help="Only abstracts with items in this state (of --label)."),
    score_below: float | None = option(
        "P", "Only abstracts with an undecided item below this score.", min=0, max=1
    ),
    disagreement: bool = flag("Only abstracts on which sources differ.", "--disagreement"),
    flagged: bool = flag("Only flagged abstracts.", "--flagged"),
    limit: int = option("N", "Maximum number of rows.", min=1, default=20),
    as_json: JsonOption = False,
) -> None:
    """Find abstracts by words, mentions, labels, states, scores or disagreement.

    Each row shows number, key and title of an abstract, and the words found in [square brackets].

    Examples:

        sciextract search coreference '"neural network"'

        sciextract search parser --in mentions --label Method --state undecided
    """
    from dataclasses import asdict

    from sciextract.errors import ExitCode
    from sciextract.store.search import Query, find

    query = Query(" ".join(words or []), place, label, state, score_below, disagreement, flagged)
    with open_chosen_project(project, read=True) as opened:
        hits = find(opened.connection, query, limit)
    # On standard error, so that rows can be cut and sorted as they are.
    if hits and not as_json:
        typer.echo(f"{'number':>7}  key  title", err=True)
    for hit in hits:
        year = f" ({hit.year})" if hit.year else ""
        line = f"{hit.number:>7}  {hit.doc_key}  {hit.title[:90]}{year}"
        line += f"  {hit.undecided} undecided" if hit.undecided else ""
        print_row(asdict(hit), line, as_json)
        if hit.excerpt and not as_json:
            typer.echo(visible(f"         {hit.excerpt}"))
    if not hits:
        typer.echo("nothing found", err=True)
        raise typer.Exit(ExitCode.FAILED)


def _status_lines(current: Status) -> Iterator[str]:
    yield f"{current.project}: {counted(current.documents, 'abstract')}, labels {current.schema}"
    yield (
        f"items: {current.undecided:,} undecided, {current.decided:,} decided, "
        f"{current.imported:,} imported"
    )
    for layer, counts in current.completeness.items():
        words = ", ".join(f"{count:,} {word}" for word, count in counts.items() if count)
        yield f"{layer}: {words or 'nothing'}"
    for label, count in current.missing.items():
        go_over = as_command("sciextract", "queue", "make", "--missing", label)
        yield f"{counted(count, 'abstract')} finished before {label} came: {go_over}"
    yield from (f"source: {name}" for name in current.sources)
    if current.flagged:
        yield f"{counted(current.flagged, 'abstract')} flagged"
    if current.newest_backup:
        yield f"newest backup: {current.newest_backup}"


def stats(
    project: ProjectOption = None,
    learning: bool = flag(
        "Show how good predictions were before correction, with the adapter and without it.",
        "--learning",
    ),
    by: Literal["author"] | None = typer.Option(
        None, help="Show who made the decisions that hold."
    ),
    as_json: JsonOption = False,
) -> None:
    """Show how well you accepted the model's predictions: rates, calibration, time."""
    with open_chosen_project(project, read=True) as opened:
        if learning:
            from sciextract.workflows.learning_curve import learning_curve

            curve = learning_curve(opened)
            print_report(curve, _learning_lines(curve), as_json)
            return
        from sciextract.store.events import local_time
        from sciextract.store.statistics import decisions_by_author, stats_of

        if by is not None:
            for row in decisions_by_author(opened.connection):
                states = (
                    f"{getattr(row, state):,} {state}"
                    for state in ("accepted", "edited", "added", "rejected")
                )
                line = f"{row.author}: {', '.join(states)} in {counted(row.abstracts, 'abstract')}, {local_time(row.first)[:10]} to {local_time(row.last)[:10]}"
                print_row(asdict(row), line, as_json)
            return
        statistics = stats_of(opened)
    print_report(statistics, _stats_lines(statistics), as_json)


# Finished abstracts after which the running score is printed; the last one is, too.
_SHOWN_AFTER = (1, 2, 3, 5, 10, 20, 50, 100, 200, 500)


def _learning_lines(curve: LearningCurve) -> Iterator[str]:
    from sciextract.workflows.learning_curve import sure_words

    points = curve.abstracts
    if not points:
        yield "no abstract is finished yet at the desk, where D marks it as done; imported ones do not count"
        return
    yield (
        f"{counted(len(points), 'finished abstract')}; an adapter had suggestions for "
        f"{curve.with_adapter:,} before you touched them"
    )
    yield f"F1 on the latest {curve.window} finished abstracts, as predicted before you corrected them:"
    yield f"{'':<12} {'abstracts':>9} {'shown':>7}   {'abstracts':>9} {'adapter':>7} {'without':>7}"
    used = [(layer, scores) for layer, scores in curve.layers.items() if scores.items]
    for layer, measured in used:
        last = len(measured.shown)
        for after in sorted({*(point for point in _SHOWN_AFTER if point < last), last} - {0}):
            line = f"{layer:<12} {after:>9,} {measured.shown[after - 1]:>7.1f}"
            if after <= len(measured.adapter):
                with_it, without = measured.adapter[after - 1], measured.other[after - 1]
                line += f"   {after:>9,} {with_it:>7.1f} {without:>7.1f}"
            yield line
    for layer, measured in used:
        yield f"{layer}: the adapter is {'on' if measured.use.on else 'off'} ({measured.use.reason})"
        for change in measured.use.switches:
            yield f"  {'on' if change.on else 'off'} after abstract {change.after}: {change.reason}"
    yield from sure_words(curve.sure)
    moved = [point.travel for point in points if point.travel is not None]
    recorded = (
        f" (recorded in {len(moved):,} of {len(points):,})" if len(moved) < len(points) else ""
    )
    yield f"keys to decide, per abstract: {_means([point.keys for point in points])}"
    yield f"keys to move, per abstract: {_means([point.travel for point in points])}{recorded}"
    both = [point for point in points if point.keys_adapter is not None]
    if both:
        yield (
            f"decision keys to correct what was suggested: {_mean(point.keys_adapter for point in both)} with the "
            f"adapter, {_mean(point.keys_other for point in both)} without it (estimated)"
        )
    yield f"seconds an abstract: {_means([point.seconds for point in points])}"


def _means(values: Sequence[float | None]) -> str:
    """The mean of all abstracts, and of the last ones."""
    latest = values[-10:]
    return f"{_mean(values)}; latest {len(latest)}: {_mean(latest)}"


def _mean(values: Iterable[float | None]) -> str:
    known = [value for value in values if value is not None]
    return f"{fsum(known) / len(known):.1f}" if known else "unknown"


def _stats_lines(statistics: Stats) -> Iterator[str]:
    yield f"{'model items':<34} accepted   edited rejected undecided    added  acceptance"
    for row in statistics.labels:
        share = "" if row.acceptance is None else f"{row.acceptance:11.0%}"
        name = f"{row.kind} {row.label}"
        yield (
            f"{name:<34} {row.accepted:8,} {row.edited:8,} {row.rejected:8,} {row.undecided:9,} "
            f"{row.added:8,} {share}"
        )
    yield f"edits: {', '.join(f'{kind} {count:,}' for kind, count in statistics.edits.items()) or 'none'}"
    if statistics.calibration_error is None:
        yield "calibration: no decisions on the model's items yet"
    else:
        yield f"calibration (expected calibration error {statistics.calibration_error:.3f}):"
        for bucket in statistics.reliability:
            if bucket.count and bucket.mean_score is not None and bucket.accepted is not None:
                yield (
                    f"  score {bucket.low:.1f} to {bucket.high:.1f}: {bucket.count:6,} decided, "
                    f"claimed {bucket.mean_score:.2f}, accepted {bucket.accepted:.2f}"
                )
    if statistics.seconds_per_abstract is not None:
        yield f"time: {statistics.seconds_per_abstract:.1f} s an abstract ({statistics.timed_abstracts:,} timed)"
    for day, count in statistics.done_by_day.items():
        yield f"done on {day} (UTC): {count:,}"
    for author, count in statistics.actions_by_author.items():
        yield f"{author}: {count:,} actions"
