"""A neighbourhood as SVG."""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape

import numpy as np
import numpy.typing as npt

from sciextract.graph.export import xml_text
from sciextract.graph.queries.edges import Edge, EdgeRequest, between, neighbours
from sciextract.graph.queries.nodes import Node
from sciextract.text.characters import visible

_COLOURS = ("#56b4e9", "#e69f00", "#009e73", "#cc79a7", "#d55e00", "#0072b2", "#f0e442", "#999999")


def colours_of(labels: Iterable[str]) -> dict[str, str]:
    """A colour for each label, the same for the same set of labels."""
    return {
        label: _COLOURS[place % len(_COLOURS)] for place, label in enumerate(sorted(set(labels)))
    }


Points = npt.NDArray[np.float64]

_STEPS = 300
_ASPECT = 1.6
"""Names are wider than high: distances across count less."""


def places(nodes: int, edges: list[tuple[int, int]]) -> Points:
    """A place for each node, the first one in the middle.

    Args:
        nodes: How many.
        edges: Pairs of nodes that are to be near each other.

    Returns:
        float64 (nodes, 2): x and y between -1 and 1.
    """
    points = _circle(nodes)
    if nodes < 3:
        return points
    ideal = 2.0 / np.sqrt(nodes)
    ends = np.array(edges, dtype=np.int64).reshape(-1, 2)
    for step in range(_STEPS):
        moves = _apart(points, ideal) + _together(points, ends, ideal)
        lengths = np.maximum(np.linalg.norm(moves, axis=1, keepdims=True), 1e-9)
        points = points + moves / lengths * np.minimum(lengths, 0.2 * (1 - step / _STEPS))
        points -= points[0]
    return np.asarray(points / np.maximum(np.abs(points).max(axis=0), 1e-9))


def _circle(nodes: int) -> Points:
    angles = 2 * np.pi * np.arange(max(nodes - 1, 0)) / max(nodes - 1, 1)
    around = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    return np.concatenate([np.zeros((min(nodes, 1), 2)), around])


def _apart(points: Points, ideal: float) -> Points:
    """All nodes keep away from each other."""
    away = points[:, None] - points[None]
    away[..., 0] /= _ASPECT
    squares = np.maximum((away**2).sum(axis=2, keepdims=True), 1e-6)
    return np.asarray((away * ideal**2 / squares).sum(axis=1))


def _together(points: Points, ends: npt.NDArray[np.int64], ideal: float) -> Points:
    """Edges pull."""
    moves = np.zeros_like(points)
    across = points[ends[:, 1]] - points[ends[:, 0]]
    pull = across * np.linalg.norm(across, axis=1, keepdims=True) / ideal
    np.add.at(moves, ends[:, 0], pull)
    np.add.at(moves, ends[:, 1], -pull)
    return moves


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


WIDTH, HEIGHT = 1200, 800
_MARGIN_X, _MARGIN_Y = 130, 60
_LONGEST = 32
_STYLE = (
    "text{font:14px sans-serif;fill:#222;text-anchor:middle}"
    ".relation{font-size:11px;fill:#555}path.edge{fill:none;stroke:#999}"
    ".halo{stroke:#fff;stroke-width:3px;paint-order:stroke}"
)

_BEND = 40.0
_LABEL_AT = 0.62
"""Relations are written nearer to the outer node: in the middle of the picture all edges meet."""

_Point = tuple[float, float]
Places = dict[int, _Point]


def neighbourhood_svg(shown: Neighbourhood) -> str:
    """An SVG document; it refers to nothing outside."""
    return "\n".join(_lines(shown))


def picture_places(shown: Neighbourhood) -> Places:
    """x and y of each node, by its number."""
    index = {node.id: place for place, node in enumerate(shown.nodes)}
    pairs = {(index[edge.head.id], index[edge.tail.id]) for edge in shown.edges}
    points = places(len(shown.nodes), sorted(pairs)).tolist()
    return {
        node.id: (
            round(WIDTH / 2 + x * (WIDTH / 2 - _MARGIN_X), 1),
            round(HEIGHT / 2 + y * (HEIGHT / 2 - _MARGIN_Y), 1),
        )
        for node, (x, y) in zip(shown.nodes, points, strict=True)
    }


def safe(text: str, longest: int | None = None) -> str:
    """Text for XML: escaped, control characters visible, cut where it is too long."""
    plain = xml_text(visible(text))
    if longest and len(plain) > longest:
        plain = plain[: longest - 1] + "…"
    return escape(plain, {'"': "&quot;"})


