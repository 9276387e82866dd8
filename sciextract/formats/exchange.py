"""Exchange records, our own JSONL as it is written; ``schemas/export.schema.json`` describes every field. :mod:`~sciextract.formats.jsonl` reads them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TextIO

from sciextract.codec import plain
from sciextract.documents.annotations import Annotations, Attribute, Cluster, Entity, Relation
from sciextract.documents.document import AnnotatedDocument
from sciextract.documents.project_state import ProjectState
from sciextract.formats.json_values import Record, dump_line
from sciextract.formats.layers import token_layers
from sciextract.formats.scierc import layer_fields, sentence_strings
from sciextract.formats.sink import ArraySink, LineWriter

SCHEMA_VERSION = 1

#: Every field that the format itself defines, in the order in which they are written.
OWN_FIELDS = (
    *("schema_version", "doc_key", "text", "text_sha256", "tokens", "sentences", "token_ranges"),
    *("ner", "relations", "clusters", "scores", "model", "entities", "links", "groups"),
    *("attributes", "candidates", "warnings", "project_state"),
)


class JsonlWriter(LineWriter):
    """Writes one exchange record a line; nothing is lost, so ``losses`` stays empty."""

    def __init__(self, destination: Path | str | TextIO, *, candidates: bool = False) -> None:
        """Write to a path, to ``-`` (standard output) or to an open text stream.

        Args:
            destination: Where the lines go.
            candidates: Whether to write what the model considered, too.
        """
        super().__init__(destination)
        self._candidates = candidates

    def write(self, document: AnnotatedDocument) -> None:
        self._sink.write_line(encode(document, self._candidates))


class JsonWriter(JsonlWriter):
    """Writes exchange records as an array, one a line. Nothing is lost."""

    _SINK = ArraySink


def encode(document: AnnotatedDocument, candidates: bool = False, *, split: bool = True) -> str:
    """A document as one line of exchange JSON, without a line feed: :func:`record_of` as text."""
    return dump_line(record_of(document, candidates, split=split))


def record_of(
    document: AnnotatedDocument, candidates: bool = False, *, split: bool = True
) -> Record:
    """A document as an exchange record.

    Tokens are split where the edge of an entity cuts one, unless ``split`` is off. The texts of entities and
    arguments are there for other tools: readers take the ranges. Input fields that sciextract does not interpret
    follow its own; one that has the name of an own field becomes ``input_NAME``.
    """
    layers = token_layers(document, split=split)
    sentences = sentence_strings(layers.table, document.document.text)
    model = document.model
    record: Record = {
        "schema_version": SCHEMA_VERSION,
        "doc_key": document.document.doc_key,
        "text": document.document.text,
        "text_sha256": document.document.text_sha256,
        "tokens": [token for sentence in sentences for token in sentence],
        "sentences": sentences,
        "token_ranges": [list(span) for span in layers.table.spans],
        **layer_fields(layers),
        "scores": {
            "ner": [[entity.score for _, entity in sentence] for sentence in layers.ner],
            "relations": [[item.score for *_, item in part] for part in layers.relations],
            "clusters": [[score for _, score in cluster] for cluster in layers.clusters],
        },
        "model": model and {"name": model.name, "hash": model.hash},
    }
    annotations, text = document.annotations, document.document.text
    texts = {entity.id: entity.text_of(text) for entity in annotations.entities}
    record["entities"] = [
        {**item_record(entity), "text": texts[entity.id]} for entity in annotations.entities
    ]
    record["links"] = [
        {**item_record(link), "head_text": texts[link.head], "tail_text": texts[link.tail]}
        for link in annotations.relations
    ]
    record["groups"] = list(map(item_record, annotations.clusters))
    if annotations.attributes:
        record["attributes"] = list(map(item_record, annotations.attributes))
    if candidates and annotations.candidates is not None:
        record["candidates"] = plain(annotations.candidates)
    if document.warnings:
        record["warnings"] = list(document.warnings)
    if document.project_state is not None:
        record["project_state"] = _state_record(document.project_state, annotations)
    for name, value in document.document.fields.items():
        free = name
        while free in OWN_FIELDS or free in record:
            free = f"input_{free}"
        record[free] = value
    return record


#: Fields of items that are written only where they say something.
_OPTIONAL = ("alternatives", "mention_scores", "mention_states", "target", "value")


def item_record(item: Entity | Relation | Cluster | Attribute) -> Record:
    """An element of ``entities``, ``links``, ``groups`` or ``attributes``, without texts."""
    given = plain(item)
    record = {name: value for name, value in given.items() if value or name not in _OPTIONAL}
    if isinstance(item, Attribute) and item.value:
        record["value"] = record.pop("value")  # it stands last since the first version
    return record


def _state_record(state: ProjectState, view: Annotations) -> Record:
    """``project_state``: rejected items, and clusters with rejected places, are those that the view lacks."""
    shown = {entity.id for entity in view.entities} | {link.id for link in view.relations}
    shown |= {attribute.id for attribute in view.attributes}
    found = state.everything
    rejected = {
        "entities": [item_record(entity) for entity in found.entities if entity.id not in shown],
        "links": [item_record(link) for link in found.relations if link.id not in shown],
        "groups": [item_record(group) for group in found.clusters if group not in view.clusters],
        "attributes": [item_record(item) for item in found.attributes if item.id not in shown],
    }
    more = plain(replace(state, everything=Annotations()))
    more["rejected"] = {name: items for name, items in rejected.items() if items}
    del more["everything"]
    return {name: value for name, value in more.items() if value or name == "layers"}
