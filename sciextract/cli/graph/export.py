"""``sciextract graph export``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from sciextract.cli.graph.group import GraphOption
from sciextract.cli.options import JsonOption, QuietOption
from sciextract.cli.words import report


def export(
    graph: GraphOption,
    to: Annotated[
        Literal["graphml", "jsonld", "neo4j-csv", "parquet"],
        typer.Option("--to", help="graphml and jsonld are files, neo4j-csv and parquet folders."),
    ],
    output: Annotated[Path, typer.Option(metavar="PATH", help="The file or folder to write.")],
    least: Annotated[
        int,
        typer.Option(
            metavar="N", min=1, help="Only nodes that N abstracts name, and edges between them."
        ),
    ] = 1,
    force: Annotated[bool, typer.Option("--force", help="Replace what is at --output.")] = False,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Write the graph for other programs: sentences as places in abstracts, never their text.

    Examples:

        sciextract graph export --to graphml --output field.graphml --graph field.graph

        sciextract graph export --to parquet --least 5 --output field-parquet --graph field.graph
    """
    from sciextract.graph.database.opening import open_graph
    from sciextract.graph.files.export import export_graph

    with open_graph(graph) as connection:
        export_graph(connection, graph, to, output, least=least, force=force)
    summary = {"format": to, "output": str(output), "least": least}
    report(summary, f"{output} written", as_json=as_json, aside=False, quiet=quiet)
