"""``sciextract graph browse``: the graph in the terminal. Textual is imported only when the command runs."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from sciextract.cli.console import is_terminal
from sciextract.cli.graph.group import GraphOption
from sciextract.errors import MissingExtraError, UsageError


def browse(
    graph: GraphOption,
    node: Annotated[
        str | None, typer.Argument(metavar="NODE", help="Any name of it.", show_default=False)
    ] = None,
) -> None:
    """Walk through the graph in the terminal: from node to node, with the sentences behind each edge.

    Examples:

        sciextract graph browse --graph field.graph

        sciextract graph browse "support vector machine" --graph field.graph
    """
    if not (is_terminal(sys.stdin) and is_terminal(sys.stdout)):
        raise UsageError(
            "walking through a graph needs a terminal, and standard input or output is none",
            "in scripts: sciextract graph top, neighbours, path, trends",
        )
    try:
        from sciextract_app.graph_app import run_graph
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] in ("textual", "sciextract_app"):
            raise MissingExtraError("walking through a graph", "tui") from error
        raise
    raise typer.Exit(run_graph(graph, node))
