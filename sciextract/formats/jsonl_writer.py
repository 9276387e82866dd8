"""Writer of the exchange format; ``schemas/export.schema.json`` describes every field."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, TextIO

from sciextract.documents.annotations import Candidates, Cluster, Entity, LabelScore, Relation
from sciextract.documents.document import AnnotatedDocument
from sciextract.documents.spans import Span
from sciextract.formats.exchange import SCHEMA_VERSION
from sciextract.formats.json_lines import Record, dump_line
from sciextract.formats.scierc_writer import layer_fields, sentence_strings
from sciextract.formats.sink import LineSink
from sciextract.formats.token_layers import TokenLayers, token_layers

#: Every field that the format itself defines, in the order in which they are written.
OWN_FIELDS = (
    *("schema_version", "doc_key", "text", "text_sha256", "tokens", "sentences", "token_ranges"),
    *("ner", "relations", "clusters", "scores", "model", "entities", "links", "groups"),
    *("candidates", "warnings"),
)


class JsonlWriter:
    """Writes one exchange record a line; nothing is lost, so ``losses`` stays empty."""

    def __init__(self, destination: Path | str | TextIO, *, candidates: bool = False) -> None:
        """Write to a path, to ``-`` (standard output) or to an open text stream.

        Args:
            destination: Where the lines go.
            candidates: Whether to write what the model considered, too.
        """
        self.losses: Counter[str] = Counter()
        self._candidates = candidates
        self._sink = LineSink(destination)

    def write(self, document: AnnotatedDocument) -> None:
        """Append one document."""
        self._sink.write_line(encode(document, self._candidates))

    def close(self) -> None:
        """Flush, and close the file that was opened here."""
        self._sink.close()


def encode(document: AnnotatedDocument, candidates: bool = False, *, split: bool = True) -> str:
    """A document as one line of exchange JSON, without a line feed.

    Tokens are split where the edge of an entity cuts one, unless ``split`` is off. Input fields that sciextract does not interpret
    follow its own; one that has the name of an own field becomes ``input_NAME``.
    """
    record = _text_fields(document, token_layers(document, split=split))
    record["model"] = document.model and {
        "name": document.model.name,
        "hash": document.model.hash,
    }
    annotations = document.annotations
    record["entities"] = [_entity(entity) for entity in annotations.entities]
    record["links"] = [_link(relation) for relation in annotations.relations]
    record["groups"] = [_group(cluster) for cluster in annotations.clusters]
    if candidates and annotations.candidates is not None:
        record["candidates"] = _candidates(annotations.candidates)
    if document.warnings:
        record["warnings"] = list(document.warnings)
    _add_input_fields(record, document.document.fields)
    return dump_line(record)


def _text_fields(document: AnnotatedDocument, layers: TokenLayers) -> Record:
    text = document.document.text
    sentences = sentence_strings(layers.table, text)
    return {
        "schema_version": SCHEMA_VERSION,
        "doc_key": document.document.doc_key,
        "text": text,
        "text_sha256": document.document.text_sha256,
        "tokens": [token for sentence in sentences for token in sentence],
        "sentences": sentences,
        "token_ranges": [_range(span) for span in layers.table.spans],
        **layer_fields(layers),
        "scores": _scores(layers),
    }


def _scores(layers: TokenLayers) -> dict[str, Any]:
    return {
        "ner": [[entity.score for _, entity in sentence] for sentence in layers.ner],
        "relations": [[item.score for *_, item in sentence] for sentence in layers.relations],
        "clusters": [[score for _, score in cluster] for cluster in layers.clusters],
    }


def _entity(entity: Entity) -> Record:
    item: Record = {
        "id": entity.id,
        "fragments": [_range(fragment) for fragment in entity.fragments],
        "label": entity.label,
        "score": entity.score,
        "state": entity.state.value,
        "source": entity.source,
    }
    if entity.alternatives:
        item["alternatives"] = _labels(entity.alternatives)
    return item


def _link(relation: Relation) -> Record:
    item: Record = {
        "id": relation.id,
        "head": relation.head,
        "tail": relation.tail,
        "label": relation.label,
        "score": relation.score,
        "state": relation.state.value,
        "source": relation.source,
    }
    if relation.alternatives:
        item["alternatives"] = _labels(relation.alternatives)
    return item


def _group(cluster: Cluster) -> Record:
    item: Record = {
        "id": cluster.id,
        "mentions": list(cluster.mentions),
        "score": cluster.score,
        "state": cluster.state.value,
        "source": cluster.source,
    }
    if cluster.mention_scores:
        item["mention_scores"] = list(cluster.mention_scores)
    if cluster.mention_states:
        item["mention_states"] = [state.value for state in cluster.mention_states]
    return item


def _candidates(candidates: Candidates) -> Record:
    return {
        "spans": [
            {"span": _range(each.span), "labels": _labels(each.labels)} for each in candidates.spans
        ],
        "pairs": [
            {"head": _range(each.head), "tail": _range(each.tail), "labels": _labels(each.labels)}
            for each in candidates.pairs
        ],
        "links": [
            {
                "mention": _range(each.mention),
                "antecedent": _range(each.antecedent),
                "score": each.score,
            }
            for each in candidates.links
        ],
    }


def _add_input_fields(record: Record, fields: Mapping[str, Any]) -> None:
    own = {*OWN_FIELDS}
    for name, value in fields.items():
        free = name
        while free in own or free in record:
            free = f"input_{free}"
        record[free] = value


def _range(span: Span) -> list[int]:
    return [span.char_start, span.char_end]


def _labels(labels: Iterable[LabelScore]) -> list[list[str | float]]:
    return [[each.label, each.score] for each in labels]
