"""``sciextract stats``: how the work goes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING

import typer

from sciextract.cli.options import JsonOption, ProjectOption

if TYPE_CHECKING:
    from sciextract.store.looking.stats import Stats


def stats(project: ProjectOption = None, as_json: JsonOption = False) -> None:
    """Tell how good the model's items were by your decisions: acceptance, edits, calibration, time.

    Examples:

        sciextract stats --project parsing.sciextract

        sciextract stats --json
    """
    from sciextract.store import open_project
    from sciextract.store.looking.stats import stats_of
    from sciextract.text.visible import visible
    from sciextract.workflows.project_choice import find_project

    with open_project(find_project(project), read=True) as opened:
        found = stats_of(opened)
    if as_json:
        typer.echo(json.dumps(found.to_json()))
        return
    for line in _lines(found):
        typer.echo(visible(line))


def _lines(found: Stats) -> Iterator[str]:
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
