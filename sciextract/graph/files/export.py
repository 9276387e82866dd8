"""Writing a graph in any of the formats: whole or not at all."""

from __future__ import annotations

import importlib
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Literal, cast

from sciextract.workflows.output import reported_as
from sciextract.workflows.whole_output import check_target, whole_output

GraphFormat = Literal["graphml", "jsonld", "neo4j-csv", "parquet"]
_Writer = Callable[[sqlite3.Connection, Path, int], None]
_WRITERS = {
    "graphml": ("graphml", "write_graphml"),
    "jsonld": ("jsonld", "write_jsonld"),
    "neo4j-csv": ("neo4j", "write_neo4j"),
    "parquet": ("parquet", "write_parquet"),
}


def export_graph(
    connection: sqlite3.Connection,
    graph: Path,
    format: GraphFormat,
    output: Path,
    *,
    least: int = 1,
    force: bool = False,
) -> None:
    """Write nodes, edges and references to their evidence.

    Args:
        connection: The graph.
        graph: Its file, which is never replaced.
        format: ``graphml`` and ``jsonld`` make a file, ``neo4j-csv`` and ``parquet`` a folder.
        output: Where to.
        least: Only nodes that so many abstracts name, and edges between them.
        force: Whether to replace what is there.

    Raises:
        OutputError: Something is there, or it cannot be written.
        MissingExtraError: The libraries of the format are not installed.
    """
    check_target(output, force=force, kept=[graph])
    module, name = _WRITERS[format]
    write = cast(
        _Writer, getattr(importlib.import_module(f"sciextract.graph.files.{module}"), name)
    )
    with reported_as(str(output)), whole_output(output) as partial:
        write(connection, partial, least)
