"""The page of a graph or of a neighbourhood, and trends as lines, into files: whole or not at all."""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.sax.saxutils import escape

from sciextract.errors import UsageError
from sciextract.graph.export import xml_text
from sciextract.graph.page import PageContent, best_edges, page, page_content
from sciextract.graph.queries.edges import Edge, EdgeRequest, between, neighbours
from sciextract.graph.queries.nodes import Node, find_node
from sciextract.graph.queries.trends import Trend
from sciextract.text.characters import visible
from sciextract.workflows.output import check_target, reported_as, whole_output

_WIDTH, _HEIGHT = 960, 480
_LEFT, _RIGHT, _TOP, _BOTTOM = 60, 260, 20, 40
_MOST_TICKS = 6
_MOST_YEARS_NAMED = 12
_LONGEST = 30
_STYLE = (
    "text{font:12px sans-serif;fill:#222}polyline{fill:none;stroke-width:2}.grid{stroke:#ddd}"
    "polygon{stroke:none;fill-opacity:.12}"
)
_DASHES = ("none", "6 3", "2 2")
_COLOURS = ("#56b4e9", "#e69f00", "#009e73", "#cc79a7", "#d55e00", "#0072b2", "#f0e442", "#999999")


def trends_svg(trends: Sequence[Trend]) -> str:
    """The share of the abstracts that name each node by period, as an SVG document.

    The axes reach as far as the shares do; the bands of the intervals are cut there.

    Args:
        trends: One or more, over the same periods.
    """
    return "\n".join(_lines(trends))


