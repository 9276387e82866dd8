"""A neighbourhood as one HTML page: no network, nothing from outside, and text only ever as text."""

from __future__ import annotations

import json
import sqlite3
from importlib.resources import files
from string import Template
from typing import Any

from sciextract.graph.pictures.neighbourhood import Neighbourhood
from sciextract.graph.pictures.svg import neighbourhood_svg, safe
from sciextract.graph.queries.nodes import about
from sciextract.text.visible import visible

_NO_MARKUP = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"})


def neighbourhood_page(connection: sqlite3.Connection, shown: Neighbourhood) -> str:
    """A page with the picture; a click on a node or an edge shows what is known about it."""
    template = Template(files("sciextract.graph.pictures").joinpath("page.html").read_text("utf-8"))
    nodes = {node.id: _shown(about(connection, node).to_json()) for node in shown.nodes}
    edges = {edge.id: _shown(edge.to_json()) for edge in shown.edges}
    data = {"centre": shown.centre.id, "nodes": nodes, "edges": edges}
    return template.substitute(
        title=safe(shown.centre.name),
        svg=neighbourhood_svg(shown),
        # In a script element only "</" and "<!--" could end it: no angle bracket is left in.
        data=json.dumps(data).translate(_NO_MARKUP),
    )


def _shown(value: Any) -> Any:
    """The value with control characters visible in all its strings."""
    if isinstance(value, str):
        return visible(value)
    if isinstance(value, dict):
        return {str(key): _shown(each) for key, each in value.items()}
    return [_shown(each) for each in value] if isinstance(value, list | tuple) else value
