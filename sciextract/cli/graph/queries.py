"""``sciextract graph neighbours``, ``together``, ``top``, ``gaps``, ``subtopics`` and ``trends``: questions about nodes."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Literal

import typer

from sciextract.cli.console import JsonOption, option, say
from sciextract.cli.graph.group import (
    GraphOption,
    LimitOption,
    NodeArgument,
    TypeOption,
    WithGenericOption,
    WithNarrowerOption,
    answer,
    edge_line,
    nothing,
    sentence_lines,
    show,
    show_json,
    span_of_years,
)
from sciextract.text.english import counted

if TYPE_CHECKING:
    from sciextract.graph.queries.trends import Period


def neighbours(
    node: NodeArgument,
    graph: GraphOption,
    relation: str | None = option("TYPE", "Only relations of this type."),
    direction: Literal["out", "in", "both"] = typer.Option(
        "both", help="Relations out of the node, into it, or both."
    ),
    sentences: int = option("N", "Number of sentences per edge.", min=0, default=0),
    with_narrower: WithNarrowerOption = False,
    limit: LimitOption = 20,
    as_json: JsonOption = False,
) -> None:
    """Show a node: its spellings, the rules that merged them, and its related nodes.

    Example:

        sciextract graph neighbours SVM --relation USED-FOR --direction out --sentences 2 --graph field.graph
    """
    from sciextract.graph.database import open_graph
    from sciextract.graph.queries.edges import neighbours as edges_at
    from sciextract.graph.queries.nodes import about, find_node, narrower

    with open_graph(graph) as connection:
        found = find_node(connection, node)
        known = about(connection, found)
        kinds = narrower(connection, found) if with_narrower else []
        edges = edges_at(
            connection, found,
            relation=relation, direction=direction, limit=limit, sentences=sentences, narrower=kinds,
        )  # fmt: skip
    if as_json:
        show_json([{**asdict(known), "edges": list(map(asdict, edges))}])
        return
    types = ", ".join(f"{label} {count:,}" for label, count in known.labels.items())
    extracted = f"{found.extracted_documents:,} of them extracted"
    abstracts = f"{counted(found.documents, 'abstract')} ({extracted})"
    mentions = f"{counted(found.mentions, 'mention')} extracted; named at {counted(found.matched, 'place')}"
    lines = [
        f"{found.name}  ({types})",
        f"  {abstracts}, {counted(found.degree, 'neighbour')}, years {span_of_years(found.first_year, found.last_year)}",
        f"  {mentions} by itself, {found.nested:,} within longer names",
    ]
    if found.generic:
        lines.append("  generic: left out of top and the page without --with-generic")
    for reason, forms in known.unmatched.items():
        lines.append(f"  not searched in the texts ({reason}): {', '.join(forms[:_MOST_FORMS])}")
    if known.meanings:
        listed = ", ".join(f"{name} {count:,}" for name, count in known.meanings.items())
        lines.append(
            f"  an acronym that the corpus expands in several ways, so it is not merged: {listed}"
        )
    show([*lines, "  written as"])
    for alias in known.aliases:
        rules = f"  ({', '.join(alias.rules)})" if alias.rules else ""
        show([f"  {alias.mentions:7,}  {alias.surface}{rules}"])
    if rest := known.all_aliases - len(known.aliases):
        show([f"           and in {rest:,} more ways"])
    for edge in edges:
        # An edge of a narrower node is told with both ends.
        seen_from = found if found.id in (edge.head.id, edge.tail.id) else None
        show([f"  {edge_line(edge, seen_from)}"])
        show(sentence_lines(edge.sentences, "      "))
    if not edges:
        show(["  no relations" if found.degree == 0 else "  no relations of this kind"])


_MOST_FORMS = 5


def together(
    node: NodeArgument,
    graph: GraphOption,
    label: TypeOption = None,
    relation: str | None = option(
        "TYPE", "Count only abstracts where the nodes are in this relation."
    ),
    by: Literal["count", "lift"] = typer.Option(
        "count", help="Rank by abstracts, or by the lower bound of lift."
    ),
    least: int = option("N", "Only nodes that at least N abstracts share.", min=1, default=2),
    versus: str | None = option("NODE", "Compare with this node."),
    with_narrower: WithNarrowerOption = False,
    with_generic: WithGenericOption = False,
    limit: LimitOption = 20,
    as_json: JsonOption = False,
) -> None:
    """List the nodes that abstracts mention together with a node, with sentences.

    Lift is the number of abstracts that mention both, over the number expected by chance, with its 95 % interval.

    Examples:

        sciextract graph together "speech recognition" --type Material --graph field.graph

        sciextract graph together BLEU --versus COMET --type Task --graph field.graph
    """
    from sciextract.graph.database import open_graph
    from sciextract.graph.queries.combinations import TogetherQuestion
    from sciextract.graph.queries.combinations import together as named_together
    from sciextract.graph.queries.nodes import find_node, narrower
    from sciextract.graph.queries.papers import quoted

    with open_graph(graph) as connection:
        first = find_node(connection, node)
        kinds = narrower(connection, first) if with_narrower else []
        found = named_together(
            connection, [first, *kinds],
            TogetherQuestion(label, relation, least, by, with_generic, limit),
            find_node(connection, versus) if versus else None,
        )  # fmt: skip
    if not found:
        raise nothing(f"no such node is named together with {first.name!r}")
    heading = f"{'abstracts':>9} {'versus':>6} {'lift':>7} {'interval':>13}  {'years':9}"
    lines = [f"{heading}  named with {first.name}{f', versus {versus}' if versus else ''}"]
    for row in found:
        other = "" if row.versus is None else row.versus
        counts = (
            f"{row.documents:>9} {other:>6} {row.lift:>7.2f} {f'{row.low:.2f}-{row.high:.2f}':>13}"
        )
        years = span_of_years(row.first_year, row.last_year)
        lines.append(f"{counts}  {years:9}  {row.node.name} [{row.node.label}]")
        if row.quote:
            lines.append(f"{'':11}> {quoted(row.quote.sentences)} [{row.quote.doc_key}]")
    answer((row.to_json() for row in found), lines, as_json)


def top(
    graph: GraphOption,
    label: TypeOption = None,
    since: int | None = option("YEAR", "Count only abstracts from this year on."),
    with_generic: WithGenericOption = False,
    limit: LimitOption = 20,
    as_json: JsonOption = False,
) -> None:
    """List the nodes with the most abstracts.

    Example:

        sciextract graph top --type Method --since 2020 --graph field.graph
    """
    from sciextract.graph.database import open_graph
    from sciextract.graph.queries.nodes import top as first_nodes

    with open_graph(graph) as connection:
        found = first_nodes(connection, label=label, since=since, generic=with_generic, limit=limit)
    if not found:
        raise nothing("the graph has no such nodes")
    lines = [
        f"{'abstracts':>9} {'alone':>7} {'extracted':>9} {'degree':>7}  {'years':9}  {'type':20}  name"
    ]
    for node in found:
        years = span_of_years(node.first_year, node.last_year)
        counts = (
            f"{node.documents:9,} {node.alone:7,} {node.extracted_documents:9,} {node.degree:7,}"
        )
        lines.append(f"{counts}  {years:9}  {node.label[:20]:20}  {node.name}")
    answer((node.to_json() for node in found), lines, as_json)


_MOST_NAMES = 12


def gaps(
    node: NodeArgument,
    graph: GraphOption,
    label: str | None = option(
        "TYPE", "Entity type to list (default: Task for a Method, else Method).", "--type"
    ),
    with_generic: WithGenericOption = False,
    limit: LimitOption = 20,
    as_json: JsonOption = False,
) -> None:
    """List nodes that abstracts mention together less often than by chance.

    "expected" is the number of abstracts by chance, at least 3; "chance" is the probability of so few. "nearest" are
    combinations that exist.

    Example:

        sciextract graph gaps "speech translation" --type Method --graph field.graph
    """
    from sciextract.graph.database import open_graph
    from sciextract.graph.queries.combinations import gaps as gaps_of
    from sciextract.graph.queries.nodes import find_node

    with open_graph(graph) as connection:
        first = find_node(connection, node)
        passed = gaps_of(connection, first, label=label, generic=with_generic, limit=limit)
    if not passed.found:
        tested = f"{counted(passed.tested, 'node')} of this type can be expected in three of its abstracts or more"
        raise nothing(f"no gap at {first.name!r}: {tested}, and all are there")
    lines = [f"{'abstracts':>9} {'expected':>8} {'chance':>8}  with {first.name}"]
    for candidate in passed.found:
        near = ", ".join([f"{name.name} {documents:,}" for name, documents in candidate.nearest])
        counts = f"{candidate.documents:9,} {candidate.expected:8.1f} {candidate.chance:8.1e}"
        lines += [f"{counts}  {candidate.node.name}", f"{'':29}nearest: {near or '-'}"]
    chance = f"of which about {passed.by_chance:.1f} pass by chance"
    lines.append(f"{passed.tested:,} nodes tested, {chance}")
    answer(map(asdict, passed.found), lines, as_json)


def subtopics(
    graph: GraphOption,
    of: str | None = option("NODE", "Only abstracts that mention this node."),
    label: TypeOption = None,
    least: int = option(
        "N", "Only nodes that at least N of the abstracts mention.", min=2, default=5
    ),
    resolution: float = option(
        "X", "Higher values give more, smaller subtopics.", min=0.01, default=1.0
    ),
    with_generic: WithGenericOption = False,
    limit: LimitOption = 20,
    as_json: JsonOption = False,
) -> None:
    """Divide a field into subtopics: nodes that abstracts mention together.

    Louvain communities of the 500 most mentioned nodes, without those in more than 15 % of the abstracts.

    Example:

        sciextract graph subtopics --of "low-resource languages" --least 3 --graph field.graph
    """
    from sciextract.graph.database import open_graph
    from sciextract.graph.queries.nodes import find_node
    from sciextract.graph.queries.subtopics import subtopics as divided

    with open_graph(graph) as connection:
        centre = find_node(connection, of) if of else None
        found = divided(
            connection, of=centre, label=label, least=least, resolution=resolution, generic=with_generic,
        )  # fmt: skip
    if as_json:
        show_json(map(asdict, found.found[:limit]))
        return
    for number, theme in enumerate(found.found[:limit], start=1):
        year = "" if theme.mean_year is None else f", mean year {theme.mean_year:.0f}"
        counts = f"{counted(theme.documents, 'abstract')}, {counted(len(theme.nodes), 'node')}"
        names = ", ".join([node.name for node in theme.nodes[:_MOST_NAMES]])
        more = ", ..." if len(theme.nodes) > _MOST_NAMES else ""
        show([f"{number}. {theme.title}  ({counts}{year})", f"     {names}{more}"])
    say("", f"{counted(len(found.found), 'subtopic')}, modularity {found.modularity:.2f}")


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
    with_generic: WithGenericOption = False,
    limit: LimitOption = 20,
    as_json: JsonOption = False,
) -> None:
    """Show trends: rising and falling nodes.

    A trend is the slope of a node's share of abstracts, in percentage points per year; z is the slope in standard
    errors. Trends are ranked by the bound of the 95 % interval nearer to zero ("at least").

    Example:

        sciextract graph trends rising --type Method --since 2015 --graph field.graph
    """
    from sciextract.graph.database import open_graph
    from sciextract.graph.queries.trends import TrendQuestion
    from sciextract.graph.queries.trends import trends as trends_of

    with open_graph(graph) as connection:
        asked = TrendQuestion(question, label, since, until, recent, thin, least, with_generic)
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
