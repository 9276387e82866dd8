"""``sciextract graph neighbours``, ``path``, ``top``, ``gaps``, ``compare`` and ``subtopics``: questions about nodes."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Literal

import typer

from sciextract.cli.console import JsonLinesOption, option, say
from sciextract.cli.graph.group import (
    AvoidFromOption,
    AvoidOption,
    GraphOption,
    JsonObjectOption,
    LimitOption,
    NodeArgument,
    RelationOption,
    SentencesOption,
    TypeOption,
    WithGenericOption,
    avoided,
    edge_line,
    nothing,
    sentence_lines,
    show,
    show_json,
    years_of,
)
from sciextract.text.english import counted


def neighbours(
    node: NodeArgument,
    graph: GraphOption,
    relation: RelationOption = None,
    direction: Annotated[
        Literal["out", "in", "both"],
        typer.Option(help="Relations out of the node, into it, or both."),
    ] = "both",
    sentences: SentencesOption = 0,
    limit: LimitOption = 20,
    as_json: JsonObjectOption = False,
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
        show_json([{**asdict(known), "edges": list(map(asdict, edges))}])
        return
    types = ", ".join(f"{label} {count:,}" for label, count in known.labels.items())
    abstracts = (
        f"{counted(found.documents, 'abstract')} ({found.extracted_documents:,} of them extracted)"
    )
    mentions = f"{counted(found.mentions, 'mention')} extracted; named at {counted(found.matched, 'place')}"
    lines = [
        f"{found.name}  ({types})",
        f"  {abstracts}, {counted(found.degree, 'neighbour')}, years {years_of(found)}",
        f"  {mentions} by itself, {found.nested:,} within longer names",
    ]
    if found.vocabulary_id:
        lines.append(f"  in the vocabulary: {found.vocabulary_id}")
    if found.generic:
        lines.append("  generic: left out of top, paths and the page without --with-generic")
    for reason, forms in known.unmatched.items():
        lines.append(f"  not searched in the texts ({reason}): {', '.join(forms[:_MOST_FORMS])}")
    if known.meanings:
        listed = ", ".join(f"{name} {count:,}" for name, count in known.meanings.items())
        lines.append(
            f"  an acronym that the corpus expands in several ways, so it is not merged: {listed}"
        )
    show([*lines, "  written as"])
    for alias in known.aliases:
        rules = f"  ({', '.join(alias.rules)})" if alias.rules else ""
        show([f"  {alias.mentions:7,}  {alias.surface}{rules}"])
    if rest := known.all_aliases - len(known.aliases):
        show([f"           and in {rest:,} more ways"])
    for edge in edges:
        show([f"  {edge_line(edge, found)}"])
        show(sentence_lines(edge.sentences, "      "))
    if not edges:
        show(["  no relations" if found.degree == 0 else "  no relations of this kind"])


_MOST_FORMS = 5


def path(
    start: NodeArgument,
    end: NodeArgument,
    graph: GraphOption,
    avoid: Annotated[
        list[str] | None,
        option("NODE", "A node that the path must not visit; repeatable."),
    ] = None,
    with_generic: WithGenericOption = False,
    sentences: SentencesOption = 1,
    as_json: JsonObjectOption = False,
) -> None:
    """Find the shortest path between two nodes, with the sentences that support each step.

    Of several shortest paths, the one whose edges are stated by the most abstracts is shown. Edges are followed in
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
        edges = [list(map(asdict, step)) for step in steps]
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
    label: TypeOption = None,
    by: Annotated[
        Literal["count", "degree"],
        typer.Option(help="Rank by abstracts that mention the node, or by related nodes."),
    ] = "count",
    since: Annotated[int | None, option("YEAR", "Count only abstracts from this year on.")] = None,
    avoid: AvoidOption = None,
    avoid_from: AvoidFromOption = None,
    with_generic: WithGenericOption = False,
    limit: LimitOption = 20,
    as_json: JsonLinesOption = False,
) -> None:
    """List the nodes with the most abstracts or the most related nodes.

    Examples:

        sciextract graph top --type Method --since 2020 --graph field.graph

        sciextract graph top --by degree --limit 50 --json --graph field.graph
    """
    from sciextract.graph.database import open_graph
    from sciextract.graph.queries.nodes import top as first_nodes

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


_MOST_SHARED = 4
_MOST_NAMES = 12


