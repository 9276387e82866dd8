"""Writing a graph as GraphML, JSON-LD, Neo4j's CSV or Parquet: whole or not at all, in constant memory."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, astuple, dataclass
from pathlib import Path
from typing import Any, Literal
from urllib.parse import quote
from xml.sax.saxutils import escape, quoteattr

from sciextract.errors import MissingExtraError
from sciextract.formats.json_values import dump_line
from sciextract.formats.sink import LineSink
from sciextract.formats.tables import exact_csv_row
from sciextract.graph.normalisation import MergeRule
from sciextract.graph.queries.nodes import NODE, Alias, Node, aliases_of, labels_of, years_of
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


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeRow(Node):
    """A node with everything about it.

    Attributes:
        key: Its normal form, the same in every graph of the same naming rules.
        labels: Mentions by type.
        years: Abstracts by year.
        aliases: All ways to write it.
    """

    key: str
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
    for row in connection.execute(f"{NODE} WHERE n.documents >= ? ORDER BY n.id", (least,)):
        node = row[0]
        (key,) = connection.execute("SELECT key FROM name WHERE id = ?", (node,)).fetchone()
        yield NodeRow(
            *row,
            key=key,
            labels=labels_of(connection, node),
            years=years_of(connection, node),
            aliases=aliases_of(connection, node),
        )


def edge_rows(connection: sqlite3.Connection, least: int = 1) -> Iterator[EdgeRow]:
    """All edges between nodes that so many abstracts name."""
    rows = connection.execute(
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


#: The columns of a node and an edge, with their Arrow types; all formats derive theirs from these.
_NODE_COLUMNS = {
    "id": "int64", "key": "string", "name": "string", "label": "string", "documents": "int64", "mentions": "int64",
    "degree": "int64", "first_year": "int32", "last_year": "int32", "extracted_documents": "int64",
    "matched": "int64", "nested": "int64", "generic": "int8", "vocabulary_id": "string",
}  # fmt: skip
_EDGE_COLUMNS = {
    "id": "int64", "head": "int64", "tail": "int64", "label": "string", "documents": "int64", "mentions": "int64",
    "score_mean": "float64", "score_max": "float64",
}  # fmt: skip
_PLAIN_TYPES = {"string": "string", "float64": "double"}


def _typed(columns: Mapping[str, str], *others: str) -> dict[str, str]:
    """Columns with the types of GraphML and Neo4j, without those that say where a row belongs."""
    place = ("id", "head", "tail")
    types = {name: _PLAIN_TYPES.get(kind, "int") for name, kind in columns.items()}
    kept = {name: kind for name, kind in types.items() if name not in place}
    return kept | dict.fromkeys(others, "string")


_NODE_TYPES = _typed(_NODE_COLUMNS, "labels", "years", "aliases")
_EDGE_TYPES = _typed(_EDGE_COLUMNS, "evidence")
# What XML 1.0 (section 2.2) has no place for.
_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_REPLACEMENT = "\ufffd"


def write_graphml(connection: sqlite3.Connection, output: Path, least: int) -> None:
    """Write one XML file; lists and tables inside a node or an edge are JSON.

    Raises:
        OutputError: The file cannot be written.
    """
    _write_lines(output, _lines(connection, least))


def _write_lines(output: Path, lines: Iterable[str]) -> None:
    sink = LineSink(output)
    try:
        for line in lines:
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
    aliases = json.dumps([asdict(each) for each in node.aliases])
    lists = {"labels": json.dumps(node.labels), "years": json.dumps(node.years)}
    return plain | lists | {"aliases": aliases}


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
            *("extractedDocuments", "matched", "nested", "docKey", "charStart", "charEnd"),
        )
    },
}


def write_jsonld(connection: sqlite3.Connection, output: Path, least: int) -> None:
    """Write one JSON document, an object a line inside it.

    Raises:
        OutputError: The file cannot be written.
    """
    _write_lines(output, _jsonld_lines(connection, least))


def _jsonld_lines(connection: sqlite3.Connection, least: int) -> Iterator[str]:
    yield f'{{"@context": {json.dumps(_CONTEXT)}, "@graph": ['
    before = ""
    for record in _records(connection, least):
        yield before + dump_line(record)
        before = ","
    yield "]}"


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
                "surface": a.surface,
                "rule": list(a.rules),
                "documents": a.documents,
                "mentions": a.mentions,
            }
            for a in node.aliases
        ],
    }
    return _known(record)


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
            _known(
                dict(zip(("docKey", "charStart", "charEnd", "score"), astuple(each), strict=True))
            )
            for each in edge.evidence
        ],
    }
    return _known(record)


def _known(record: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in record.items() if value is not None}


def _iri(kind: str, name: str) -> str:
    return f"urn:sciextract:{kind}:{quote(name, safe='')}"


NODES, RELATIONSHIPS = "nodes.csv", "relationships.csv"
_NO_LIST = re.compile(r"[;\s]+")
_SEPARATOR = ";"


def write_neo4j(connection: sqlite3.Connection, output: Path, least: int) -> None:
    """Write a folder with ``nodes.csv`` and ``relationships.csv``.

    Evidence is ``DOC_KEY#char=START,END`` (RFC 5147).

    Raises:
        OutputError: A file cannot be written.
    """
    output.mkdir(parents=True)
    node_head = _neo4j_head((":ID",), ":LABEL", _typed(_NODE_COLUMNS), "aliases")
    nodes = (_node_cells(node) for node in node_rows(connection, least))
    _write_lines(output / NODES, _csv_lines(node_head, nodes))
    edge_head = _neo4j_head((":START_ID", ":END_ID"), ":TYPE", _typed(_EDGE_COLUMNS), "evidence")
    edges = (_edge_cells(edge) for edge in edge_rows(connection, least))
    _write_lines(output / RELATIONSHIPS, _csv_lines(edge_head, edges))


def _neo4j_head(
    ids: Sequence[str], label: str, types: Mapping[str, str], listed: str
) -> Iterator[str]:
    yield from ids
    for name, kind in types.items():
        yield label if name == "label" else name if kind == "string" else f"{name}:{kind}"
    yield f"{listed}:string[]"


def _csv_lines(head: Iterable[str], rows: Iterable[Sequence[object]]) -> Iterator[str]:
    yield ",".join(head)
    for row in rows:
        yield exact_csv_row(["" if cell is None else str(cell) for cell in row])


def _node_cells(node: NodeRow) -> list[object]:
    surfaces = dict.fromkeys([_item(each.surface) for each in node.aliases])
    return [*(getattr(node, name) for name in _NODE_COLUMNS), _SEPARATOR.join(surfaces)]


def _edge_cells(edge: EdgeRow) -> list[object]:
    evidence = [f"{_item(e.doc_key)}#char={e.char_start},{e.char_end}" for e in edge.evidence]
    values = (getattr(edge, name) for name in _EDGE_COLUMNS if name != "id")
    return [*values, _SEPARATOR.join(evidence)]


def _item(text: str) -> str:
    """An item of a list: the separator and line ends become spaces."""
    return _NO_LIST.sub(" ", text)


_ROWS_AT_ONCE = 20_000
_OF_NODE = "FROM {} x JOIN node n ON n.id = x.node"
_ALL_EDGES = """FROM edge e JOIN node h ON h.id = e.head JOIN node t ON t.id = e.tail
JOIN label l ON l.id = e.label"""
_FEW = "WHERE n.documents >= :least ORDER BY x.node"
_BOTH = "WHERE h.documents >= :least AND t.documents >= :least ORDER BY e.id"

#: Columns with their types, and where they come from.
_PARQUET_TABLES = {
    "nodes": (
        _NODE_COLUMNS,
        """SELECT n.id, m.key, n.name, l.name, n.documents, n.mentions, n.degree, n.first_year, n.last_year,
            n.extracted_documents, n.matched, n.nested, n.generic, n.vocabulary_id
        FROM node n JOIN name m ON m.id = n.id JOIN label l ON l.id = n.label
        WHERE n.documents >= :least ORDER BY n.id""",
    ),
    "labels": (
        {"node": "int64", "label": "string", "mentions": "int64"},
        f"SELECT x.node, l.name, x.mentions {_OF_NODE.format('node_label')} JOIN label l ON l.id = x.label {_FEW}",
    ),
    "years": (
        {"node": "int64", "year": "int32", "documents": "int64"},
        f"SELECT x.node, x.year, x.documents {_OF_NODE.format('node_year')} {_FEW}",
    ),
    "aliases": (
        {"node": "int64", "surface": "string", "rules": "rules", "documents": "int64", "mentions": "int64"},
        f"""SELECT x.node, f.surface, x.rules, x.documents, x.mentions {_OF_NODE.format('alias')}
        JOIN form f ON f.id = x.form {_FEW}""",
    ),
    "edges": (
        _EDGE_COLUMNS,
        f"SELECT e.id, e.head, e.tail, l.name, e.documents, e.mentions, e.score_mean, e.score_max {_ALL_EDGES} {_BOTH}",
    ),
    "evidence": (
        {"edge": "int64", "doc_key": "string", "char_start": "int64", "char_end": "int64", "score": "float64"},
        f"""SELECT e.id, d.doc_key, v.char_start, v.char_end, v.score {_ALL_EDGES}
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
    for name, (columns, query) in _PARQUET_TABLES.items():
        rows = connection.execute(query, {"least": least})
        _write_table(output / f"{name}.parquet", columns, rows)


def _write_table(path: Path, columns: dict[str, str], rows: sqlite3.Cursor) -> None:
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
