"""What the abstracts of a graph find about a node: method, data, metric, value, and what the method is compared with."""

from __future__ import annotations

from collections.abc import Callable
from sqlite3 import Connection

from sciextract.graph.queries.nodes import Node
from sciextract.graph.queries.results import Result, results
from sciextract.table.views import BETWEEN, Cell, Column, View

_AGAINST = """SELECT DISTINCT n.name FROM support s JOIN edge e ON e.id = s.edge JOIN label l ON l.id = e.label
    JOIN node n ON n.id = iif(e.head = ?1, e.tail, e.head)
    WHERE s.document = ?2 AND l.name = 'COMPARE' AND ?1 IN (e.head, e.tail) ORDER BY n.name"""


def view_of_findings(connection: Connection, node: Node) -> View:
    """A row for each value that an abstract reports which names a node.

    Raises:
        UsageError: The graph has no metrics.
    """

    def against(row: Result) -> str:
        ends = row.system and row.system.id, row.paper.document
        return BETWEEN.join(name for (name,) in connection.execute(_AGAINST, ends))

    columns = (
        _column("key", lambda row: row.paper.doc_key),
        _column("authors", lambda row: BETWEEN.join(row.paper.published.authors)),
        Column("year", lambda row: Cell(str(row.paper.published.year or ""), is_year=True), False),
        _column("title", lambda row: row.paper.published.title),
        _column("doi", lambda row: row.paper.published.doi),
        _column("method", lambda row: row.system and row.system.name),
        _column("data", lambda row: row.material and row.material.name),
        _column("metric", lambda row: row.metric.name),
        Column("value", _value),
        _column("unit", lambda row: row.unit),
        _column("split", lambda row: row.split),
        _column("against", against),
    )
    return View("findings", columns, results(connection, named=node))


def _value(row: Result) -> Cell:
    return Cell(f"{row.value:g}", (" ".join(row.sentence.text.split()),))


def _column(title: str, text: Callable[[Result], object]) -> Column:
    return Column(title, lambda row: Cell(str(text(row) or "")), is_said=False)