def gaps(
    node: NodeArgument,
    graph: GraphOption,
    label: Annotated[
        str | None,
        option("TYPE", "Entity type to list (default: Task for a Method, else Method).", "--type"),
    ] = None,
    least: Annotated[int, option("N", "Only nodes that at least N abstracts mention.", min=1)] = 5,
    avoid: AvoidOption = None,
    avoid_from: AvoidFromOption = None,
    with_generic: WithGenericOption = False,
    limit: LimitOption = 20,
    as_json: JsonLinesOption = False,
) -> None:
    """List nodes never combined with a node that has the same neighbours.

    No abstract mentions both. The list is ranked by shared neighbours (Adamic-Adar index); "expected" is the
    number of abstracts that would mention both by chance.

    Examples:

        sciextract graph gaps "knowledge distillation" --graph field.graph

        sciextract graph gaps "speech translation" --type Method --least 10 --graph field.graph
    """  # fmt: skip
    from sciextract.graph.database import open_graph
    from sciextract.graph.queries.combinations import gaps as gaps_of
    from sciextract.graph.queries.nodes import find_node

    with open_graph(graph) as connection:
        first = find_node(connection, node)
        found = gaps_of(
            connection, first, label=label, least=least,
            avoid=avoided(connection, avoid, avoid_from), generic=with_generic, limit=limit,
        )  # fmt: skip
    if not found:
        raise nothing(
            f"no node of this type is two steps from {first.name!r} without being mentioned together with it"
        )
    if as_json:
        show_json(map(asdict, found))
        return
    show([f"{'score':>6} {'abstracts':>9} {'expected':>8}  never named with {first.name}"])
    for each in found:
        shared = ", ".join([middle.name for middle in each.shared[:_MOST_SHARED]])
        show([f"{each.score:6.2f} {each.node.documents:9,} {each.expected:8.1f}  {each.node.name}"])
        show([f"{'':25}  through {shared}{', ...' if len(each.shared) > _MOST_SHARED else ''}"])


def compare(
    first: NodeArgument,
    second: NodeArgument,
    graph: GraphOption,
    sentences: SentencesOption = 2,
    with_generic: WithGenericOption = False,
    limit: LimitOption = 10,
    as_json: JsonObjectOption = False,
) -> None:
    """Compare two nodes: abstracts by year, relations, shared neighbours.

    Examples:

        sciextract graph compare BLEU COMET --graph field.graph

        sciextract graph compare Transformer LSTM --sentences 5 --graph field.graph
    """
    from sciextract.graph.database import open_graph
    from sciextract.graph.queries.combinations import compare as comparison_of
    from sciextract.graph.queries.nodes import find_node

    with open_graph(graph) as connection:
        found = comparison_of(
            connection, find_node(connection, first), find_node(connection, second),
            sentences=sentences, generic=with_generic, limit=limit,
        )  # fmt: skip
    if as_json:
        show_json([asdict(found)])
        return
    for node in (found.first, found.second):
        words = f"{counted(node.documents, 'abstract')}, {counted(node.degree, 'neighbour')}"
        show([f"{node.name}  ({node.label}; {words}, years {years_of(node)})"])
    show([f"named together by {counted(found.together, 'abstract')}"])
    for edge in found.edges:
        show([f"  {edge_line(edge)}", *sentence_lines(edge.sentences, "      ")])
    show([f"  {year}  {one:6,} {other:6,}" for year, (one, other) in found.years.items()])
    for heading, nodes in (
        ("both are related to", found.shared),
        (f"only {found.first.name} is related to", found.only_first),
        (f"only {found.second.name} is related to", found.only_second),
    ):
        names = ", ".join([f"{each.name} [{each.label}]" for each in nodes])
        show([f"{heading}: {names or 'nothing else'}"])


def subtopics(
    graph: GraphOption,
    of: Annotated[str | None, option("NODE", "Only abstracts that mention this node.")] = None,
    label: TypeOption = None,
    least: Annotated[
        int,
        option("N", "Only nodes that at least N of the abstracts mention.", min=2),
    ] = 5,
    resolution: Annotated[
        float,
        option("X", "Higher values give more, smaller subtopics.", min=0.01),
    ] = 1.0,
    seed: Annotated[int, option("N", "Seed of the search.")] = 1,
    avoid: AvoidOption = None,
    avoid_from: AvoidFromOption = None,
    with_generic: WithGenericOption = False,
    limit: LimitOption = 20,
    as_json: JsonLinesOption = False,
) -> None:
    """Divide a field into subtopics: nodes that abstracts mention together.

    The 500 most mentioned nodes are divided into Louvain communities. An abstract counts for the subtopic with most
    of its nodes. The same graph, options and seed give the same subtopics; other seeds may give others.

    Examples:

        sciextract graph subtopics --graph field.graph

        sciextract graph subtopics --of "low-resource languages" --least 3 --resolution 1.5 --graph field.graph
    """  # fmt: skip
    from sciextract.graph.database import open_graph
    from sciextract.graph.queries.combinations import SubtopicQuestion
    from sciextract.graph.queries.combinations import subtopics as divided
    from sciextract.graph.queries.nodes import find_node

    with open_graph(graph) as connection:
        question = SubtopicQuestion(
            of=find_node(connection, of) if of else None, label=label, least=least,
            resolution=resolution, seed=seed,
            avoid=avoided(connection, avoid, avoid_from), generic=with_generic,
        )  # fmt: skip
        answer = divided(connection, question)
    if as_json:
        show_json(map(asdict, answer.found[:limit]))
        return
    for number, each in enumerate(answer.found[:limit], start=1):
        year = "" if each.mean_year is None else f", mean year {each.mean_year:.0f}"
        counts = f"{counted(each.documents, 'abstract')}, {counted(len(each.nodes), 'node')}"
        names = ", ".join([node.name for node in each.nodes[:_MOST_NAMES]])
        more = ", ..." if len(each.nodes) > _MOST_NAMES else ""
        show([f"{number}. {counts}{year}", f"     {names}{more}"])
    say("", f"{counted(len(answer.found), 'subtopic')}, modularity {answer.modularity:.2f}")
