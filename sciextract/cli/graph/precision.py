"""``sciextract graph precision``: what the judgements of a sample say."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sciextract.cli.console import say
from sciextract.cli.graph.group import JsonLines, nothing, show, show_json
from sciextract.cli.words import counted

if TYPE_CHECKING:
    from sciextract.graph.checking.precision import Precision


def precision(
    sheet: Annotated[
        Path,
        typer.Argument(
            metavar="FILE.csv", help="What graph sample wrote, filled in.", show_default=False
        ),
    ],
    as_json: JsonLines = False,
) -> None:
    """Count the judgements of a sheet from graph sample: precision by relation, with its 95 % interval (Wilson).

    Example:

        sciextract graph precision check.csv
    """
    from sciextract.graph.checking.precision import precisions
    from sciextract.graph.checking.sheet import read_sheet

    judgements = read_sheet(sheet)
    found = precisions(judgements)
    if not found:
        raise nothing('nothing is judged yet: write yes or no into the column "correct"')
    if as_json:
        show_json(each.to_json() for each in found)
    else:
        show(_lines(found))
    rest = len(judgements) - found[0].judged
    if rest:
        say("", f"{counted(rest, 'edge')} not judged")


def _lines(found: list[Precision]) -> Iterator[str]:
    yield f"{'precision':>9}  {'95 % interval':>15}  {'correct':>7} {'judged':>7}  relation"
    for each in found:
        interval = f"{100 * each.low:.1f} - {100 * each.high:.1f}"
        share = f"{100 * each.share:.1f} %"
        yield f"{share:>9}  {interval:>15}  {each.correct:7,} {each.judged:7,}  {each.relation}"
