"""A small project for the tests of the command line, its abstracts, and a look at what it holds."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from sciextract.documents.annotations import State
from sciextract.documents.document import AnnotatedDocument
from sciextract.store import open_project
from sciextract.store.rows import IN_VIEW

ESCAPE = "\x1b"
GOLD: dict[str, Any] = {
    "doc_key": "gold",
    "sentences": [
        ["Lattice", "parsing", "helps", "translation", "."],
        ["It", "is", "quick", "."],
    ],
    "ner": [[[0, 1, "Method"], [3, 3, "Task"]], [[5, 5, "Generic"]]],
    "relations": [[[0, 1, 3, 3, "USED-FOR"]], []],
    "clusters": [[[0, 1], [5, 5]]],
}
PLAIN: dict[str, Any] = {
    "id": "plain",
    "title": "Kernels",
    "abstract": "We rank proteins with kernels.",
    "year": 2020,
}
STRANGE: dict[str, Any] = {
    "doc_key": "strange",
    "sentences": [["Genes", "sleep", "."]],
    "ner": [[[0, 0, "Gene"]]],
    "relations": [[]],
    "clusters": [],
}


def write_lines(path: Path, *records: dict[str, Any] | str) -> Path:
    """A JSONL file of records, or of lines as they are."""
    lines = (record if isinstance(record, str) else json.dumps(record) for record in records)
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def read_lines(text: str) -> list[dict[str, Any]]:
    """The objects of JSON lines."""
    return [json.loads(line) for line in text.splitlines()]


def documents(path: Path, states: frozenset[State] = IN_VIEW) -> list[AnnotatedDocument]:
    """What a project holds."""
    with open_project(path, read=True) as project:
        return list(project.stream(states))


def view(path: Path) -> dict[str, tuple[list[Any], ...]]:
    """The current view by text, without ids and keys: entities, relations, clusters."""
    return {document.document.text: _said(document) for document in documents(path)}


def everything(folder: Path) -> dict[str, bytes]:
    """Names and bytes of all files below a folder."""
    files = (file for file in sorted(folder.rglob("*")) if file.is_file())
    return {str(file.relative_to(folder)): file.read_bytes() for file in files}


def _said(document: AnnotatedDocument) -> tuple[list[Any], ...]:
    found = document.annotations
    places = {entity.id: (entity.fragments, entity.label) for entity in found.entities}
    relations = [
        (places[relation.head], relation.label, places[relation.tail])
        for relation in found.relations
    ]
    clusters = [
        sorted(map(str, (places[mention] for mention in cluster.mentions)))
        for cluster in found.clusters
    ]
    return (
        sorted(map(str, places.values())),
        sorted(map(str, relations)),
        sorted(map(str, clusters)),
    )
