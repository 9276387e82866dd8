"""``sciextract graph trends``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from sciextract.cli.console import JsonLinesOption, flag, option, say
from sciextract.cli.graph.group import (
    AvoidFromOption,
    AvoidOption,
    GraphOption,
    LimitOption,
    WithGenericOption,
    avoided,
    nothing,
    show,
    show_json,
)
from sciextract.errors import UsageError

if TYPE_CHECKING:
    from sciextract.graph.queries.rankings import Pair
    from sciextract.graph.queries.trends import Period, Trend, Trends


def trends(
    question: Annotated[
        Literal["rising", "falling", "pairs"],
        typer.Argument(
            metavar="rising|falling|pairs",
            help="Nodes that rise, nodes that fall, or pairs of nodes.",
        ),
    ],
    graph: GraphOption,
    label: Annotated[
        list[str] | None,
        option(
            "TYPE",
            "Entity type of the nodes (default for rising and falling: Method); give it twice for pairs.",
            "--type",
        ),
    ] = None,
    relation: Annotated[
        str | None, option("TYPE", "For pairs: only relations of this type.")
    ] = None,
    since: Annotated[int | None, option("YEAR", "The first year.")] = None,
    until: Annotated[int | None, option("YEAR", "The last year.")] = None,
    least: Annotated[
        int | None,
        option(
            "N",
            "Only nodes that at least N abstracts of these years mention (default: 10), or pairs "
            "that N relate (default: 1).",
            min=1,
        ),
    ] = None,
    recent: Annotated[
        int | None,
        option("N", "Fit the slope to the last N years (default: 5).", min=2),
    ] = None,
    thin: Annotated[
        int | None,
        option("N", "Pool years with fewer than N abstracts (default: 30).", min=1),
    ] = None,
    avoid: AvoidOption = None,
    avoid_from: AvoidFromOption = None,
    with_generic: WithGenericOption = False,
    limit: LimitOption = 20,
    plot: Annotated[Path | None, option("FILE.svg", "Also plot the shares by year.")] = None,
    force: Annotated[bool, flag("Replace what is at --plot.", "--force")] = False,
    as_json: JsonLinesOption = False,
) -> None:
    """Show trends: rising nodes, falling nodes, most frequently related pairs.

    A trend is the slope of a node's share of abstracts over the last years, in percentage points per year; z is
    the slope in standard errors. Trends are ranked by the bound of the 95 % interval nearer to zero ("at
    least"). A node that is certainly below its peak does not count as rising. Years with few abstracts are
    pooled.

    Examples:

        sciextract graph trends rising --type Method --since 2015 --plot rising.svg --graph field.graph

        sciextract graph trends pairs --type Task --type Material --graph field.graph

        sciextract graph trends pairs --relation COMPARE --graph field.graph
    """  # fmt: skip
    from sciextract.graph.database import open_graph

    types = label or []
    if question == "pairs":
        only_years = {"--since": since, "--until": until, "--recent": recent, "--thin": thin}
        _refuse({**only_years, "--plot": plot}, types, most=2)
    else:
        _refuse({"--relation": relation}, types, most=1)
    with open_graph(graph) as connection:
        unwanted = avoided(connection, avoid, avoid_from)
        if question == "pairs":
            from sciextract.graph.queries.rankings import pairs

            first, second = (*types, None, None)[:2]
            found = pairs(
                connection, first=first, second=second, relation=relation,
                least=least or 1, avoid=unwanted, limit=limit,
            )  # fmt: skip
            lines, records = list(_pair_lines(found)), [each.to_json() for each in found]
        else:
            from sciextract.graph.queries.trends import RECENT, THIN, TrendQuestion
            from sciextract.graph.queries.trends import trends as trends_of

            answer = trends_of(
                connection,
                TrendQuestion(
                    question, types[0] if types else "Method", since, until,
                    recent or RECENT, thin or THIN, least or 10, unwanted, with_generic,
                ),
                limit,
            )  # fmt: skip
            lines = list(_trend_lines(answer))
            records = [each.to_json() for each in answer.found]
            _draw(answer.found, graph, plot, force=force)
    if not records:
        raise nothing("nothing found; change --least, --recent or the years to include more nodes")
    if as_json:
        show_json(records)
    else:
        show(lines)


def _draw(moving: Sequence[Trend], graph: Path, plot: Path | None, *, force: bool) -> None:
    if plot is None or not moving:
        return
    from sciextract.graph.pictures import draw_trends

    draw_trends(moving, graph, plot, force=force)
    say("", f"{plot} written")


def _refuse(given: dict[str, object], types: list[str], most: int) -> None:
    """Options that make no sense for the question.

    Raises:
        UsageError: One of them is given.
    """
    for name, value in given.items():
        if value is not None:
            raise UsageError(f"{name} is not available for this question", "leave it out")
    if len(types) > most:
        raise UsageError(f"--type is given {len(types)} times; at most {most} are possible", "")


def _trend_lines(answer: Trends) -> Iterator[str]:
    if not answer.found:
        return
    first = answer.found[0]
    yield (
        f"points a year since {first.recent[0].years} (z), at least; abstracts and shares "
        f"{first.periods[0].first}-{first.periods[-1].last} with 95 % intervals"
    )
    yield f"{'at least':>8} {'slope':>7} {'z':>6} {'abstracts':>9}  {'share ' + first.periods[-1].years:24} {'peak':30}  name"
    for each in answer.found:
        count = sum(period.documents for period in each.periods)
        peak = f"{each.peak.years}: {_share(each.peak)}"
        yield (
            f"{100 * each.certain:+8.2f} {100 * each.slope:+7.2f} {each.z:+6.1f} {count:9,}  "
            f"{_share(each.periods[-1]):24}  {peak:30}  {each.node.name}"
        )
    yield f"{answer.tested:,} nodes tested, of which about {answer.by_chance:.0f} pass by chance"


def _share(period: Period) -> str:
    low, high = period.interval
    return f"{100 * period.share:.1f} % ({100 * low:.1f}-{100 * high:.1f})"


def _pair_lines(found: list[Pair]) -> Iterator[str]:
    if not found:
        return
    yield f"{'abstracts':>9}  pair"
    for each in found:
        relations = ", ".join(f"{label} {count:,}" for label, count in each.relations.items())
        yield f"{each.documents:9,}  {each.first.name} | {each.second.name}  ({relations})"
