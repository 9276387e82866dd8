"""``sciextract graph path``."""

from __future__ import annotations

from typing import Annotated

import typer

from sciextract.cli.graph.group import (
    GraphOption,
    SentencesOption,
    edge_line,
    nothing,
    sentence_lines,
    show,
    show_json,
)

_Node = Annotated[str, typer.Argument(metavar="NODE", help="Any name of it.", show_default=False)]


def path(
    start: _Node,
    end: _Node,
    graph: GraphOption,
    avoid: Annotated[
        list[str] | None,
        typer.Option(metavar="NODE", help="A node not to go through; may be repeated."),
    ] = None,
    sentences: SentencesOption = 1,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Find the shortest way from one node to another, with the sentences that support each step.

    Of several ways of this length it follows the edges that most abstracts state, in either direction.

    Examples:

        sciextract graph path "support vector machine" parsing --graph field.graph

        sciextract graph path BERT chemistry --avoid accuracy --sentences 3 --graph field.graph
    """
    from sciextract.graph.database.opening import open_graph
    from sciextract.graph.queries.nodes import find_node
    from sciextract.graph.queries.paths import shortest_path

    with open_graph(graph) as connection:
        first, last = find_node(connection, start), find_node(connection, end)
        closed = [find_node(connection, each) for each in avoid or []]
        steps = shortest_path(connection, first, last, closed, sentences)
    if steps is None:
        raise nothing(f"no way leads from {first.name!r} to {last.name!r}")
    if as_json:
        edges = [[edge.to_json() for edge in step] for step in steps]
        show_json([{"start": first.to_json(), "end": last.to_json(), "steps": edges}])
        return
    if not steps:
        show([f"{first.name}: both names mean this node"])
    for number, step in enumerate(steps, start=1):
        for edge in step:
            show([f"{number}. {edge_line(edge)}"])
            show(sentence_lines(edge.sentences, "     "))
