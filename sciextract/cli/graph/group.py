"""The group of commands, and what they share."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sciextract.cli.console import argument, command_group, flag, option
from sciextract.errors import ExitCode

if TYPE_CHECKING:
    from sciextract.graph.queries.edges import Edge, Sentence
    from sciextract.graph.queries.nodes import Node

graph = command_group(
    "graph",
    "Build a knowledge graph from many abstracts, and query it.\n\n"
    "Nodes are the things that abstracts mention, edges the relations between them.",
    alone=True,
)
GraphOption = Annotated[Path, option("FILE", "The graph file.", "--graph", default=...)]
TypeOption = Annotated[
    str | None, option("TYPE", "Only nodes mostly of this type.", "--type", default=...)
]
NodeArgument = Annotated[str, argument("NODE", "Any name of the node.", show_default=False)]
LimitOption = Annotated[int, option("N", "Maximum number of rows.", min=1, default=...)]

WithGenericOption = Annotated[
    bool, flag('Include generic nodes, such as "data".', "--with-generic", default=...)
]
WithNarrowerOption = Annotated[
    bool,
    flag(
        "Count its kinds, too: hyponyms, and nodes whose name ends in its name.",
        "--with-narrower",
        default=...,
    ),
]


def show(lines: Iterable[str]) -> None:
    """Print lines in which nothing can steer the terminal."""
    from sciextract.text.characters import visible

    for line in lines:
        typer.echo(visible(line))


def show_json(records: Iterable[dict[str, Any]]) -> None:
    """Print one JSON object a line; ASCII only, so that nothing in it can steer a terminal."""
    for record in records:
        typer.echo(json.dumps(record))


def answer(records: Iterable[dict[str, Any]], lines: Iterable[str], as_json: bool) -> None:
    """Print what a question found: records as JSON, or lines for people."""
    if as_json:
        show_json(records)
    else:
        show(lines)


def nothing(words: str) -> typer.Exit:
    """The end of a question without an answer."""
    typer.echo(words, err=True)
    return typer.Exit(ExitCode.FAILED)


def span_of_years(first: int | None, last: int | None) -> str:
    """First and last year, as far as they are known."""
    if first is None:
        return "-"
    return str(first) if first == last else f"{first}-{last}"


def edge_line(edge: Edge, node: Node | None) -> str:
    """An edge; seen from a node as an arrow and its other end."""
    score = ""
    if edge.score_mean is not None:
        score = f", mean score {edge.score_mean:.2f}, best {edge.score_max:.2f}"
        if edge.mentions == 1:
            score = f", score {edge.score_mean:.2f}"
    count = f"{edge.documents:,} abstract{'s' * (edge.documents != 1)}{score}"
    if node is None:
        arrow = edge.arrow_from(edge.head.id)
        return f"{edge.head.name} {arrow} {edge.tail.name}  ({count})"
    other = edge.tail if node.id == edge.head.id else edge.head
    return f"{edge.arrow_from(node.id)} {other.name} [{other.label}]  ({count})"


def sentence_lines(sentences: Iterable[Sentence], indent: str) -> Iterable[str]:
    """What supports an edge: place, score and words."""
    for quote in sentences:
        year = f", {quote.year}" if quote.year else ""
        score = "" if quote.score is None else f", score {quote.score:.2f}"
        yield f"{indent}{quote.doc_key}{year}, characters {quote.char_start}-{quote.char_end}{score}:"
        yield f"{indent}  {' '.join(quote.text.split())}"
