"""Pictures into files: whole or not at all."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Sequence
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Any

from sciextract.errors import UsageError
from sciextract.graph.drawing import (
    Neighbourhood,
    colours_of,
    neighbourhood,
    neighbourhood_svg,
    safe,
)
from sciextract.graph.queries.nodes import about, find_node
from sciextract.graph.queries.trends import Trend
from sciextract.text.characters import visible
from sciextract.workflows.output import check_target, reported_as, whole_output

_NO_MARKUP = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"})


def neighbourhood_page(connection: sqlite3.Connection, shown: Neighbourhood) -> str:
    """A page with the picture; a click on a node or an edge shows what is known about it."""
    template = Template(files("sciextract.graph").joinpath("page.html").read_text("utf-8"))
    nodes = {node.id: _all_visible(about(connection, node).to_json()) for node in shown.nodes}
    edges = {edge.id: _all_visible(edge.to_json()) for edge in shown.edges}
    data = {"centre": shown.centre.id, "nodes": nodes, "edges": edges}
    return template.substitute(
        title=safe(shown.centre.name),
        svg=neighbourhood_svg(shown),
        # In a script element only "</" and "<!--" could end it: no angle bracket is left in.
        data=json.dumps(data).translate(_NO_MARKUP),
    )


def _all_visible(value: Any) -> Any:
    """The value with control characters visible in all its strings."""
    if isinstance(value, str):
        return visible(value)
    if isinstance(value, dict):
        return {str(key): _all_visible(each) for key, each in value.items()}
    return [_all_visible(each) for each in value] if isinstance(value, list | tuple) else value


_WIDTH, _HEIGHT = 960, 480
_LEFT, _RIGHT, _TOP, _BOTTOM = 60, 260, 20, 40
_TICKS = 5
_MOST_YEARS_NAMED = 12
_LONGEST = 30
_STYLE = "text{font:12px sans-serif;fill:#222}polyline{fill:none;stroke-width:2}.grid{stroke:#ddd}"
_DASHES = ("none", "6 3", "2 2")


def trends_svg(trends: Sequence[Trend]) -> str:
    """The share of each year's abstracts that name each node, as an SVG document.

    Args:
        trends: One or more, over the same years.
    """
    return "\n".join(_lines(trends))


def _lines(trends: Sequence[Trend]) -> Iterator[str]:
    years = list(trends[0].shares)
    highest = max(max(trend.shares.values()) for trend in trends) or 1.0
    yield f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img">'
    yield f'<style>{_STYLE}</style><rect width="100%" height="100%" fill="#fff"/>'
    yield from _axes(years, highest)
    colours = colours_of(map(str, range(min(len(trends), 8))))
    for place, trend in enumerate(trends):
        points = " ".join(
            [
                f"{_x(year, years):.1f},{_y(share, highest):.1f}"
                for year, share in trend.shares.items()
            ]
        )
        stroke = f'stroke="{colours[str(place % 8)]}" stroke-dasharray="{_DASHES[place // 8 % 3]}"'
        yield f'<polyline points="{points}" {stroke}/>'
        y = _TOP + 10 + 20 * place
        yield f'<polyline points="{_WIDTH - _RIGHT + 10},{y - 4} {_WIDTH - _RIGHT + 34},{y - 4}" {stroke}/>'
        yield f'<text x="{_WIDTH - _RIGHT + 40}" y="{y}">{safe(trend.node.name, _LONGEST)}</text>'
    yield "</svg>"


def _axes(years: Sequence[int], highest: float) -> Iterator[str]:
    for tick in range(_TICKS + 1):
        share = highest * tick / _TICKS
        y = _y(share, highest)
        yield f'<line class="grid" x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>'
        yield f'<text x="{_LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{share:.1%}</text>'
    every = -(-len(years) // _MOST_YEARS_NAMED)
    for year in years[::every]:
        x, y = _x(year, years), _HEIGHT - _BOTTOM + 18
        yield f'<text x="{x:.1f}" y="{y}" text-anchor="middle">{year}</text>'


def _x(year: int, years: Sequence[int]) -> float:
    span = max(years[-1] - years[0], 1)
    return _LEFT + (year - years[0]) / span * (_WIDTH - _RIGHT - _LEFT)


def _y(share: float, highest: float) -> float:
    return _HEIGHT - _BOTTOM - share / highest * (_HEIGHT - _TOP - _BOTTOM)


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
    """Draw a node with its neighbours; see :func:`~sciextract.graph.drawing.neighbourhood`.

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
