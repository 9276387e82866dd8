"""CSV files for ``neo4j-admin database import``: every cell holds exactly what the graph does.

Neo4j would store the apostrophe that guards a cell in a spreadsheet as part of the name, so there is none.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterable, Sequence
from pathlib import Path

from sciextract.formats.sink import LineSink
from sciextract.formats.tables.cells import exact_csv_row
from sciextract.graph.files.rows import EdgeRow, NodeRow, edge_rows, node_rows

NODES, RELATIONSHIPS = "nodes.csv", "relationships.csv"
_NODE_COLUMNS = (
    *(":ID", "key", "name", ":LABEL", "documents:int", "mentions:int", "degree:int"),
    *("first_year:int", "last_year:int", "aliases:string[]"),
)
_EDGE_COLUMNS = (
    *(":START_ID", ":END_ID", ":TYPE", "documents:int", "mentions:int"),
    *("score_mean:double", "score_max:double", "evidence:string[]"),
)
_NO_LIST = re.compile(r"[;\s]+")
_SEPARATOR = ";"


def write_neo4j(connection: sqlite3.Connection, output: Path, least: int) -> None:
    """Write a folder with ``nodes.csv`` and ``relationships.csv``.

    Evidence is ``DOC_KEY#char=START,END`` (RFC 5147).

    Raises:
        OutputError: A file cannot be written.
    """
    output.mkdir(parents=True)
    nodes = (_node_cells(node) for node in node_rows(connection, least))
    edges = (_edge_cells(edge) for edge in edge_rows(connection, least))
    _write(output / NODES, _NODE_COLUMNS, nodes)
    _write(output / RELATIONSHIPS, _EDGE_COLUMNS, edges)


def _write(path: Path, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    sink = LineSink(path)
    try:
        sink.write_line(",".join(columns))
        for row in rows:
            sink.write_line(exact_csv_row(["" if cell is None else str(cell) for cell in row]))
    finally:
        sink.close()


def _node_cells(node: NodeRow) -> tuple[object, ...]:
    surfaces = dict.fromkeys([_item(each.surface) for each in node.aliases])
    return (
        *(node.id, node.key, node.name, node.label, node.documents, node.mentions, node.degree),
        *(node.first_year, node.last_year, _SEPARATOR.join(surfaces)),
    )


def _edge_cells(edge: EdgeRow) -> tuple[object, ...]:
    evidence = [f"{_item(e.doc_key)}#char={e.char_start},{e.char_end}" for e in edge.evidence]
    return (
        *(edge.head, edge.tail, edge.label, edge.documents, edge.mentions),
        *(edge.score_mean, edge.score_max, _SEPARATOR.join(evidence)),
    )


def _item(text: str) -> str:
    """An item of a list: the separator and line ends become spaces."""
    return _NO_LIST.sub(" ", text)
