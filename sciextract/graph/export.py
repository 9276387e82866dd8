"""Writing a graph as GraphML, JSON-LD, Neo4j's CSV or Parquet: whole or not at all, in constant memory."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, astuple, dataclass
from pathlib import Path
from typing import Any, Literal
from urllib.parse import quote
from xml.sax.saxutils import escape, quoteattr

from sciextract.formats.json_values import dump_line
from sciextract.formats.sink import LineSink
from sciextract.formats.tables import exact_csv_row
from sciextract.graph.parquet import write_parquet
from sciextract.graph.queries.nodes import Alias, aliases_of, labels_of, years_of
from sciextract.graph.vocabulary import iri_of
from sciextract.workflows.output import check_target, reported_as, whole_output

GraphFormat = Literal["graphml", "jsonld", "neo4j-csv", "parquet"]


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
    writers = {
        "graphml": write_graphml,
        "jsonld": write_jsonld,
        "neo4j-csv": write_neo4j,
        "parquet": write_parquet,
    }
    with reported_as(str(output)), whole_output(output) as partial:
        writers[format](connection, partial, least)


@dataclass(frozen=True, slots=True)
class NodeRow:
    """A node with everything about it: see :class:`sciextract.graph.queries.nodes.Node`.

    Attributes:
        key: Its normal form, the same in every graph of the same naming rules.
    """

    id: int
    key: str
    name: str
    label: str
    documents: int
    mentions: int
    degree: int
    first_year: int | None
    last_year: int | None
    extracted_documents: int
    matched: int
    nested: int
    generic: int
    vocabulary_id: str | None
    labels: dict[str, int]
    years: dict[int, int]
    aliases: tuple[Alias, ...]


@dataclass(frozen=True, slots=True)
class EvidenceRow:
    """Where an abstract supports an edge: characters of its text."""

    doc_key: str
    char_start: int
    char_end: int
    score: float | None


@dataclass(frozen=True, slots=True)
class EdgeRow:
    """An edge: see :class:`sciextract.graph.queries.edges.Edge`.

    Attributes:
        head: The number of a node.
        tail: The number of another.
        head_key: The normal form of the head.
        tail_key: The normal form of the tail.
        evidence: All that supports it.
    """

    id: int
    head: int
    tail: int
    head_key: str
    tail_key: str
    label: str
    documents: int
    mentions: int
    score_mean: float | None
    score_max: float | None
    evidence: tuple[EvidenceRow, ...]


def node_rows(connection: sqlite3.Connection, least: int = 1) -> Iterator[NodeRow]:
    """All nodes that so many abstracts name."""
    rows: Iterable[tuple[Any, ...]] = connection.execute(
        """SELECT n.id, m.key, n.name, l.name, n.documents, n.mentions, n.degree, n.first_year, n.last_year,
            n.extracted_documents, n.matched, n.nested, n.generic, n.vocabulary_id
        FROM node n JOIN name m ON m.id = n.id JOIN label l ON l.id = n.label
        WHERE n.documents >= ? ORDER BY n.id""",
        (least,),
    )
    for row in rows:
        node = row[0]
        labels, years = labels_of(connection, node), years_of(connection, node)
        yield NodeRow(*(*row, labels, years, aliases_of(connection, node)))


def edge_rows(connection: sqlite3.Connection, least: int = 1) -> Iterator[EdgeRow]:
    """All edges between nodes that so many abstracts name."""
    rows: Iterable[tuple[Any, ...]] = connection.execute(
        """SELECT e.id, e.head, e.tail, h.key, t.key, l.name, e.documents, e.mentions, e.score_mean, e.score_max
        FROM edge e JOIN label l ON l.id = e.label
        JOIN name h ON h.id = e.head JOIN name t ON t.id = e.tail
        JOIN node hn ON hn.id = e.head JOIN node tn ON tn.id = e.tail
        WHERE hn.documents >= ? AND tn.documents >= ? ORDER BY e.id""",
        (least, least),
    )
    for row in rows:
        yield EdgeRow(*(*row, _evidence(connection, row[0])))


def _evidence(connection: sqlite3.Connection, edge: int) -> tuple[EvidenceRow, ...]:
    rows = connection.execute(
        """SELECT d.doc_key, v.char_start, v.char_end, v.score FROM support s
        JOIN evidence v ON v.document = s.document AND v.number = s.number
        JOIN document d ON d.id = s.document WHERE s.edge = ? ORDER BY s.document, s.number""",
        (edge,),
    )
    return tuple([EvidenceRow(*row) for row in rows])


_NODE_TYPES = {
    "key": "string", "name": "string", "label": "string", "documents": "int", "mentions": "int",
    "degree": "int", "first_year": "int", "last_year": "int", "extracted_documents": "int", "matched": "int",
    "nested": "int", "generic": "int", "vocabulary_id": "string", "labels": "string", "years": "string",
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


_CONTEXT = {
    "skos": "http://www.w3.org/2004/02/skos/core#",
    "rdf": "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
    "xsd": "http://www.w3.org/2001/XMLSchema#",
    "sx": "urn:sciextract:",
    "Concept": "skos:Concept",
    "Statement": "rdf:Statement",
    "prefLabel": "skos:prefLabel",
    "altLabel": "skos:altLabel",
    "exactMatch": {"@id": "skos:exactMatch", "@type": "@id"},
    "notation": "skos:notation",
    "generic": {"@id": "sx:generic", "@type": "xsd:boolean"},
    "subject": {"@id": "rdf:subject", "@type": "@id"},
    "predicate": {"@id": "rdf:predicate", "@type": "@id"},
    "object": {"@id": "rdf:object", "@type": "@id"},
    "alias": {"@id": "sx:alias", "@container": "@set"},
    "evidence": {"@id": "sx:evidence", "@container": "@set"},
    "labels": {"@id": "sx:labels", "@type": "@json"},
    "years": {"@id": "sx:years", "@type": "@json"},
    "score": {"@id": "sx:score", "@type": "xsd:double"},
    "scoreMean": {"@id": "sx:scoreMean", "@type": "xsd:double"},
    "scoreMax": {"@id": "sx:scoreMax", "@type": "xsd:double"},
    "entityType": {"@id": "sx:entityType", "@type": "@id"},
    **{
        name: f"sx:{name}"
        for name in (
            *("surface", "rule", "documents", "mentions", "degree", "firstYear", "lastYear"),
            *("extractedDocuments", "matched", "nested"),
        )
    },
    **{name: f"sx:{name}" for name in ("docKey", "charStart", "charEnd")},
}


def write_jsonld(connection: sqlite3.Connection, output: Path, least: int) -> None:
    """Write one JSON document, an object a line inside it.

    Raises:
        OutputError: The file cannot be written.
    """
    sink = LineSink(output)
    try:
        sink.write_line(f'{{"@context": {json.dumps(_CONTEXT)}, "@graph": [')
        before = ""
        for record in _records(connection, least):
            sink.write_line(before + dump_line(record))
            before = ","
        sink.write_line("]}")
    finally:
        sink.close()


def _records(connection: sqlite3.Connection, least: int) -> Iterator[dict[str, Any]]:
    for node in node_rows(connection, least):
        yield _concept(node)
    for edge in edge_rows(connection, least):
        yield _statement(edge)


def _concept(node: NodeRow) -> dict[str, Any]:
    record = {
        "@id": _iri("node", node.key),
        "@type": "Concept",
        "prefLabel": node.name,
        "altLabel": sorted({each.surface for each in node.aliases} - {node.name}),
        "exactMatch": node.vocabulary_id and iri_of(node.vocabulary_id),
        "notation": node.vocabulary_id,
        "generic": True if node.generic else None,
        "entityType": _iri("type", node.label),
        "labels": node.labels,
        "documents": node.documents,
        "extractedDocuments": node.extracted_documents,
        "mentions": node.mentions,
        "matched": node.matched,
        "nested": node.nested,
        "degree": node.degree,
        "firstYear": node.first_year,
        "lastYear": node.last_year,
        "years": {str(year): count for year, count in node.years.items()},
        "alias": [
            {
                "surface": each.surface,
                "rule": list(each.rules),
                "documents": each.documents,
                "mentions": each.mentions,
            }
            for each in node.aliases
        ],
    }
    return {name: value for name, value in record.items() if value is not None}


def _statement(edge: EdgeRow) -> dict[str, Any]:
    record = {
        "@type": "Statement",
        "subject": _iri("node", edge.head_key),
        "predicate": _iri("relation", edge.label),
        "object": _iri("node", edge.tail_key),
        "documents": edge.documents,
        "mentions": edge.mentions,
        "scoreMean": edge.score_mean,
        "scoreMax": edge.score_max,
        "evidence": [
            {
                "docKey": each.doc_key,
                "charStart": each.char_start,
                "charEnd": each.char_end,
                **({} if each.score is None else {"score": each.score}),
            }
            for each in edge.evidence
        ],
    }
    return {name: value for name, value in record.items() if value is not None}


def _iri(kind: str, name: str) -> str:
    return f"urn:sciextract:{kind}:{quote(name, safe='')}"


NODES, RELATIONSHIPS = "nodes.csv", "relationships.csv"
_NODE_COLUMNS = (
    *(":ID", "key", "name", ":LABEL", "documents:int", "mentions:int", "degree:int"),
    *("first_year:int", "last_year:int", "extracted_documents:int", "matched:int", "nested:int"),
    *("generic:int", "vocabulary_id", "aliases:string[]"),
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
        *(node.first_year, node.last_year, node.extracted_documents, node.matched, node.nested),
        *(node.generic, node.vocabulary_id, _SEPARATOR.join(surfaces)),
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
