"""The same graph in DuckDB: its facts copied in bulk, its nodes and edges by the same questions in SQL."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

from sciextract.graph.queries.nodes import Node

_COPIED = ("name", "form", "label", "document", "naming", "evidence", "text")
_ROWS_AT_ONCE = 200_000
_DERIVE = """
CREATE TABLE edge AS
SELECT row_number() OVER (ORDER BY head, tail, label) AS id, * FROM (
    SELECT head, tail, label, count(DISTINCT document) AS documents, count(*) AS mentions,
        avg(score) AS score_mean, max(score) AS score_max
    FROM evidence WHERE head <> tail GROUP BY head, tail, label);
CREATE TABLE support AS
SELECT e.id AS edge, v.document, v.number FROM evidence v
JOIN edge e ON e.head = v.head AND e.tail = v.tail AND e.label = v.label ORDER BY 1, 2, 3;
CREATE TABLE node_document AS
SELECT name AS node, document, sum(mentions) AS mentions FROM naming GROUP BY name, document;
CREATE TABLE node_year AS
SELECT n.node, d.year, count(*) AS documents FROM node_document n JOIN document d ON d.id = n.document
GROUP BY n.node, d.year ORDER BY 1, 2;
CREATE TABLE node_label AS
SELECT name AS node, label, sum(mentions) AS mentions FROM naming GROUP BY name, label ORDER BY 1;
CREATE TABLE alias AS
SELECT name AS node, form, rules, count(DISTINCT document) AS documents, sum(mentions) AS mentions
FROM naming GROUP BY name, form, rules ORDER BY 1;
CREATE TABLE degree AS
SELECT one AS node, count(DISTINCT other) AS degree FROM (
    SELECT head AS one, tail AS other FROM edge UNION ALL SELECT tail, head FROM edge) GROUP BY one;
CREATE TABLE node AS
SELECT c.node AS id, f.surface AS name, l.label, c.documents, c.mentions, coalesce(d.degree, 0) AS degree
FROM (SELECT node, count(*) AS documents, sum(mentions) AS mentions FROM node_document GROUP BY node) c
JOIN (SELECT node, arg_max(form, mentions) AS form FROM alias GROUP BY node) t ON t.node = c.node
JOIN form f ON f.id = t.form
JOIN (SELECT node, arg_max(label, mentions) AS label FROM node_label GROUP BY node) l ON l.node = c.node
LEFT JOIN degree d ON d.node = c.node ORDER BY c.node;
DROP TABLE node_document;
CREATE INDEX node_id ON node (id);
CREATE INDEX edge_head ON edge (head);
CREATE INDEX edge_tail ON edge (tail);
CREATE INDEX support_edge ON support (edge);
CREATE INDEX text_document ON text (document)
"""
_NEIGHBOURS = """
SELECT e.id, h.name, t.name, e.label, e.documents, e.score_mean FROM edge e
JOIN node h ON h.id = e.head JOIN node t ON t.id = e.tail
WHERE e.head = ? OR e.tail = ? ORDER BY e.documents DESC, e.id LIMIT 20
"""
_SENTENCES = """
SELECT d.doc_key, v.char_start, v.char_end, x.content FROM support s
JOIN evidence v ON v.document = s.document AND v.number = s.number
JOIN document d ON d.id = s.document JOIN text x ON x.document = s.document
WHERE s.edge = ? ORDER BY v.score DESC LIMIT 2
"""
_TOP = """
SELECT n.id, n.name, n.documents FROM node n JOIN label l ON l.id = n.label
WHERE l.name = 'Method' ORDER BY n.documents DESC LIMIT 20
"""
_SINCE = """
SELECT n.id, n.name, sum(y.documents) FROM node n JOIN label l ON l.id = n.label
JOIN node_year y ON y.node = n.id
WHERE l.name = 'Method' AND y.year >= ? GROUP BY n.id, n.name ORDER BY 3 DESC LIMIT 20
"""
_TASKS = """
SELECT least(e.head, e.tail), greatest(e.head, e.tail), sum(e.documents) FROM edge e
JOIN node h ON h.id = e.head JOIN node t ON t.id = e.tail
JOIN label a ON a.id = h.label JOIN label b ON b.id = t.label
WHERE (a.name, b.name) IN (('Task', 'Material'), ('Material', 'Task')) GROUP BY 1, 2 ORDER BY 3 DESC LIMIT 20
"""


class DuckGraph:
    """A graph in DuckDB, on one thread as SQLite's is."""

    def __init__(self, path: Path) -> None:
        self._connection = _connect(path)

    def copy_facts(self, graph: Path) -> None:
        """Copy the facts of a graph through Arrow, the fastest way in that DuckDB has."""
        import pyarrow as pa

        source = sqlite3.connect(graph)
        for table in _COPIED:
            rows = source.execute(f"SELECT * FROM {table}")
            names = [column[0] for column in rows.description]
            made = False
            while some := rows.fetchmany(_ROWS_AT_ONCE):
                columns = [pa.array(column) for column in zip(*some, strict=True)]
                self._connection.register("arrow_rows", pa.Table.from_arrays(columns, names=names))
                verb = f"INSERT INTO {table}" if made else f"CREATE TABLE {table} AS"
                self._connection.execute(f"{verb} SELECT * FROM arrow_rows")
                made = True
        source.close()

    def derive(self) -> None:
        """Nodes and edges."""
        for statement in _DERIVE.split(";\n"):
            self._connection.execute(statement)

    def close(self) -> None:
        """Put everything into the file."""
        self._connection.close()

    @staticmethod
    def questions(path: Path, nodes: list[Node]) -> dict[str, Callable[[], object]]:
        """Some of the questions that SQLite is asked, each with an opening of the file."""
        chance = random.Random(2)

        def at_a_node() -> None:
            connection = _connect(path, read_only=True)
            node = chance.choice(nodes).id
            for edge, *_ in connection.execute(_NEIGHBOURS, (node, node)).fetchall():
                connection.execute(_SENTENCES, (edge,)).fetchall()
            connection.close()

        def asked(query: str, *values: object) -> None:
            connection = _connect(path, read_only=True)
            connection.execute(query, values).fetchall()
            connection.close()

        return {
            "opening": lambda: asked("SELECT 1"),
            "neighbours with sentences": at_a_node,
            "top": lambda: asked(_TOP),
            "top since a year": lambda: asked(_SINCE, chance.randint(2005, 2024)),
            "tasks by material": lambda: asked(_TASKS),
        }


def _connect(path: Path, *, read_only: bool = False) -> Any:
    import duckdb

    return duckdb.connect(str(path), read_only=read_only, config={"threads": 1})
