"""``sciextract graph top``."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from sciextract.cli.graph.group import (
    AvoidFromOption,
    AvoidOption,
    GraphOption,
    JsonLines,
    LimitOption,
    avoided,
    nothing,
    show,
    show_json,
    years_of,
)


def top(
    graph: GraphOption,
    label: Annotated[
        str | None, typer.Option("--type", metavar="TYPE", help="Only nodes mostly of this type.")
    ] = None,
    by: Annotated[
        Literal["count", "degree"],
        typer.Option(help="Abstracts that name it, or nodes that it is related to."),
    ] = "count",
    since: Annotated[
        int | None, typer.Option(metavar="YEAR", help="Count only abstracts from this year on.")
    ] = None,
    avoid: AvoidOption = None,
    avoid_from: AvoidFromOption = None,
    limit: LimitOption = 20,
    as_json: JsonLines = False,
) -> None:
    """List the nodes that most abstracts name, or that are related to most others.

    Examples:

        sciextract graph top --type Method --since 2020 --graph field.graph

        sciextract graph top --by degree --limit 50 --json --graph field.graph
    """
    from sciextract.graph.database.opening import open_graph
    from sciextract.graph.queries.top import top as first_nodes

    with open_graph(graph) as connection:
        unwanted = avoided(connection, avoid, avoid_from)
        found = first_nodes(
            connection, label=label, by=by, since=since, avoid=unwanted, limit=limit
        )
    if as_json:
        show_json(node.to_json() for node in found)
    elif found:
        show([f"{'abstracts':>9} {'degree':>7}  {'years':9}  {'type':20}  name"])
        show(
            f"{node.documents:9,} {node.degree:7,}  {years_of(node):9}  {node.label[:20]:20}  {node.name}"
            for node in found
        )
    if not found:
        raise nothing("the graph has no such nodes")
