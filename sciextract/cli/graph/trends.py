"""``sciextract graph trends``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import typer

from sciextract.cli.console import JsonLinesOption, flag, option
from sciextract.cli.graph.group import (
    GraphOption,
    LimitOption,
    WithGenericOption,
    answer,
    nothing,
)

if TYPE_CHECKING:
    from sciextract.graph.queries.trends import Period


def trends(
    graph: GraphOption,
    question: Literal["rising", "falling"] = typer.Argument(
        ..., metavar="rising|falling", help="Nodes that rise, or nodes that fall."
    ),
    label: str = option(
        "TYPE",
        "Entity type of the nodes (default: Method, or the commonest).",
        "--type",
        default="",
    ),
    since: int | None = option("YEAR", "The first year."),
    until: int | None = option("YEAR", "The last year."),
    least: int = option(
        "N", "Only nodes that at least N abstracts of these years mention.", min=1, default=10
    ),
    recent: int = option("N", "Fit the slope to the last N years.", min=2, default=5),
    thin: int = option("N", "Pool years with fewer than N abstracts.", min=1, default=30),
    with_narrower: bool = flag("Count abstracts that name a hyponym, too.", "--with-narrower"),
    with_generic: WithGenericOption = False,
    limit: LimitOption = 20,
    as_json: JsonLinesOption = False,
) -> None:
    """Show trends: rising and falling nodes.

    A trend is the slope of a node's share of abstracts over the last years, in percentage points per year; z is
    the slope in standard errors. Trends are ranked by the bound of the 95 % interval nearer to zero ("at
    least"). A node that is certainly below its peak does not count as rising. Years with few abstracts are
    pooled.

    Examples:

        sciextract graph trends rising --type Method --since 2015 --graph field.graph
    """
    from sciextract.graph.database import open_graph
    from sciextract.graph.queries.trends import TrendQuestion
    from sciextract.graph.queries.trends import trends as trends_of

    with open_graph(graph) as connection:
        asked = TrendQuestion(
            question, label, since, until, recent, thin, least, with_generic, with_narrower
        )
        passed = trends_of(connection, asked, limit)
    if not passed.found:
        raise nothing("nothing found; change --least, --recent or the years to include more nodes")
    first = passed.found[0]
    last, span = first.periods[-1], f"{first.periods[0].first}-{first.periods[-1].last}"
    lines = [
        f"{first.node.label}: points a year since {first.recent[0].years} (z), at least; abstracts and shares {span} with 95 % intervals",
        f"{'at least':>8} {'slope':>7} {'z':>6} {'abstracts':>9}  {'share ' + last.years:24} {'peak':30}  name",
    ]
    for trend in passed.found:
        count = sum(period.documents for period in trend.periods)
        peak = f"{trend.peak.years}: {_share(trend.peak)}"
        slope = f"{100 * trend.certain:+8.2f} {100 * trend.slope:+7.2f} {trend.z:+6.1f}"
        share = _share(trend.periods[-1])
        lines.append(f"{slope} {count:9,}  {share:24}  {peak:30}  {trend.node.name}")
    chance = f"of which about {passed.by_chance:.0f} pass by chance"
    lines.append(f"{passed.tested:,} nodes tested, {chance}")
    answer((trend.to_json() for trend in passed.found), lines, as_json)


def _share(period: Period) -> str:
    low, high = period.interval
    return f"{100 * period.share:.1f} % ({100 * low:.1f}-{100 * high:.1f})"
