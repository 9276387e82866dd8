"""Pictures into files: whole or not at all."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from sciextract.errors import UsageError
from sciextract.graph.drawing import (
    Neighbourhood,
    colours_of,
    neighbourhood,
    neighbourhood_svg,
    safe,
)
from sciextract.graph.page import PageContent, best_edges, page, page_content
from sciextract.graph.queries.nodes import find_node
from sciextract.graph.queries.trends import Trend
from sciextract.workflows.output import check_target, reported_as, whole_output

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


@dataclass(frozen=True, slots=True)
class ViewSettings:
    """What of a graph a picture or page shows.

    Attributes:
        relation: Only edges of this type.
        neighbours: At most so many neighbours of a node.
        edges: At most so many edges of the whole graph.
        sentences: So many sentences for each edge of a page.
    """

    relation: str | None = None
    neighbours: int = 24
    edges: int = 10_000
    sentences: int = 3


@dataclass(frozen=True, slots=True)
class Drawn:
    """How many nodes and edges are in a picture or page, of how many edges."""

    nodes: int
    edges: int
    all_edges: int


def draw(
    connection: sqlite3.Connection,
    graph: Path,
    node: str | None,
    output: Path,
    settings: ViewSettings | None = None,
    *,
    force: bool = False,
) -> Drawn:
    """Draw a node with its neighbours, or make a page of the whole graph.

    Args:
        connection: The graph.
        graph: Its file, which is never replaced.
        node: Any name of it; ``None`` for the whole graph.
        output: A picture or a page, as its name ends.
        settings: How much to show.
        force: Whether to replace what is there.

    Raises:
        UsageError: The output ends in something else, the graph has no such relation type, or a picture has no node.
        UnknownNodeError: The graph has no such node.
        OutputError: The file cannot be written.
    """
    settings = settings or ViewSettings()
    is_page = _kind(output, (*_PAGE, *_PICTURE)) in _PAGE
    if node is None and not is_page:
        problem = f"{output}: a picture shows one node with its neighbours, and no NODE is given"
        raise UsageError(problem, "name a NODE, or give --output FILE.html for the whole graph")
    check_target(output, force=force, kept=[graph])
    shown = None if node is None else neighbourhood(
        connection, find_node(connection, node),
        relation=settings.relation, most=settings.neighbours,
    )  # fmt: skip
    if shown is not None and not is_page:
        _write(output, neighbourhood_svg(shown))
        return Drawn(len(shown.nodes), len(shown.edges), len(shown.edges))
    content = _page_content(connection, graph.stem, shown, settings)
    _write(output, page(content))
    return Drawn(len(content.nodes), len(content.edges), content.all_edges)


def _page_content(
    connection: sqlite3.Connection, name: str, shown: Neighbourhood | None, settings: ViewSettings
) -> PageContent:
    if shown is None:
        edges = best_edges(connection, settings.edges, settings.relation)
        return page_content(connection, edges, title=name, sentences=settings.sentences)
    return page_content(
        connection,
        [edge.id for edge in shown.edges],
        title=f"{shown.centre.name} in {name}",
        centre=shown.centre,
        sentences=settings.sentences,
    )


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
