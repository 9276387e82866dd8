"""A neighbourhood as SVG."""

from __future__ import annotations

import math
from collections.abc import Iterator
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
    "text{font:13px sans-serif;fill:#222;text-anchor:middle}"
    ".relation{font-size:10px;fill:#666}line{stroke:#999}"
    ".halo{stroke:#fff;stroke-width:3px;paint-order:stroke}"
)

Places = dict[int, tuple[float, float]]


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
    for edge in shown.edges:
        yield _edge(edge, at)
    for node in shown.nodes:
        yield _node(node, at[node.id], colours[node.label], centre=node.id == shown.centre.id)
    yield "</g>"
    yield from _legend(colours)
    yield "</svg>"


def _edge(edge: Edge, at: Places) -> str:
    start, end = _ends(at[edge.head.id], at[edge.tail.id], radius(edge.head), radius(edge.tail))
    x, y = (start[0] + end[0]) / 2, (start[1] + end[1]) / 2
    width = min(1 + math.log2(edge.documents), 6)
    return (
        f'<g class="edge" data-edge="{edge.id}"><line x1="{start[0]:.1f}" y1="{start[1]:.1f}" x2="{end[0]:.1f}" '
        f'y2="{end[1]:.1f}" stroke-width="{width:.1f}" marker-end="url(#arrow)"/>'
        f'<text class="relation halo" x="{x:.1f}" y="{y:.1f}">{safe(edge.label)} {edge.documents}</text>'
        f"<title>{safe(edge.head.name)} {safe(edge.label)} {safe(edge.tail.name)}: {edge.documents} abstracts</title></g>"
    )


def _node(node: Node, place: tuple[float, float], colour: str, *, centre: bool) -> str:
    x, y = place
    ring = ' stroke="#222" stroke-width="2"' if centre else ""
    return (
        f'<g class="node" data-node="{node.id}"><circle cx="{x}" cy="{y}" r="{radius(node):.1f}" fill="{colour}"{ring}/>'
        f'<text class="halo" x="{x}" y="{y - radius(node) - 4:.1f}">{safe(node.name, _LONGEST)}</text>'
        f"<title>{safe(node.name)} ({safe(node.label)}): {node.documents} abstracts</title></g>"
    )


def radius(node: Node) -> float:
    """Half the width of a node: more abstracts, larger."""
    return min(5 + 2 * math.log2(max(node.documents, 1)), 26)


def _ends(
    head: tuple[float, float], tail: tuple[float, float], head_radius: float, tail_radius: float
) -> tuple[tuple[float, float], tuple[float, float]]:
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
