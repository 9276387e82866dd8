"""Exchange records, our own JSONL as it is written; ``schemas/export.schema.json`` describes every field. :mod:`~sciextract.formats.jsonl` reads them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import TextIO

from sciextract.codec import plain
from sciextract.documents.annotations import (
    Annotations,
    Attribute,
    Candidates,
    Cluster,
    Entity,
    LabelScore,
    Relation,
    Span,
)
from sciextract.documents.document import (
    AnnotatedDocument,
)
from sciextract.documents.project_state import ProjectState
from sciextract.formats.json_values import (
    Record,
    dump_line,
)
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
        "token_ranges": [_range(span) for span in layers.table.spans],
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
        {**entity_record(entity), "text": texts[entity.id]} for entity in annotations.entities
    ]
    record["links"] = [
        {**link_record(link), "head_text": texts[link.head], "tail_text": texts[link.tail]}
        for link in annotations.relations
    ]
    record["groups"] = [group_record(cluster) for cluster in annotations.clusters]
    if annotations.attributes:
        record["attributes"] = [attribute_record(item) for item in annotations.attributes]
    if candidates and annotations.candidates is not None:
        record["candidates"] = _candidates(annotations.candidates)
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


def entity_record(entity: Entity) -> Record:
    """An element of ``entities``, without its text."""
    fragments = [_range(fragment) for fragment in entity.fragments]
    return {"id": entity.id, "fragments": fragments, **_label_fields(entity)}


def link_record(relation: Relation) -> Record:
    """An element of ``links``, without the texts of its arguments."""
    ends = {"head": relation.head, "tail": relation.tail}
    return {"id": relation.id, **ends, **_label_fields(relation)}


def group_record(cluster: Cluster) -> Record:
    item = {"id": cluster.id, "mentions": list(cluster.mentions), **_made_by(cluster)}
    if cluster.mention_scores:
        item["mention_scores"] = list(cluster.mention_scores)
    if cluster.mention_states:
        item["mention_states"] = [state.value for state in cluster.mention_states]
    return item


def attribute_record(attribute: Attribute) -> Record:
    """An element of ``attributes``; the abstract's have no target, flags no value."""
    target = {"target": attribute.target} if attribute.target else {}
    value = {"value": attribute.value} if attribute.value else {}
    return {"id": attribute.id, **target, **_label_fields(attribute), **value}


def _state_record(state: ProjectState, view: Annotations) -> Record:
    """``project_state``: rejected items, and clusters with rejected places, are those that the view lacks."""
    shown = {entity.id for entity in view.entities} | {link.id for link in view.relations}
    shown |= {attribute.id for attribute in view.attributes}
    found = state.everything
    rejected = {
        "entities": [entity_record(entity) for entity in found.entities if entity.id not in shown],
        "links": [link_record(link) for link in found.relations if link.id not in shown],
        "groups": [group_record(group) for group in found.clusters if group not in view.clusters],
        "attributes": [attribute_record(item) for item in found.attributes if item.id not in shown],
    }
    more = plain(replace(state, everything=Annotations()))
    more["rejected"] = {name: items for name, items in rejected.items() if items}
    del more["everything"]
    return {name: value for name, value in more.items() if value or name == "layers"}


def _label_fields(item: Entity | Relation | Attribute) -> Record:
    labels = {"alternatives": _labels(item.alternatives)} if item.alternatives else {}
    return {"label": item.label, **_made_by(item), **labels}


def _made_by(item: Entity | Relation | Cluster | Attribute) -> Record:
    return {"score": item.score, "state": item.state.value, "source": item.source}


def _candidates(candidates: Candidates) -> Record:
    spans, pairs, links = list[Record](), list[Record](), list[Record]()
    for one in candidates.spans:
        spans.append({"span": _range(one.span), "labels": _labels(one.labels)})
    for pair in candidates.pairs:
        ends = {"head": _range(pair.head), "tail": _range(pair.tail)}
        pairs.append({**ends, "labels": _labels(pair.labels)})
    for link in candidates.links:
        both = {"mention": _range(link.mention), "antecedent": _range(link.antecedent)}
        links.append({**both, "score": link.score})
    return {"spans": spans, "pairs": pairs, "links": links}


def _range(span: Span) -> list[int]:
    return [span.char_start, span.char_end]


def _labels(labels: Iterable[LabelScore]) -> list[list[str | float]]:
    return [[other.label, other.score] for other in labels]
