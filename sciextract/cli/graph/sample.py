"""``sciextract graph sample``: edges to judge by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sciextract.cli.graph.group import GraphOption, nothing
from sciextract.cli.options import JsonOption, QuietOption
from sciextract.cli.words import counted, report
from sciextract.errors import as_command


def sample(
    graph: GraphOption,
    output: Annotated[Path, typer.Option(metavar="FILE.csv", help="The sheet to fill in.")],
    edges: Annotated[int, typer.Option(metavar="N", min=1, help="How many edges to draw.")] = 50,
    seed: Annotated[int, typer.Option(metavar="N", help="Another one draws other edges.")] = 1,
    relation: Annotated[
        str | None, typer.Option(metavar="TYPE", help="Only relations of this type.")
    ] = None,
    least: Annotated[
        int, typer.Option(metavar="N", min=1, help="Only edges that N abstracts state.")
    ] = 1,
    force: Annotated[bool, typer.Option("--force", help="Replace what is at --output.")] = False,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Draw edges at random into a sheet, each with a sentence that supports it, to be judged by a person.

    Every edge is as likely as every other. Write yes or no into the column "correct": whether the sentence says
    so, with this type and direction. Then sciextract graph precision FILE.csv counts. The sheet holds sentences.

    Examples:

        sciextract graph sample --edges 50 --output check.csv --graph field.graph

        sciextract graph sample --relation COMPARE --least 2 --output compare.csv --graph field.graph
    """  # fmt: skip
    from sciextract.graph.checking.sample import draw_edges
    from sciextract.graph.checking.sheet import write_sheet
    from sciextract.graph.database.opening import open_graph

    with open_graph(graph) as connection:
        drawn = draw_edges(connection, edges, seed=seed, relation=relation, least=least)
    if not drawn:
        raise nothing("the graph has no such edges")
    rows = write_sheet(drawn, output, force=force)
    summary = {"output": str(output), "edges": rows, "seed": seed}
    precision = as_command("sciextract", "graph", "precision", output)
    words = f'{output} holds {counted(rows, "edge")}; fill in "correct", then: {precision}'
    report(summary, words, as_json=as_json, aside=False, quiet=quiet)
