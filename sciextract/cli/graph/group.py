"""The group of commands, and what they share."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sciextract.errors import ExitCode

if TYPE_CHECKING:
    import sqlite3

    from sciextract.graph.queries.edges import Edge, Sentence
    from sciextract.graph.queries.nodes import Node

graph = typer.Typer(
    name="graph",
    context_settings={"help_option_names": ["-h", "--help"]},
    rich_markup_mode=None,
)
GraphOption = Annotated[Path, typer.Option("--graph", metavar="FILE", help="The graph file.")]
JsonLines = Annotated[bool, typer.Option("--json", help="Print one JSON object per line.")]
NodeArgument = Annotated[
    str, typer.Argument(metavar="NODE", help="Any name of the node.", show_default=False)
]
SentencesOption = Annotated[
    int,
    typer.Option("--sentences", metavar="N", min=0, help="Number of sentences per edge."),
]
LimitOption = Annotated[int, typer.Option(metavar="N", min=1, help="Maximum number of rows.")]

WithGenericOption = Annotated[
    bool,
    typer.Option("--with-generic", help='Include generic nodes, such as "data".'),
]
AvoidOption = Annotated[
    list[str] | None,
    typer.Option(metavar="NODE", help="A node to leave out; repeatable."),
]
AvoidFromOption = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE", help="File of nodes to leave out, one per line; unknown names are ignored."
    ),
]


@graph.callback(invoke_without_command=True)
def start(context: typer.Context) -> None:
    """Build a knowledge graph from many abstracts, and query it.

    Nodes are the things that abstracts mention, edges the relations between them. Every merge records its rule,
    every edge the sentences that support it.
    """
    if context.invoked_subcommand is None:
        typer.echo(context.get_help(), err=True)
        raise typer.Exit(ExitCode.USAGE)


def avoided(
    connection: sqlite3.Connection, names: list[str] | None, file: Path | None
) -> list[Node]:
    """The nodes that a person wants to leave out.

    Raises:
        UnknownNodeError: One that was named on the command line is unknown.
        InputMissingError: There is no such file.
        FormatError: It is no text.
    """
    from sciextract.formats.base import Source
    from sciextract.formats.decoding import decoded_content
    from sciextract.graph.queries.nodes import find_nodes, known_nodes

    listed = decoded_content(Source(str(file))).splitlines() if file else []
    return [*find_nodes(connection, names or []), *known_nodes(connection, listed)]


def show(lines: Iterable[str]) -> None:
    """Print lines in which nothing can steer the terminal."""
    from sciextract.text.characters import visible

    for line in lines:
        typer.echo(visible(line))


def show_json(records: Iterable[dict[str, Any]]) -> None:
    """Print one JSON object a line; ASCII only, so that nothing in it can steer a terminal."""
    for record in records:
        typer.echo(json.dumps(record))


def nothing(words: str) -> typer.Exit:
    """The end of a question without an answer."""
    typer.echo(words, err=True)
    return typer.Exit(ExitCode.FAILED)


def years_of(node: Node) -> str:
    """First and last year, as far as they are known."""
    if node.first_year is None:
        return "-"
    years = f"{node.first_year}-{node.last_year}"
    return str(node.first_year) if node.first_year == node.last_year else years


def edge_line(edge: Edge, node: Node | None = None) -> str:
    """An edge; seen from a node as an arrow and its other end."""
    count = f"{edge.documents:,} abstract{'s' * (edge.documents != 1)}{_score(edge)}"
    if node is None:
        arrow = edge.way_from(edge.head.id).arrow(edge.label)
        return f"{edge.head.name} {arrow} {edge.tail.name}  ({count})"
    other = edge.tail if node.id == edge.head.id else edge.head
    return f"{edge.way_from(node.id).arrow(edge.label)} {other.name} [{other.label}]  ({count})"


def _score(edge: Edge) -> str:
    if edge.score_mean is None:
        return ""
    if edge.mentions == 1:
        return f", score {edge.score_mean:.2f}"
    return f", mean score {edge.score_mean:.2f}, best {edge.score_max:.2f}"


def sentence_lines(sentences: Iterable[Sentence], indent: str) -> Iterable[str]:
    """What supports an edge: place, score and words."""
    for each in sentences:
        year = f", {each.year}" if each.year else ""
        score = "" if each.score is None else f", score {each.score:.2f}"
        yield f"{indent}{each.doc_key}{year}, characters {each.char_start}-{each.char_end}{score}:"
        yield f"{indent}  {' '.join(each.text.split())}"
