"""GraphML (http://graphml.graphdrawing.org): for Gephi, Cytoscape, yEd, networkx."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Iterator
from dataclasses import asdict, astuple
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape, quoteattr

from sciextract.formats.sink import LineSink
from sciextract.graph.files.rows import EdgeRow, NodeRow, edge_rows, node_rows

_NODE_TYPES = {
    "key": "string", "name": "string", "label": "string", "documents": "int", "mentions": "int",
    "degree": "int", "first_year": "int", "last_year": "int", "labels": "string", "years": "string",
    "aliases": "string",
}  # fmt: skip
_EDGE_TYPES = {
    "label": "string", "documents": "int", "mentions": "int", "score_mean": "double",
    "score_max": "double", "evidence": "string",
}  # fmt: skip
# What XML 1.0 (section 2.2) has no place for.
_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_REPLACEMENT = "\ufffd"


def write_graphml(connection: sqlite3.Connection, output: Path, least: int) -> None:
    """Write one XML file; lists and tables inside a node or an edge are JSON.

    Raises:
        OutputError: The file cannot be written.
    """
    sink = LineSink(output)
    try:
        for line in _lines(connection, least):
            sink.write_line(line)
    finally:
        sink.close()


def _lines(connection: sqlite3.Connection, least: int) -> Iterator[str]:
    yield '<?xml version="1.0" encoding="UTF-8"?>'
    yield '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">'
    for kind, types in (("node", _NODE_TYPES), ("edge", _EDGE_TYPES)):
        for name, value_type in types.items():
            identity = f'id="{kind}_{name}" for="{kind}"'
            yield f'  <key {identity} attr.name="{name}" attr.type="{value_type}"/>'
    yield '  <graph id="sciextract" edgedefault="directed">'
    for node in node_rows(connection, least):
        yield f"    <node id={quoteattr(f'n{node.id}')}>{_data('node', _of_node(node))}</node>"
    for edge in edge_rows(connection, least):
        ends = f'id="e{edge.id}" source="n{edge.head}" target="n{edge.tail}"'
        yield f"    <edge {ends}>{_data('edge', _of_edge(edge))}</edge>"
    yield "  </graph>"
    yield "</graphml>"


def _of_node(node: NodeRow) -> dict[str, Any]:
    plain = {name: getattr(node, name) for name in _NODE_TYPES}
    lists = {
        "labels": node.labels,
        "years": node.years,
        "aliases": [asdict(a) for a in node.aliases],
    }
    return plain | {name: json.dumps(value) for name, value in lists.items()}


def _of_edge(edge: EdgeRow) -> dict[str, Any]:
    plain = {name: getattr(edge, name) for name in _EDGE_TYPES}
    return plain | {"evidence": json.dumps([astuple(each) for each in edge.evidence])}


def _data(kind: str, values: dict[str, Any]) -> str:
    return "".join(
        [
            f'<data key="{kind}_{name}">{escape(xml_text(str(value)))}</data>'
            for name, value in values.items()
            if value is not None
        ]
    )


def xml_text(text: str) -> str:
    """The text with a replacement character for each that XML cannot hold."""
    return _NO_XML.sub(_REPLACEMENT, text)
