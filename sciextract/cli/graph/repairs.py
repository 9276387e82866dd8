"""``sciextract graph merge``, ``split``, ``hide``, ``rename`` and ``repairs``: what readers decide about nodes."""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from sciextract.cli.console import (
    ForceOption,
    JsonOption,
    QuietOption,
    argument,
    is_terminal,
    option,
    print_row,
    say,
)
from sciextract.cli.graph.group import GraphOption, NodeArgument
from sciextract.text.english import counted

if TYPE_CHECKING:
    import sqlite3

    from sciextract.graph.repairs import Repair


def merge(
    node: NodeArgument,
    graph: GraphOption,
    into: str = argument("NODE", "The node that remains.", show_default=False),
    quiet: QuietOption = False,
) -> None:
    """Merge a node into another one, now and in later builds of this graph.

    Example:

        sciextract graph merge "COCO 2017" COCO --graph field.graph
    """
    from sciextract.graph.repairs import Repair

    _repair(graph, Repair("merge", node, into), quiet)


def split(
    graph: GraphOption,
    name: str = argument("NAME", "A spelling that means something else.", show_default=False),
    quiet: QuietOption = False,
) -> None:
    """Make a name that was merged into another node a node of its own.

    Example:

        sciextract graph split "tree kernel" --graph field.graph
    """
    from sciextract.graph.repairs import Repair

    _repair(graph, Repair("split", name), quiet)


def hide(node: NodeArgument, graph: GraphOption, quiet: QuietOption = False) -> None:
    """Treat a node as generic: lists and the page show it only with --with-generic.

    Example:

        sciextract graph hide "extensive experiments" --graph field.graph
    """
    from sciextract.graph.repairs import Repair

    _repair(graph, Repair("hide", node), quiet)


def rename(
    node: NodeArgument,
    graph: GraphOption,
    name: str = argument("NAME", "Its new name.", show_default=False),
    quiet: QuietOption = False,
) -> None:
    """Give a node another name; the earlier ones still find it.

    Example:

        sciextract graph rename "MS COCO" COCO --graph field.graph
    """
    from sciextract.graph.repairs import Repair

    _repair(graph, Repair("rename", node, name), quiet)


def repairs(
    graph: GraphOption,
    undo: int | None = option("N", "Take back the repair of this number.", min=1),
    source: Path | None = option(
        "FILE.tsv",
        "Add the repairs of a file, or merge the synonyms of a vocabulary (id, name, synonyms).",
        "--import",
    ),
    output: Path | None = option("FILE.tsv", "Write the repairs as a vocabulary for other graphs."),
    force: ForceOption = False,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """List the repairs of a graph, take one back, or exchange them as a file.

    Examples:

        sciextract graph repairs --undo 3 --graph field.graph

        sciextract graph repairs --import repairs.tsv --graph other.graph
    """
    from sciextract.graph.answers import checked_ending, write_files
    from sciextract.graph.building import repair_graph
    from sciextract.graph.database import GraphError, open_graph
    from sciextract.graph.repairs import (
        add_repair,
        read_repairs,
        repairs_of,
        undo_repair,
        write_repairs,
    )

    if undo is not None:
        repair_graph(graph, lambda connection: undo_repair(connection, undo))
    if source is not None:
        wanted, unfit = read_repairs(source), list[GraphError]()

        def add_all(connection: sqlite3.Connection) -> bool:
            anew = False
            for repair in wanted:
                try:
                    anew |= add_repair(connection, repair)
                except GraphError as error:
                    unfit.append(error)
            return anew

        repair_graph(graph, add_all)
        for error in unfit:
            say("Warning", f"left out: {error.message}", error.hint)
    with open_graph(graph, earlier=True) as connection:
        known = repairs_of(connection)
    if output is not None:
        checked_ending(output, (".tsv",))
        write_files({"": write_repairs(known)}, graph, output, force=force)
        say("", f"{output} holds {counted(len(known), 'repair')}")
        return
    if not known and not quiet:
        say(
            "", "the graph has no repairs: sciextract graph merge, split, hide and rename make them"
        )
    for repair in known:
        print_row(asdict(repair), f"{repair.number:4}  {_words(repair)}", as_json)


def _repair(graph: Path, repair: Repair, quiet: bool) -> None:
    from sciextract.graph.building import repair_graph
    from sciextract.graph.repairs import add_repair

    if repair.kind in ("merge", "split") and not quiet and is_terminal(sys.stderr):
        say("", "making nodes and edges again")
    repair_graph(graph, lambda connection: add_repair(connection, repair))
    if not quiet:
        say("", f"{_words(repair)}; sciextract graph repairs lists and takes back")


def _words(repair: Repair) -> str:
    into = {"merge": " into ", "rename": " to "}.get(repair.kind, "")
    return f"{repair.kind} {repair.name}{into}{repair.other}"
