"""JSON-LD 1.1: nodes as SKOS concepts, edges as reified RDF statements. The context stands in the file."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

from sciextract.formats.json_lines import dump_line
from sciextract.formats.sink import LineSink
from sciextract.graph.files.rows import EdgeRow, NodeRow, edge_rows, node_rows

_CONTEXT = {
    "skos": "http://www.w3.org/2004/02/skos/core#",
    "rdf": "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
    "xsd": "http://www.w3.org/2001/XMLSchema#",
    "sx": "urn:sciextract:",
    "Concept": "skos:Concept",
    "Statement": "rdf:Statement",
    "prefLabel": "skos:prefLabel",
    "altLabel": "skos:altLabel",
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
        for name in ("surface", "rule", "documents", "mentions", "degree", "firstYear", "lastYear")
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
        "entityType": _iri("type", node.label),
        "labels": node.labels,
        "documents": node.documents,
        "mentions": node.mentions,
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
