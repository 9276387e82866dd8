"""``sciextract graph neighbours``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from sciextract.cli.graph.group import (
    GraphOption,
    LimitOption,
    SentencesOption,
    edge_line,
    sentence_lines,
    show,
    show_json,
    years_of,
)
from sciextract.cli.words import counted

if TYPE_CHECKING:
    from sciextract.graph.queries.nodes import About
    from sciextract.graph.queries.parts import Alias


def neighbours(
    node: Annotated[
        str, typer.Argument(metavar="NODE", help="Any name of it.", show_default=False)
    ],
    graph: GraphOption,
    relation: Annotated[
        str | None, typer.Option(metavar="TYPE", help="Only relations of this type.")
    ] = None,
    direction: Annotated[
        Literal["out", "in", "both"],
        typer.Option(help="Relations out of the node, into it, or both."),
    ] = "both",
    sentences: SentencesOption = 0,
    limit: LimitOption = 20,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Show a node: how it is written, by which rules, and what it is related to.

    Examples:

        sciextract graph neighbours "support vector machine" --graph field.graph

        sciextract graph neighbours SVM --relation USED-FOR --direction out --sentences 2 --graph field.graph
    """
    from sciextract.graph.database.opening import open_graph
    from sciextract.graph.queries.edges import neighbours as edges_at
    from sciextract.graph.queries.nodes import about, find_node

    with open_graph(graph) as connection:
        found = find_node(connection, node)
        known = about(connection, found)
        edges = edges_at(
            connection, found,
            relation=relation, direction=direction, limit=limit, sentences=sentences,
        )  # fmt: skip
    if as_json:
        show_json([{**known.to_json(), "edges": [edge.to_json() for edge in edges]}])
        return
    show(_about(known))
    for edge in edges:
        show([f"  {edge_line(edge, found)}"])
        show(sentence_lines(edge.sentences, "      "))
    if not edges:
        show(["  no relations" if found.degree == 0 else "  no relations of this kind"])


def _about(known: About) -> Iterator[str]:
    node = known.node
    types = ", ".join(f"{label} {count:,}" for label, count in known.labels.items())
    yield f"{node.name}  ({types})"
    words = f"{counted(node.documents, 'abstract')}, {counted(node.mentions, 'mention')}"
    yield f"  {words}, {counted(node.degree, 'neighbour')}, years {years_of(node)}"
    if known.meanings:
        listed = ", ".join(f"{name} {count:,}" for name, count in known.meanings.items())
        yield f"  an acronym that the corpus expands in several ways, so it is not merged: {listed}"
    yield "  written as"
    yield from map(_alias, known.aliases)
    rest = known.all_aliases - len(known.aliases)
    if rest:
        yield f"           and in {rest:,} more ways"


def _alias(alias: Alias) -> str:
    rules = f"  ({', '.join(alias.rules)})" if alias.rules else ""
    return f"  {alias.mentions:7,}  {alias.surface}{rules}"