def _lines(shown: Neighbourhood) -> Iterator[str]:
    at = picture_places(shown)
    colours = colours_of([node.label for node in shown.nodes])
    yield (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
        f'aria-label="{safe(shown.centre.name)} and its neighbours">'
    )
    yield f"<style>{_STYLE}</style>"
    yield (
        '<defs><marker id="arrow" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8" '
        'markerUnits="userSpaceOnUse" orient="auto"><path d="M0 0L8 4L0 8z" fill="#999"/></marker></defs>'
    )
    yield '<rect width="100%" height="100%" fill="#fff"/><g id="all">'
    bends = _bends(shown.edges)
    for edge in shown.edges:
        outer = edge.head.id if edge.tail.id == shown.centre.id else edge.tail.id
        yield _edge(edge, at, bends[edge.id], labelled_near=outer)
    for node in shown.nodes:
        yield _node(node, at[node.id], colours[node.label], centre=node.id == shown.centre.id)
    yield "</g>"
    yield from _legend(colours)
    yield "</svg>"


def _bends(edges: Sequence[Edge]) -> dict[int, float]:
    """How far each edge leaves the straight line, so that several between the same nodes lie side by side."""
    together: dict[tuple[int, int], list[Edge]] = {}
    for edge in edges:
        pair = min(edge.head.id, edge.tail.id), max(edge.head.id, edge.tail.id)
        together.setdefault(pair, []).append(edge)
    return {
        edge.id: _BEND * (place - (len(some) - 1) / 2) * (1 if edge.head.id == pair[0] else -1)
        for pair, some in together.items()
        for place, edge in enumerate(some)
    }


def _edge(edge: Edge, at: Places, bend: float, labelled_near: int) -> str:
    start, end = _ends(at[edge.head.id], at[edge.tail.id], radius(edge.head), radius(edge.tail))
    middle = _control_point(start, end, bend)
    share = _LABEL_AT if labelled_near == edge.tail.id else 1 - _LABEL_AT
    x, y = _on_curve(start, middle, end, share)
    width = min(1 + math.log2(edge.documents), 6)
    count = f" {edge.documents}" if edge.documents > 1 else ""
    abstracts = f"{edge.documents} abstract{'s' * (edge.documents != 1)}"
    arrow = "" if edge.symmetric else ' marker-end="url(#arrow)"'
    return (
        f'<g class="edge" data-edge="{edge.id}"><path class="edge" d="M{start[0]:.1f} {start[1]:.1f}'
        f'Q{middle[0]:.1f} {middle[1]:.1f} {end[0]:.1f} {end[1]:.1f}" '
        f'stroke-width="{width:.1f}"{arrow}/>'
        f'<text class="relation halo" x="{x:.1f}" y="{y:.1f}">{safe(edge.label)}{count}</text>'
        f"<title>{safe(edge.head.name)} {safe(edge.label)} {safe(edge.tail.name)}: {abstracts}</title></g>"
    )


def _control_point(start: _Point, end: _Point, bend: float) -> _Point:
    """The control point of a curve: off the middle of the straight line."""
    across, down = end[0] - start[0], end[1] - start[1]
    length = math.hypot(across, down) or 1.0
    x, y = (start[0] + end[0]) / 2, (start[1] + end[1]) / 2
    return x - down / length * bend, y + across / length * bend


def _on_curve(start: _Point, middle: _Point, end: _Point, share: float) -> _Point:
    """A point of the quadratic curve, after so large a share of the way."""
    first, second, third = (1 - share) ** 2, 2 * share * (1 - share), share**2
    return (
        first * start[0] + second * middle[0] + third * end[0],
        first * start[1] + second * middle[1] + third * end[1],
    )


def _node(node: Node, place: _Point, colour: str, *, centre: bool) -> str:
    x, y = place
    ring = ' stroke="#222" stroke-width="2"' if centre else ""
    abstracts = f"{node.documents} abstract{'s' * (node.documents != 1)}"
    return (
        f'<g class="node" data-node="{node.id}"><circle cx="{x}" cy="{y}" r="{radius(node):.1f}" fill="{colour}"{ring}/>'
        f'<text class="halo" x="{x}" y="{y - radius(node) - 4:.1f}">{safe(node.name, _LONGEST)}</text>'
        f"<title>{safe(node.name)} ({safe(node.label)}): {abstracts}</title></g>"
    )


def radius(node: Node) -> float:
    """Half the width of a node: more abstracts, larger."""
    return min(5 + 2 * math.log2(max(node.documents, 1)), 26)


def _ends(
    head: _Point, tail: _Point, head_radius: float, tail_radius: float
) -> tuple[_Point, _Point]:
    """A line from rim to rim."""
    across, down = tail[0] - head[0], tail[1] - head[1]
    length = math.hypot(across, down) or 1.0
    x, y = across / length, down / length
    return (
        (head[0] + x * head_radius, head[1] + y * head_radius),
        (tail[0] - x * tail_radius, tail[1] - y * tail_radius),
    )


def _legend(colours: dict[str, str]) -> Iterator[str]:
    for place, (label, colour) in enumerate(colours.items()):
        y = 22 + 20 * place
        yield (
            f'<circle cx="18" cy="{y - 4}" r="6" fill="{colour}"/>'
            f'<text x="30" y="{y}" style="text-anchor:start">{safe(label, _LONGEST)}</text>'
        )
