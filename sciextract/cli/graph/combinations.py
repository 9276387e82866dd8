"""``sciextract graph gaps``, ``compare`` and ``subtopics``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from sciextract.cli.console import counted, say
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
    from sciextract.graph.queries.combinations import Comparison, Subtopic
    from sciextract.graph.queries.nodes import Node

_MOST_SHARED = 4
_MOST_NAMES = 12


def gaps(
    node: NodeArgument,
    graph: GraphOption,
    label: Annotated[
        str | None,
        typer.Option(
            "--type",
            metavar="TYPE",
            help="Entity type to list (default: Task for a Method, else Method).",
        ),
    ] = None,
    least: Annotated[
        int, typer.Option(metavar="N", min=1, help="Only nodes that at least N abstracts mention.")
    ] = 5,
    avoid: AvoidOption = None,
    avoid_from: AvoidFromOption = None,
    with_generic: WithGenericOption = False,
    limit: LimitOption = 20,
    as_json: JsonLines = False,
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
        show_json(each.to_json() for each in found)
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
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
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
        show_json([found.to_json()])
    else:
        show(_comparison_lines(found))


def _comparison_lines(found: Comparison) -> Iterator[str]:
    for node in (found.first, found.second):
        words = f"{counted(node.documents, 'abstract')}, {counted(node.degree, 'neighbour')}"
        yield f"{node.name}  ({node.label}; {words}, years {years_of(node)})"
    yield f"named together by {counted(found.together, 'abstract')}"
    for edge in found.edges:
        yield f"  {edge_line(edge)}"
        yield from sentence_lines(edge.sentences, "      ")
    for year, (one, other) in found.years.items():
        yield f"  {year}  {one:6,} {other:6,}"
    yield from _names("both are related to", found.shared)
    yield from _names(f"only {found.first.name} is related to", found.only_first)
    yield from _names(f"only {found.second.name} is related to", found.only_second)


def _names(heading: str, nodes: tuple[Node, ...]) -> Iterator[str]:
    yield f"{heading}: {', '.join([f'{each.name} [{each.label}]' for each in nodes]) or 'nothing else'}"


def subtopics(
    graph: GraphOption,
    of: Annotated[
        str | None, typer.Option(metavar="NODE", help="Only abstracts that mention this node.")
    ] = None,
    label: Annotated[
        str | None, typer.Option("--type", metavar="TYPE", help="Only nodes mostly of this type.")
    ] = None,
    least: Annotated[
        int,
        typer.Option(
            metavar="N", min=2, help="Only nodes that at least N of the abstracts mention."
        ),
    ] = 5,
    resolution: Annotated[
        float,
        typer.Option(metavar="X", min=0.01, help="Higher values give more, smaller subtopics."),
    ] = 1.0,
    seed: Annotated[int, typer.Option(metavar="N", help="Seed of the search.")] = 1,
    avoid: AvoidOption = None,
    avoid_from: AvoidFromOption = None,
    with_generic: WithGenericOption = False,
    limit: LimitOption = 20,
    as_json: JsonLines = False,
) -> None:
    """Divide a field into subtopics: nodes that abstracts mention together.

    The 500 most mentioned nodes are divided into Louvain communities. An abstract counts for the subtopic with most
    of its nodes. The
    same
    graph, options and seed give the same subtopics; other seeds may give others.

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
        show_json(each.to_json() for each in answer.found[:limit])
        return
    for number, each in enumerate(answer.found[:limit], start=1):
        show(_subtopic_lines(number, each))
    say("", f"{counted(len(answer.found), 'subtopic')}, modularity {answer.modularity:.2f}")


def _subtopic_lines(number: int, subtopic: Subtopic) -> Iterator[str]:
    year = "" if subtopic.mean_year is None else f", mean year {subtopic.mean_year:.0f}"
    yield f"{number}. {counted(subtopic.documents, 'abstract')}, {counted(len(subtopic.nodes), 'node')}{year}"
    names = [each.name for each in subtopic.nodes[:_MOST_NAMES]]
    yield f"     {', '.join(names)}{', ...' if len(subtopic.nodes) > _MOST_NAMES else ''}"
