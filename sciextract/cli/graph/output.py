"""``sciextract graph export``, ``table``, ``survey`` and ``view``."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import typer

from sciextract.cli.console import (
    ForceOption,
    JsonOption,
    QuietOption,
    argument,
    flag,
    option,
    report,
    say,
)
from sciextract.cli.graph.group import GraphOption, NodeArgument, WithGenericOption, nothing
from sciextract.text.english import counted


def export(
    graph: GraphOption,
    to: Literal["graphml", "neo4j-csv", "vosviewer"] = typer.Option(
        ..., "--to", help="graphml (also for Gephi) is a file, neo4j-csv and vosviewer are folders."
    ),
    output: Path = option("PATH", "The file or folder to write.", default=...),
    least: int = option(
        "N",
        "Only nodes that at least N abstracts mention, and edges between them.",
        min=1,
        default=1,
    ),
    with_papers: bool = flag("Papers are nodes, too, with MENTIONS edges.", "--with-papers"),
    force: ForceOption = False,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Export the graph for other programs, with sentence positions but no text.

    Example:

        sciextract graph export --to graphml --output field.graphml --graph field.graph
    """
    from sciextract.graph.database import open_graph
    from sciextract.graph.export import export_graph

    with open_graph(graph) as connection:
        rest = export_graph(
            connection, graph, to, output, least=least, papers=with_papers, force=force
        )
    summary = {"format": to, "output": str(output), "least": least, "left_out": rest}
    words = f"; {counted(rest, 'rarer node')} left out" if rest else ""
    report(summary, f"{output} written{words}", as_json, quiet=quiet)


def table(
    node: NodeArgument,
    graph: GraphOption,
    with_sentences: bool = flag("Each value with its sentence.", "--with-sentences"),
    to: Literal["csv", "xlsx", "md", "html"] | None = typer.Option(
        None, help="Format (default: by the file's name, else csv)."
    ),
    output: Path | None = option("PATH", "The file to write (default: standard output)."),
    excel: bool = flag("CSV for Excel, with a byte order mark.", "--excel"),
    force: ForceOption = False,
    quiet: QuietOption = False,
) -> None:
    """Write the values that papers about a node report, a row a value.

    Example:

        sciextract graph table "visual odometry" --with-sentences --output odometry.xlsx --graph field.graph
    """
    from sciextract.graph.database import open_graph
    from sciextract.graph.queries.nodes import find_node
    from sciextract.table.findings import view_of_findings
    from sciextract.table.job import TableJob

    target = None if output is None else str(output)
    job = TableJob(target, to, None, with_sentences, excel, force)
    job.check([graph])
    with open_graph(graph) as connection:
        found = find_node(connection, node)
        findings = view_of_findings(connection, found)
        if not findings.rows:
            raise nothing(f"no sentence of an abstract that names {found.name} states a value")
        papers = counted(len({row.paper.document for row in findings.rows}), "abstract")
        words = f"{counted(len(findings.rows), 'value')} of {papers}"
        job.put([findings], found.name, words)
    if not quiet:
        say("", f"{words} to {target or 'standard output'}")


def survey(
    node: NodeArgument,
    graph: GraphOption,
    output: Path = option(
        "FOLDER|FILE", "The folder to write, or a .md, .html or .bib file.", default=...
    ),
    force: ForceOption = False,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Write a survey of a node to quote from, with sentences and papers.

    A folder holds survey.md (with citations for Pandoc), survey.html and survey.bib.

    Example:

        sciextract graph survey "speech translation" --output survey --graph field.graph
    """
    from sciextract.graph.database import open_graph
    from sciextract.graph.queries.nodes import find_node
    from sciextract.graph.survey import write_survey

    with open_graph(graph) as connection:
        found = write_survey(connection, graph, find_node(connection, node), output, force=force)
    sections = [section.title for section in found.sections]
    summary = {"output": str(output), "sections": sections, "papers": len(found.papers)}
    cited = counted(len(found.papers), "paper")
    report(
        summary,
        f"{output} holds {counted(len(sections), 'section')}, {cited} cited",
        as_json,
        quiet=quiet,
    )


def view(
    graph: GraphOption,
    output: Path = option("PATH", "A page for a browser (.html).", default=...),
    node: str | None = argument(
        "NODE", "Any name of the node (default: the whole graph).", show_default=False, default=None
    ),
    most: int = option("N", "With NODE: maximum number of neighbours.", min=1, max=200, default=24),
    edges: int = option(
        "N",
        "Without NODE: maximum number of edges, those with the most abstracts.",
        min=1,
        default=10_000,
    ),
    sentences: int = option("N", "Sentences per edge in a page.", min=0, default=3),
    with_generic: WithGenericOption = False,
    force: ForceOption = False,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Write the graph, or a node and its neighbours, as a page for a browser.

    The page is one file, needs no network, and contains sentences of your abstracts.

    Examples:

        sciextract graph view --output field.html --graph field.graph

        sciextract graph view "support vector machine" --output svm.html --graph field.graph
    """
    from sciextract.graph.database import open_graph
    from sciextract.graph.page import ViewSettings, draw

    settings = ViewSettings(most, edges, sentences, with_generic)
    with open_graph(graph) as connection:
        drawn = draw(connection, graph, node, output, settings, force=force)
    nodes, shown = len(drawn["nodes"]), len(drawn["edges"])
    if not shown:
        say(
            "Warning", f"{output} shows no edges: the graph has none that fit the options",
            "see what it has: sciextract graph top; --with-generic adds edges of generic nodes",
        )  # fmt: skip
    words = f"{output} shows {counted(nodes, 'node')} and {counted(shown, 'edge')}"
    if node is None and shown < drawn["all_edges"]:
        words += f", the best supported of {drawn['all_edges']:,}"
    summary = {"output": str(output), "nodes": nodes, "edges": shown}
    report(summary, words, as_json, quiet=quiet)
