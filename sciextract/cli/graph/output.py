"""``sciextract graph export``, ``view``, ``browse``, ``sample`` and ``precision``. Textual is imported only when ``browse`` runs."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from sciextract.cli.console import (
    ForceOption,
    JsonLinesOption,
    JsonOption,
    QuietOption,
    argument,
    counted,
    is_terminal,
    option,
    report,
    say,
)
from sciextract.cli.graph.group import (
    GraphOption,
    RelationOption,
    WithGenericOption,
    nothing,
    show,
    show_json,
)
from sciextract.errors import MissingExtraError, UsageError, as_command

if TYPE_CHECKING:
    from sciextract.graph.precision import Precision


def precision(
    sheet: Annotated[
        Path,
        argument("FILE.csv", "The file from graph sample, filled in.", show_default=False),
    ],
    as_json: JsonLinesOption = False,
) -> None:
    """Compute precision by relation from a filled-in sample, with 95 % intervals (Wilson).

    Example:

        sciextract graph precision check.csv
    """
    from sciextract.graph.precision import precisions, read_sheet

    judgements = read_sheet(sheet)
    found = precisions(judgements)
    if not found:
        raise nothing('no row is judged yet: write yes or no into the column "correct"')
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


def sample(
    graph: GraphOption,
    output: Annotated[Path, option("FILE.csv", "The CSV file to fill in.")],
    edges: Annotated[int, option("N", "Number of edges to sample.", min=1)] = 50,
    seed: Annotated[int, option("N", "Seed of the sample.")] = 1,
    relation: RelationOption = None,
    least: Annotated[int, option("N", "Only edges that N abstracts state.", min=1)] = 1,
    force: ForceOption = False,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Sample random edges with a sentence each, for manual judgement.

    Every edge is equally likely. Write yes or no into the column "correct": whether the sentence states the
    relation with this type and direction. Then run sciextract graph precision FILE.csv. The file contains
    sentences.

    Examples:

        sciextract graph sample --edges 50 --output check.csv --graph field.graph

        sciextract graph sample --relation COMPARE --least 2 --output compare.csv --graph field.graph
    """  # fmt: skip
    from sciextract.graph.database import open_graph
    from sciextract.graph.precision import draw_edges, write_sheet

    with open_graph(graph) as connection:
        drawn = draw_edges(connection, edges, seed=seed, relation=relation, least=least)
    if not drawn:
        raise nothing("the graph has no such edges")
    rows = write_sheet(drawn, output, force=force)
    summary = {"output": str(output), "edges": rows, "seed": seed}
    precision = as_command("sciextract", "graph", "precision", output)
    words = f'{output} holds {counted(rows, "edge")}; fill in "correct", then: {precision}'
    report(summary, words, as_json, quiet=quiet)


def export(
    graph: GraphOption,
    to: Annotated[
        Literal["graphml", "jsonld", "neo4j-csv", "parquet"],
        typer.Option("--to", help="graphml and jsonld are files, neo4j-csv and parquet folders."),
    ],
    output: Annotated[Path, option("PATH", "The file or folder to write.")],
    least: Annotated[
        int,
        option("N", "Only nodes that at least N abstracts mention, and edges between them.", min=1),
    ] = 1,
    force: ForceOption = False,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Export the graph for other programs, with sentence positions but no text.

    Examples:

        sciextract graph export --to graphml --output field.graphml --graph field.graph

        sciextract graph export --to parquet --least 5 --output field-parquet --graph field.graph
    """
    from sciextract.graph.database import open_graph
    from sciextract.graph.export import export_graph

    with open_graph(graph) as connection:
        export_graph(connection, graph, to, output, least=least, force=force)
    summary = {"format": to, "output": str(output), "least": least}
    report(summary, f"{output} written", as_json, quiet=quiet)


def view(
    graph: GraphOption,
    output: Annotated[
        Path,
        option("PATH", "A page for a browser (.html)."),
    ],
    node: Annotated[
        str | None,
        argument("NODE", "Any name of the node (default: the whole graph).", show_default=False),
    ] = None,
    relation: RelationOption = None,
    most: Annotated[
        int,
        option("N", "With NODE: maximum number of neighbours.", min=1, max=200),
    ] = 24,
    edges: Annotated[
        int,
        option(
            "N",
            "Without NODE: maximum number of edges; those with the most abstracts are kept.",
            min=1,
        ),
    ] = 10_000,
    sentences: Annotated[int, option("N", "Sentences per edge in a page.", min=0)] = 3,
    with_generic: WithGenericOption = False,
    force: ForceOption = False,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Write the graph, or a node and its neighbours, as a page for a browser.

    The page offers search, filters and links from nodes to sentences and papers. It is one file and needs no
    network. It contains sentences of your abstracts.

    Examples:

        sciextract graph view --output field.html --graph field.graph

        sciextract graph view "support vector machine" --output svm.html --graph field.graph
    """
    from sciextract.graph.database import open_graph
    from sciextract.graph.pictures import ViewSettings, draw

    settings = ViewSettings(relation, most, edges, sentences, with_generic)
    with open_graph(graph) as connection:
        drawn = draw(connection, graph, node, output, settings, force=force)
    if not drawn.nodes:
        say(
            "Warning", f"{output} is empty: the graph has no edges that fit the options",
            "see what it has: sciextract graph top; --with-generic adds edges of generic nodes",
        )  # fmt: skip
    words = f"{output} shows {counted(drawn.nodes, 'node')} and {counted(drawn.edges, 'edge')}"
    if node is None and drawn.edges < drawn.all_edges:
        words += f", the best supported of {drawn.all_edges:,}"
    summary = {"output": str(output), "nodes": drawn.nodes, "edges": drawn.edges}
    report(summary, words, as_json, quiet=quiet)


def browse(
    graph: GraphOption,
    node: Annotated[
        str | None, argument("NODE", "Any name of the node.", show_default=False)
    ] = None,
) -> None:
    """Browse the graph in the terminal, with the sentences that support each edge.

    Examples:

        sciextract graph browse --graph field.graph

        sciextract graph browse "support vector machine" --graph field.graph
    """
    if not (is_terminal(sys.stdin) and is_terminal(sys.stdout)):
        raise UsageError(
            "browsing a graph needs a terminal; standard input or output is not one",
            "in scripts: sciextract graph top, neighbours, path, trends",
        )
    try:
        from sciextract_app.screens.graph import run_graph
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] in ("textual", "sciextract_app"):
            raise MissingExtraError("browsing a graph", "tui") from error
        raise
    raise typer.Exit(run_graph(graph, node))