@dataclass(frozen=True, slots=True)
class _Axes:
    """Where years and shares lie in the picture.

    Attributes:
        years: The first and the last one.
        highest: The share at the top.
    """

    years: tuple[float, float]
    highest: float

    @classmethod
    def of(cls, trends: Sequence[Trend]) -> _Axes:
        periods = [period for trend in trends for period in trend.periods]
        middles = [each.middle for each in periods]
        highest = max(each.share for each in periods)
        return cls((min(middles), max(middles)), highest * 1.05 or 1.0)

    def x(self, year: float) -> float:
        first, last = self.years
        return _LEFT + (year - first) / ((last - first) or 1) * (_WIDTH - _RIGHT - _LEFT)

    def y(self, share: float) -> float:
        inside = min(share, self.highest) / self.highest
        return _HEIGHT - _BOTTOM - inside * (_HEIGHT - _TOP - _BOTTOM)

    def points(self, shares: Iterable[tuple[float, float]]) -> str:
        return " ".join([f"{self.x(year):.1f},{self.y(share):.1f}" for year, share in shares])

    def lines(self) -> Iterator[str]:
        step = _round_step(self.highest / _MOST_TICKS)
        for tick in range(math.floor(self.highest / step) + 1):
            y = self.y(tick * step)
            yield f'<line class="grid" x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>'
            yield f'<text x="{_LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{100 * tick * step:g} %</text>'
        years = range(math.ceil(self.years[0]), math.floor(self.years[1]) + 1)
        for year in years[:: -(-len(years) // _MOST_YEARS_NAMED) or 1]:
            yield f'<text x="{self.x(year):.1f}" y="{_HEIGHT - _BOTTOM + 18}" text-anchor="middle">{year}</text>'


def _round_step(least: float) -> float:
    """The smallest of 1, 2, 5, 10, 20, 50 ... times a power of ten that is not smaller.

    >>> _round_step(0.013), _round_step(0.0002)
    (0.02, 0.0002)
    """
    power = 10.0 ** math.floor(math.log10(least))
    return next(round(power * each, 12) for each in (1, 2, 5, 10) if power * each >= least * 0.999)


def _lines(trends: Sequence[Trend]) -> Iterator[str]:
    axes = _Axes.of(trends)
    yield f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img">'
    yield f'<style>{_STYLE}</style><rect width="100%" height="100%" fill="#fff"/>'
    yield from axes.lines()
    for place, trend in enumerate(trends):
        colour = _COLOURS[place % len(_COLOURS)]
        low = [(each.middle, each.interval[0]) for each in trend.periods]
        high = [(each.middle, each.interval[1]) for each in trend.periods]
        yield f'<polygon points="{axes.points([*low, *reversed(high)])}" fill="{colour}"/>'
        stroke = f'stroke="{colour}" stroke-dasharray="{_DASHES[place // len(_COLOURS) % 3]}"'
        shares = [(each.middle, each.share) for each in trend.periods]
        yield f'<polyline points="{axes.points(shares)}" {stroke}/>'
        y = _TOP + 10 + 20 * place
        yield f'<polyline points="{_WIDTH - _RIGHT + 10},{y - 4} {_WIDTH - _RIGHT + 34},{y - 4}" {stroke}/>'
        yield f'<text x="{_WIDTH - _RIGHT + 40}" y="{y}">{_safe(trend.node.name)}</text>'
    yield "</svg>"


def _safe(text: str) -> str:
    """Text for XML: escaped, control characters visible, cut where it is too long."""
    plain = xml_text(visible(text))
    if len(plain) > _LONGEST:
        plain = plain[: _LONGEST - 1] + "…"
    return escape(plain, {'"': "&quot;"})


_EDGES_A_NODE = 6
"""Edges to look through for each neighbour wanted: several may lead to the same one."""


@dataclass(frozen=True, slots=True)
class Neighbourhood:
    """A part of a graph.

    Attributes:
        centre: The node in question.
        nodes: It and its neighbours, it first.
        edges: All edges among them.
    """

    centre: Node
    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]


def neighbourhood(
    connection: sqlite3.Connection,
    centre: Node,
    *,
    relation: str | None = None,
    most: int = 24,
    generic: bool = False,
) -> Neighbourhood:
    """The part of a graph around a node.

    Args:
        connection: The graph.
        centre: The node.
        relation: Only edges of this type.
        most: How many neighbours.
        generic: Whether generic nodes are among them.

    Raises:
        UsageError: The graph has no such relation type.
    """
    request = EdgeRequest(relation, limit=most * _EDGES_A_NODE, generic=generic)
    at_centre = neighbours(connection, centre, request)
    nodes = {centre.id: centre}
    for edge in at_centre:
        for end in (edge.head, edge.tail):
            if len(nodes) <= most:
                nodes.setdefault(end.id, end)
    numbers = sorted(nodes)
    edges = [
        edge
        for place, first in enumerate(numbers)
        for second in numbers[place + 1 :]
        for edge in between(connection, first, second)
        if relation is None or edge.label.casefold() == relation.casefold()
    ]
    return Neighbourhood(centre, tuple(nodes.values()), tuple(edges))


_PAGE, _PICTURE = (".html", ".htm"), (".svg",)


@dataclass(frozen=True, slots=True)
class ViewSettings:
    """What of a graph a page shows.

    Attributes:
        relation: Only edges of this type.
        neighbours: At most so many neighbours of a node.
        edges: At most so many edges of the whole graph.
        sentences: So many sentences for each edge of a page.
        generic: Whether generic nodes are shown, too.
    """

    relation: str | None = None
    neighbours: int = 24
    edges: int = 10_000
    sentences: int = 3
    generic: bool = False


@dataclass(frozen=True, slots=True)
class Drawn:
    """How many nodes and edges are in a page, of how many edges."""

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
    """Make a page of a node with its neighbours, or of the whole graph.

    Args:
        connection: The graph.
        graph: Its file, which is never replaced.
        node: Any name of it; ``None`` for the whole graph.
        output: The page.
        settings: How much to show.
        force: Whether to replace what is there.

    Raises:
        UsageError: The output does not end in ``.html`` or ``.htm``, or the graph has no such relation type.
        UnknownNodeError: The graph has no such node.
        OutputError: The file cannot be written.
    """
    settings = settings or ViewSettings()
    _check_ending(output, _PAGE)
    check_target(output, force=force, kept=[graph])
    shown = None if node is None else neighbourhood(
        connection, find_node(connection, node),
        relation=settings.relation, most=settings.neighbours, generic=settings.generic,
    )  # fmt: skip
    content = _page_content(connection, graph.stem, shown, settings)
    _write(output, page(content))
    return Drawn(len(content.nodes), len(content.edges), content.all_edges)


def _page_content(
    connection: sqlite3.Connection, name: str, shown: Neighbourhood | None, settings: ViewSettings
) -> PageContent:
    if shown is None:
        edges = best_edges(connection, settings.edges, settings.relation, generic=settings.generic)
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
    _check_ending(output, _PICTURE)
    check_target(output, force=force, kept=[graph])
    _write(output, trends_svg(trends))


def _check_ending(output: Path, allowed: Sequence[str]) -> None:
    kind = output.suffix.lower()
    if kind not in allowed:
        problem = f"{output}: the name ends in {kind or 'nothing'}; expected {', '.join(allowed)}"
        raise UsageError(problem, "choose another --output")


def _write(output: Path, content: str) -> None:
    with reported_as(str(output)), whole_output(output) as partial:
        partial.write_text(content + "\n", encoding="utf-8", newline="\n")
