"""Pictures into files: whole or not at all."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from pathlib import Path

from sciextract.errors import UsageError
from sciextract.graph.pictures.lines import trends_svg
from sciextract.graph.pictures.neighbourhood import Neighbourhood, neighbourhood
from sciextract.graph.pictures.page import neighbourhood_page
from sciextract.graph.pictures.svg import neighbourhood_svg
from sciextract.graph.queries.nodes import find_node
from sciextract.graph.queries.trends import Trend
from sciextract.workflows.output import reported_as
from sciextract.workflows.whole_output import check_target, whole_output

_PAGE, _PICTURE = (".html", ".htm"), (".svg",)


def draw(
    connection: sqlite3.Connection,
    graph: Path,
    node: str,
    output: Path,
    *,
    relation: str | None = None,
    most: int = 24,
    sentences: int = 3,
    force: bool = False,
) -> Neighbourhood:
    """Draw a node with its neighbours; see :func:`~sciextract.graph.pictures.neighbourhood.neighbourhood`.

    Args:
        connection: The graph.
        graph: Its file, which is never replaced.
        node: Any name of it.
        output: A picture or a page, as its name ends.
        relation: Only edges of this type.
        most: How many neighbours.
        sentences: How many sentences a page holds for each edge.
        force: Whether to replace what is there.

    Raises:
        UsageError: The output ends in something else, or the graph has no such relation type.
        UnknownNodeError: The graph has no such node.
        OutputError: The file cannot be written.
    """
    page = _kind(output, (*_PAGE, *_PICTURE)) in _PAGE
    check_target(output, force=force, kept=[graph])
    shown = neighbourhood(
        connection, find_node(connection, node),
        relation=relation, most=most, sentences=sentences if page else 0,
    )  # fmt: skip
    _write(output, neighbourhood_page(connection, shown) if page else neighbourhood_svg(shown))
    return shown


def draw_trends(trends: Sequence[Trend], graph: Path, output: Path, *, force: bool = False) -> None:
    """Draw trends as lines.

    Raises:
        UsageError: The output does not end in ``.svg``.
        OutputError: The file cannot be written.
    """
    _kind(output, _PICTURE)
    check_target(output, force=force, kept=[graph])
    _write(output, trends_svg(trends))


def _kind(output: Path, allowed: Sequence[str]) -> str:
    kind = output.suffix.lower()
    if kind not in allowed:
        problem = (
            f"{output}: the name ends in {kind or 'nothing'}, allowed are {', '.join(allowed)}"
        )
        raise UsageError(problem, "choose another --output")
    return kind


def _write(output: Path, content: str) -> None:
    with reported_as(str(output)), whole_output(output) as partial:
        partial.write_text(content + "\n", encoding="utf-8", newline="\n")
