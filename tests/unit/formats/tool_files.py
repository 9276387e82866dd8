"""Reading and writing small made files in the tests of annotation tools."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

from sciextract.documents.annotations import Annotations, Entity, Span
from sciextract.documents.document import AnnotatedDocument
from sciextract.formats import BadRecord, open_writer, read
from sciextract.formats.base import ReadItem
from sciextract.text.analyse import make_document

TEXT = "We parse 😀 graphs. They help."


def items_of(folder: Path, tool: str, *records: Any, name: str = "made.jsonl") -> list[ReadItem]:
    """What is read from the records, one a line."""
    path = folder / name
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return list(read([path], tool))


def documents_of(folder: Path, tool: str, *records: Any) -> list[AnnotatedDocument]:
    """The same, without a bad record."""
    items = items_of(folder, tool, *records)
    assert all(isinstance(item, AnnotatedDocument) for item in items), items
    return [item for item in items if isinstance(item, AnnotatedDocument)]


def problem_of(item: ReadItem) -> str:
    """The message of a bad record."""
    assert isinstance(item, BadRecord), item
    return item.error.message


def mentions(annotated: AnnotatedDocument) -> list[tuple[str, str]]:
    """Label and string of the entities."""
    text = annotated.document.text
    return [(entity.label, entity.text_of(text)) for entity in annotated.annotations.entities]


def triples(annotated: AnnotatedDocument) -> list[tuple[str, str, str]]:
    """Head, label and tail of the relations."""
    found, text = annotated.annotations, annotated.document.text
    return [
        (
            found.entity(relation.head).text_of(text),
            relation.label,
            found.entity(relation.tail).text_of(text),
        )
        for relation in found.relations
    ]


def groups(annotated: AnnotatedDocument) -> list[list[str]]:
    """The mentions of the clusters."""
    found, text = annotated.annotations, annotated.document.text
    return [[found.entity(mention).text_of(text) for mention in c.mentions] for c in found.clusters]


def entity(item_id: str, *fragments: tuple[int, int], label: str = "Task", **more: Any) -> Entity:
    """An entity of :data:`TEXT`."""
    return Entity(item_id, tuple(Span(*fragment) for fragment in fragments), label, **more)


def made(*entities: Entity, text: str = TEXT, **layers: Any) -> AnnotatedDocument:
    """A document with these items."""
    fields = {"title": "Graphs", "year": 2020, "other": 1}
    return AnnotatedDocument(make_document("d", text, fields), Annotations(entities, **layers))


def written(tool: str, *documents: AnnotatedDocument) -> tuple[Any, dict[str, int]]:
    """The records that a writer makes, and what it counts as lost."""
    stream = io.StringIO()
    writer = open_writer(tool, stream)
    for document in documents:
        writer.write(document)
    writer.close()
    content = stream.getvalue()
    if content.startswith("["):
        return json.loads(content), dict(writer.losses)
    return [json.loads(line) for line in content.splitlines()], dict(writer.losses)
