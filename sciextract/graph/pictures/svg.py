"""A neighbourhood as SVG."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from xml.sax.saxutils import escape

from sciextract.graph.files.graphml import xml_text
from sciextract.graph.pictures.colours import colours_of
from sciextract.graph.pictures.layout import places
from sciextract.graph.pictures.neighbourhood import Neighbourhood
from sciextract.graph.queries.edges import Edge
from sciextract.graph.queries.nodes import Node
from sciextract.text.visible import visible

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
    middle = _beside(start, end, bend)
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


def _beside(start: _Point, end: _Point, bend: float) -> _Point:
    """The point that a curve leans to: beside the middle of the straight line."""
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
