"""Writing a graph as GraphML, Neo4j's CSV or VOSviewer's tables: whole or not at all, the former two in constant memory."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from sqlite3 import Connection
from typing import Any, Literal
from xml.sax.saxutils import escape

from sciextract.errors import UsageError
from sciextract.formats.table_rows import exact_csv_row
from sciextract.graph.answers import write_files
from sciextract.graph.queries.nodes import (
    NODE,
    NODE_COLUMNS,
    Alias,
    aliases_of,
    labels_of,
    nodes_where,
    years_of,
)
from sciextract.text.characters import visible

GraphFormat = Literal["graphml", "neo4j-csv", "vosviewer"]
_MOST_ON_A_MAP = 1_000
"""Nodes of a map for VOSviewer, whose pictures of more are a cloud."""


def export_graph(
    connection: Connection,
    graph: Path,
    format: GraphFormat,
    output: Path,
    *,
    least: int = 1,
    papers: bool = False,
    force: bool = False,
) -> int:
    """Write nodes, edges and references to their evidence; gives how many nodes are left out because a map holds no more.

    Args:
        connection: The graph.
        graph: Its file, which is never replaced.
        format: ``graphml`` makes a file, the others a folder.
        output: Where to.
        least: Only nodes that so many abstracts name, and edges between them.
        papers: Whether papers are nodes, too, with edges MENTIONS to what they name.
        force: Whether to replace what is there.

    Raises:
        UsageError: Papers are wanted in a format that holds none.
        OutputError: Something is there, or it cannot be written.
    """
    left_out = 0
    files: dict[str, Iterable[str]] = {"": graphml_lines(connection, least, papers=papers)}
    if format == "vosviewer":
        if papers:
            raise UsageError(
                "--with-papers: a map for VOSviewer has no papers",
                "leave it out, or choose graphml",
            )
        files = _vosviewer_files(connection, least)
        counted = "SELECT count(*) FROM node WHERE alone >= ? AND NOT generic"
        left_out = max(connection.execute(counted, (least,)).fetchone()[0] - _MOST_ON_A_MAP, 0)
    if format == "neo4j-csv":
        nodes, edges = neo4j_nodes(connection, least), neo4j_edges(connection, least)
        ends = ":START_ID,:END_ID"
        files = {"nodes.csv": _neo4j_lines(":ID", _NODES, ":LABEL", nodes)}
        files["relationships.csv"] = _neo4j_lines(ends, _EDGES, ":TYPE", edges)
        if papers:
            rows = ([f"d{row[0]}", *row[1:], PAPER] for row in connection.execute(_PAPERS))
            files["papers.csv"] = _neo4j_lines(":ID", _PAPER_TYPES | _LABEL, ":LABEL", rows)
            named = connection.execute(_MENTIONS, (least,))
            rows = ([f"d{document}", *counts, MENTIONS] for document, *counts in named)
            files["mentions.csv"] = _neo4j_lines(ends, {"mentions": "int"} | _LABEL, ":TYPE", rows)
    write_files(files, graph, output, force=force)
    return left_out


def _vosviewer_files(connection: Connection, least: int) -> dict[str, Iterable[str]]:
    """A map and a network: which nodes abstracts name together, with subtopics as clusters.

    The columns are those of the manual of VOSviewer 1.6.20, sections 4.1.1 and 4.1.2.
    """
    from sciextract.graph.queries.subtopics import (
        subtopics,
    )  # loads numpy, which no other format needs

    where = (
        f"WHERE n.alone >= ? AND NOT n.generic ORDER BY n.alone DESC, n.id LIMIT {_MOST_ON_A_MAP}"
    )
    nodes = nodes_where(connection, where, (least,))
    try:
        topics = subtopics(connection).found
    except UsageError:  # too few abstracts to tell any
        topics = ()
    cluster_of = {node.id: place for place, topic in enumerate(topics, 1) for node in topic.nodes}
    lines = ["id\tlabel\tcluster\tweight<Abstracts>\tscore<First year>"]
    for node in nodes:
        # A field that begins with a double quote would end at the next one.
        name = " ".join(visible(node.name).replace('"', "'").split())
        cells = (node.id, name, cluster_of.get(node.id, ""), node.alone, node.first_year or "")
        lines.append("\t".join(map(str, cells)))
    shown = json.dumps([node.id for node in nodes])
    pairs = connection.execute(_TOGETHER, (shown,))
    network = ("\t".join(map(str, pair)) for pair in pairs)
    return {"map.txt": lines, "network.txt": network}


_TOGETHER = """WITH shown AS (SELECT value FROM json_each(?)), named AS (
    SELECT node, document FROM node_document WHERE node IN shown AND mentions + matched > 0
) SELECT a.node, b.node, count(*) FROM named a JOIN named b ON b.document = a.document AND b.node > a.node
GROUP BY a.node, b.node ORDER BY 1, 2"""


def _node_rows(connection: Connection, least: int) -> Iterator[tuple[int, dict[str, Any]]]:
    """The number and the columns of all nodes that so many abstracts name."""
    rest = "WHERE n.documents >= ? ORDER BY n.id"
    for number, *values in connection.execute(NODE + rest, (least,)):
        (key,) = connection.execute("SELECT key FROM name WHERE id = ?", (number,)).fetchone()
        yield number, dict(zip(_NODE_TYPES, [key, *values], strict=True))


def _edge_rows(
    connection: Connection, least: int
) -> Iterator[tuple[tuple[int, int, int], dict[str, Any], list[tuple[Any, ...]]]]:
    """All edges between nodes that so many abstracts name.

    Each has its number and those of its ends; its columns; and its evidence: document key, characters from and to, score.
    """
    for number, head, tail, *values in connection.execute(_STATED, (least,)):
        places = connection.execute(_STATEMENTS, (number,)).fetchall()
        yield (number, head, tail), dict(zip(_EDGE_TYPES, values, strict=True)), places


_STATED = """SELECT e.id, e.head, e.tail, l.name, e.documents, e.mentions, e.score_mean, e.score_max
FROM edge e JOIN label l ON l.id = e.label JOIN node h ON h.id = e.head JOIN node t ON t.id = e.tail
WHERE h.documents >= ?1 AND t.documents >= ?1 ORDER BY e.id"""
_STATEMENTS = """SELECT d.doc_key, v.char_start, v.char_end, v.score FROM support s
JOIN evidence v ON v.document = s.document AND v.number = s.number
JOIN document d ON d.id = s.document WHERE s.edge = ? ORDER BY s.document, s.number"""
_PAPERS = """SELECT d.id, d.doc_key, coalesce(d.title, d.doc_key), d.year, d.venue, d.doi, d.pmid
FROM document d ORDER BY d.id"""
# Which paper names what, and how often, as mentions or matched names.
_MENTIONS = """SELECT o.document, o.node, max(o.mentions, o.matched + o.nested) FROM node_document o
JOIN node n ON n.id = o.node WHERE n.documents >= ? ORDER BY o.node, o.document"""


# The columns of a node, an edge and a paper with their types; all formats derive theirs from these.
_TEXTS = ("key", "name", "label")
_NODE_TYPES = {name: "string" if name in _TEXTS else "int" for name in ("key", *NODE_COLUMNS[1:])}
_EDGE_TYPES = {"label": "string", "documents": "int", "mentions": "int"}
_EDGE_TYPES |= {"score_mean": "double", "score_max": "double"}
_PAPER_TYPES = {"doc_key": "string", "name": "string", "year": "int"}
_PAPER_TYPES |= dict.fromkeys(("venue", "doi", "pmid"), "string")
MENTIONS, PAPER = "MENTIONS", "Paper"
# What XML 1.0 (section 2.2) has no place for.
_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def graphml_lines(connection: Connection, least: int, *, papers: bool = False) -> Iterator[str]:
    """One XML file; lists and tables inside a node or an edge are JSON."""
    yield '<?xml version="1.0" encoding="UTF-8"?>'
    yield '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">'
    lists = {"node": ("labels", "years", "aliases"), "edge": ("evidence",)}
    for kind, types in (("node", _NODE_TYPES | _PAPER_TYPES), ("edge", _EDGE_TYPES)):
        for name, value_type in {**types, **dict.fromkeys(lists[kind], "string")}.items():
            identity = f'id="{kind}_{name}" for="{kind}"'
            yield f'  <key {identity} attr.name="{name}" attr.type="{value_type}"/>'
    yield '  <graph id="sciextract" edgedefault="directed">'
    for number, values in _node_rows(connection, least):
        values["labels"] = json.dumps(labels_of(connection, number))
        values["years"] = json.dumps(years_of(connection, number))
        values["aliases"] = json.dumps([_told(alias) for alias in aliases_of(connection, number)])
        yield f'    <node id="n{number}">{_data("node", values)}</node>'
    for (number, head, tail), values, places in _edge_rows(connection, least):
        values["evidence"] = json.dumps(places)
        ends = f'id="e{number}" source="n{head}" target="n{tail}"'
        yield f"    <edge {ends}>{_data('edge', values)}</edge>"
    if papers:
        for document, *columns in connection.execute(_PAPERS):
            values = dict(zip(_PAPER_TYPES, columns, strict=True)) | {"label": PAPER}
            yield f'    <node id="d{document}">{_data("node", values)}</node>'
        for document, number, count in connection.execute(_MENTIONS, (least,)):
            values = {"label": MENTIONS, "mentions": count}
            yield f'    <edge source="d{document}" target="n{number}">{_data("edge", values)}</edge>'
    yield "  </graph>"
    yield "</graphml>"


def _told(alias: Alias) -> dict[str, object]:
    """As asdict, which copies each value and takes longer than all the rest."""
    return {name: getattr(alias, name) for name in Alias.__slots__}


def _data(kind: str, values: Mapping[str, Any]) -> str:
    cells = []
    for name, value in values.items():
        if value is not None:
            text = escape(_NO_XML.sub("\ufffd", value)) if isinstance(value, str) else value
            cells.append(f'<data key="{kind}_{name}">{text}</data>')
    return "".join(cells)


# Neo4j's tables: ``type`` and ``relation`` are the exact types, evidence is ``DOC_KEY#char=START,END`` (RFC 5147).
_LABEL = {"label": "string"}
_NODES = {**_NODE_TYPES, "type": "string", "aliases": "string[]"}
_EDGES = {**_EDGE_TYPES, "relation": "string", "evidence": "string[]"}


def neo4j_nodes(connection: Connection, least: int) -> Iterator[list[object]]:
    for number, values in _node_rows(connection, least):
        names = [_item(alias.surface) for alias in aliases_of(connection, number)]
        yield [number, *values.values(), values["label"], ";".join(dict.fromkeys(names))]


def neo4j_edges(connection: Connection, least: int) -> Iterator[list[object]]:
    for (_, *ends), values, places in _edge_rows(connection, least):
        found = [f"{_item(key)}#char={start},{end}" for key, start, end, _ in places]
        yield [*ends, *values.values(), values["label"], ";".join(found)]


def _neo4j_lines(
    ids: str, types: Mapping[str, str], special: str, rows: Iterable[Sequence[object]]
) -> Iterator[str]:
    """A table; the first line names the columns as Neo4j wants it, and its types are words for Cypher."""
    names = [name if kind == "string" else f"{name}:{kind}" for name, kind in types.items()]
    place = names.index("label")
    yield ",".join([ids, *names[:place], special, *names[place + 1 :]])
    place -= len(names)
    for row in rows:
        cells = ["" if cell is None else str(cell) for cell in row]
        cells[place] = _word(cells[place])
        yield exact_csv_row(cells)


def _word(label: str) -> str:
    """A type as Cypher takes it without backticks: letters, digits and underscores, no digit first.

    >>> _word("USED-FOR"), _word("3D <b>"), _word("-")
    ('USED_FOR', '_3D_b', '_')
    """
    word = re.sub(r"\W+", "_", label).strip("_")
    return word if word and not word[0].isdigit() else f"_{word}"


def _item(text: str) -> str:
    """An item of a list: semicolons, which separate items, and line ends become spaces."""
    return re.sub(r"[;\s]+", " ", text)
