"""Parquet: a table each for nodes, types, years, aliases, edges and evidence."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

from sciextract.errors import MissingExtraError
from sciextract.graph.normalisation import MergeRule

_ROWS_AT_ONCE = 20_000
_NODE = "FROM {} x JOIN node n ON n.id = x.node"
_EDGE = """FROM edge e JOIN node h ON h.id = e.head JOIN node t ON t.id = e.tail
JOIN label l ON l.id = e.label"""
_FEW = "WHERE n.documents >= :least ORDER BY x.node"
_BOTH = "WHERE h.documents >= :least AND t.documents >= :least ORDER BY e.id"

#: Columns with their types, and where they come from.
_TABLES = {
    "nodes": (
        {"id": "int64", "key": "string", "name": "string", "label": "string", "documents": "int64",
         "mentions": "int64", "degree": "int64", "first_year": "int32", "last_year": "int32",
         "extracted_documents": "int64", "matched": "int64", "nested": "int64", "generic": "int8",
         "vocabulary_id": "string"},
        """SELECT n.id, m.key, n.name, l.name, n.documents, n.mentions, n.degree, n.first_year, n.last_year,
            n.extracted_documents, n.matched, n.nested, n.generic, n.vocabulary_id
        FROM node n JOIN name m ON m.id = n.id JOIN label l ON l.id = n.label
        WHERE n.documents >= :least ORDER BY n.id""",
    ),
    "labels": (
        {"node": "int64", "label": "string", "mentions": "int64"},
        f"SELECT x.node, l.name, x.mentions {_NODE.format('node_label')} JOIN label l ON l.id = x.label {_FEW}",
    ),
    "years": (
        {"node": "int64", "year": "int32", "documents": "int64"},
        f"SELECT x.node, x.year, x.documents {_NODE.format('node_year')} {_FEW}",
    ),
    "aliases": (
        {"node": "int64", "surface": "string", "rules": "rules", "documents": "int64", "mentions": "int64"},
        f"""SELECT x.node, f.surface, x.rules, x.documents, x.mentions {_NODE.format('alias')}
        JOIN form f ON f.id = x.form {_FEW}""",
    ),
    "edges": (
        {"id": "int64", "head": "int64", "tail": "int64", "label": "string", "documents": "int64",
         "mentions": "int64", "score_mean": "float64", "score_max": "float64"},
        f"SELECT e.id, e.head, e.tail, l.name, e.documents, e.mentions, e.score_mean, e.score_max {_EDGE} {_BOTH}",
    ),
    "evidence": (
        {"edge": "int64", "doc_key": "string", "char_start": "int64", "char_end": "int64", "score": "float64"},
        f"""SELECT e.id, d.doc_key, v.char_start, v.char_end, v.score {_EDGE}
        JOIN support s ON s.edge = e.id JOIN evidence v ON v.document = s.document AND v.number = s.number
        JOIN document d ON d.id = s.document {_BOTH}""",
    ),
}  # fmt: skip


def write_parquet(connection: sqlite3.Connection, output: Path, least: int) -> None:
    """Write a folder with a file a table.

    Raises:
        MissingExtraError: pyarrow is not installed.
        OSError: A file cannot be written.
    """
    try:
        import pyarrow  # noqa: F401 - asked for before the folder is made
    except ImportError as error:
        raise MissingExtraError("Parquet", "formats") from error
    output.mkdir(parents=True)
    for name, (columns, query) in _TABLES.items():
        rows = connection.execute(query, {"least": least})
        _write(output / f"{name}.parquet", columns, rows)


def _write(path: Path, columns: dict[str, str], rows: sqlite3.Cursor) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    types = {
        name: pa.list_(pa.string()) if kind == "rules" else getattr(pa, kind)()
        for name, kind in columns.items()
    }
    schema = pa.schema(list(types.items()))
    with pq.ParquetWriter(path, schema) as writer:
        while some := rows.fetchmany(_ROWS_AT_ONCE):
            columnar = zip(columns.values(), zip(*some, strict=True), strict=True)
            values = [_in_words(column) if kind == "rules" else column for kind, column in columnar]
            arrays = [
                pa.array(column, type=each)
                for column, each in zip(values, types.values(), strict=True)
            ]
            writer.write_table(pa.Table.from_arrays(arrays, schema=schema))


def _in_words(rules: tuple[Any, ...]) -> list[tuple[str, ...]]:
    return [MergeRule(each).words for each in rules]
