"""``sciextract graph view``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sciextract.cli.graph.group import GraphOption
from sciextract.cli.options import JsonOption, QuietOption
from sciextract.cli.words import counted, report


def view(
    node: Annotated[
        str, typer.Argument(metavar="NODE", help="Any name of it.", show_default=False)
    ],
    graph: GraphOption,
    output: Annotated[
        Path, typer.Option(metavar="PATH", help="A picture (.svg), or a page to look at (.html).")
    ],
    relation: Annotated[
        str | None, typer.Option(metavar="TYPE", help="Only relations of this type.")
    ] = None,
    most: Annotated[
        int, typer.Option(metavar="N", min=1, max=200, help="At most so many neighbours.")
    ] = 24,
    sentences: Annotated[
        int, typer.Option(metavar="N", min=0, help="Sentences for each edge in a page.")
    ] = 3,
    force: Annotated[bool, typer.Option("--force", help="Replace what is at --output.")] = False,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Draw a node with its neighbours: a picture, or a page that shows the sentences on a click.

    The page needs no network. It holds sentences of your abstracts; the picture holds names only.

    Examples:

        sciextract graph view "support vector machine" --output svm.svg --graph field.graph

        sciextract graph view SVM --relation COMPARE --output svm.html --graph field.graph
    """
    from sciextract.graph.database.opening import open_graph
    from sciextract.graph.pictures.view import draw

    with open_graph(graph) as connection:
        shown = draw(
            connection, graph, node, output,
            relation=relation, most=most, sentences=sentences, force=force,
        )  # fmt: skip
    words = f"{counted(len(shown.nodes), 'node')} and {counted(len(shown.edges), 'edge')}"
    summary = {"output": str(output), "nodes": len(shown.nodes), "edges": len(shown.edges)}
    report(summary, f"{output} shows {words}", as_json=as_json, aside=False, quiet=quiet)
