"""``sciextract graph neighbours``, ``path`` and ``top``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from sciextract.cli.console import counted
from sciextract.cli.graph.group import (
    AvoidFromOption,
    AvoidOption,
    GraphOption,
    JsonLines,
    LimitOption,
    NodeArgument,
    SentencesOption,
    WithGenericOption,
    avoided,
    edge_line,
    nothing,
    sentence_lines,
    show,
    show_json,
    years_of,
)

if TYPE_CHECKING:
    from sciextract.graph.queries.nodes import About, Alias


def neighbours(
    node: NodeArgument,
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
    """Show a node: its spellings, the rules that merged them, and its related nodes.

    Examples:

        sciextract graph neighbours "support vector machine" --graph field.graph

        sciextract graph neighbours SVM --relation USED-FOR --direction out --sentences 2 --graph field.graph
    """
    from sciextract.graph.database import open_graph
    from sciextract.graph.queries.edges import EdgeRequest
    from sciextract.graph.queries.edges import neighbours as edges_at
    from sciextract.graph.queries.nodes import about, find_node

    with open_graph(graph) as connection:
        found = find_node(connection, node)
        known = about(connection, found)
        edges = edges_at(connection, found, EdgeRequest(relation, direction, limit, sentences))
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
    words = (
        f"{counted(node.documents, 'abstract')} ({node.extracted_documents:,} of them extracted)"
    )
    yield f"  {words}, {counted(node.degree, 'neighbour')}, years {years_of(node)}"
    yield (
        f"  {counted(node.mentions, 'mention')} extracted; named at {counted(node.matched, 'place')}"
        f" by itself, {node.nested:,} within longer names"
    )
    if node.vocabulary_id:
        yield f"  in the vocabulary: {node.vocabulary_id}"
    if node.generic:
        yield "  generic: left out of top, paths and pictures without --with-generic"
    for reason, forms in known.unmatched.items():
        yield f"  not searched in the texts ({reason}): {', '.join(forms[:_MOST_FORMS])}"
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


_MOST_FORMS = 5


def path(
    start: NodeArgument,
    end: NodeArgument,
    graph: GraphOption,
    avoid: Annotated[
        list[str] | None,
        typer.Option(metavar="NODE", help="A node that the path must not visit; repeatable."),
    ] = None,
    with_generic: WithGenericOption = False,
    sentences: SentencesOption = 1,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Find the shortest path between two nodes, with the sentences that support each step.

    Of several shortest paths, the one whose edges are stated by the most abstracts is shown. Edges are followed
    in
    either direction.

    Examples:

        sciextract graph path "support vector machine" parsing --graph field.graph

        sciextract graph path BERT chemistry --avoid accuracy --sentences 3 --graph field.graph
    """
    from sciextract.graph.database import open_graph
    from sciextract.graph.queries.nodes import find_node, generic_nodes
    from sciextract.graph.queries.paths import shortest_path

    with open_graph(graph) as connection:
        first, last = find_node(connection, start), find_node(connection, end)
        closed = {find_node(connection, each).id for each in avoid or []}
        if not with_generic:
            closed |= generic_nodes(connection)
        steps = shortest_path(connection, first, last, closed, sentences)
    if steps is None:
        hint = "" if with_generic else "; --with-generic allows generic nodes on the path"
        raise nothing(f"there is no path from {first.name!r} to {last.name!r}{hint}")
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


def top(
    graph: GraphOption,
    label: Annotated[
        str | None, typer.Option("--type", metavar="TYPE", help="Only nodes mostly of this type.")
    ] = None,
    by: Annotated[
        Literal["count", "degree"],
        typer.Option(help="Rank by abstracts that mention the node, or by related nodes."),
    ] = "count",
    since: Annotated[
        int | None, typer.Option(metavar="YEAR", help="Count only abstracts from this year on.")
    ] = None,
    avoid: AvoidOption = None,
    avoid_from: AvoidFromOption = None,
    with_generic: WithGenericOption = False,
    limit: LimitOption = 20,
    as_json: JsonLines = False,
) -> None:
    """List the nodes with the most abstracts or the most related nodes.

    Examples:

        sciextract graph top --type Method --since 2020 --graph field.graph

        sciextract graph top --by degree --limit 50 --json --graph field.graph
    """
    from sciextract.graph.database import open_graph
    from sciextract.graph.queries.rankings import top as first_nodes

    with open_graph(graph) as connection:
        unwanted = avoided(connection, avoid, avoid_from)
        found = first_nodes(
            connection, label=label, by=by, since=since, avoid=unwanted, generic=with_generic,
            limit=limit,
        )  # fmt: skip
    if as_json:
        show_json(node.to_json() for node in found)
    elif found:
        show([f"{'abstracts':>9} {'extracted':>9} {'degree':>7}  {'years':9}  {'type':20}  name"])
        show(
            f"{node.documents:9,} {node.extracted_documents:9,} {node.degree:7,}  {years_of(node):9}"
            f"  {node.label[:20]:20}  {node.name}"
            for node in found
        )
    if not found:
        raise nothing("the graph has no such nodes")
